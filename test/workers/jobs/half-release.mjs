/** The first half of a release, of a thread that is attached; other-half.mjs is the rest. */
import { attached } from '../core.mjs';

export default function halfRelease({ handle, permits }) {
  return attached(handle).release(handle.address, permits);
}
