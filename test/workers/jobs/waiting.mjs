/** Returns how many requests wait, as this thread sees it. With `told`, also wakes a thread that sleeps on `told`. */
import { attach } from '../attach.mjs';

export default function waiting({ handle, told }) {
  const count = attach(handle).waiting;
  if (told) {
    Atomics.store(told, 0, count);
    Atomics.notify(told, 0);
  }
  return count;
}
