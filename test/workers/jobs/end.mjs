/** Ends the worker, with all that it holds and waits for. */
import { setImmediate } from 'node:timers';

export default function end({ way }) {
  if (way === 'process.exit') process.exit(0);
  // This is outside of the job, whose errors are caught.
  setImmediate(() => {
    throw new Error(way);
  });
}
