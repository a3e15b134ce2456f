/** Disposes of a semaphore that others may be using. */
import { attach } from '../attach.mjs';

export default function dispose({ handle }) {
  attach(handle).dispose();
}
