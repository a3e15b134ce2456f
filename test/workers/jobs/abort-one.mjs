/** Meets the others once. One of them then gives up at once, and all others wait for the next round. Returns its end. */
import { attach } from '../attach.mjs';

export default function abortOne({ handle, which }) {
  const barrier = attach(handle);
  try {
    const place = barrier.arriveAndWait();
    barrier.arriveAndWait(place === which ? { timeout: 0 } : {});
    return 'complete';
  } catch (error) {
    return error.name;
  }
}
