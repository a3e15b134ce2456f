/** The handle, as this thread knows it. */
import { attach } from '../attach.mjs';

export default function sendBack({ handle }) {
  return attach(handle).handle;
}
