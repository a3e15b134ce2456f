/** Begins the function of a Once. The thread ends in this function: it exits, or blocks until it is terminated. */
import { attach } from '../attach.mjs';

export default function endInOnce({ handle, exits }) {
  attach(handle).run(() => {
    if (exits) process.exit();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}
