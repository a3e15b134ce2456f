/** Releases, and says so in shared memory to a thread that is not in its event loop. */
import { attach } from '../attach.mjs';

export default function releaseAndTell({ handle, permits, done }) {
  attach(handle).release(...permits);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}
