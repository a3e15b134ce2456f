/** Ends the worker, with whatever it holds and waits for. */
import { setImmediate } from 'node:timers';

export default function end({ way }) {
  if (way === 'process.exit') process.exit(0);
  // Outside of the job, whose errors are caught.
  setImmediate(() => {
    throw new Error(way);
  });
}
