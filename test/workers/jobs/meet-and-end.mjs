/** Meets the others once. One of the threads then ends, and all others meet again. Returns how that ended. */
import { attach } from '../attach.mjs';

export default function meetAndEnd({ handle, which }) {
  const barrier = attach(handle);
  try {
    if (barrier.arriveAndWait() === which) process.exit();
    barrier.arriveAndWait();
    return 'complete';
  } catch (error) {
    return error.name;
  }
}
