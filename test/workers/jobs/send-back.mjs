/** Returns the handle as this thread has it. */
import { attach } from '../attach.mjs';

export default function sendBack({ handle }) {
  return attach(handle).handle;
}
