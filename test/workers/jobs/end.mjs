/** Ends the worker while it still holds and waits for things. */
import { setImmediate } from 'node:timers';

export default function end({ way }) {
  if (way === 'process.exit') process.exit(0);
  // This error is thrown outside of the job, because errors of the job are caught.
  setImmediate(() => {
    throw new Error(way);
  });
}
