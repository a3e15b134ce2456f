/** Attaches, and does the first half of a release. other-half.mjs does the second half. */
import { attached } from '../core.mjs';

export default function halfRelease({ handle, permits }) {
  return attached(handle).release(handle.address, permits);
}
