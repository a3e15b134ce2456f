/** Returns the handle as it has arrived in this thread. */
import { attach } from '../attach.mjs';

export default function sendBack({ handle }) {
  return attach(handle).handle;
}
