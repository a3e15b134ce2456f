/** The first half of a release; other-half.mjs is the rest. */
import { coreOf } from '../core.mjs';

export default function halfRelease({ handle, permits }) {
  return coreOf(handle).release(handle.address, permits);
}
