/** Disposes of a semaphore that others may be using. With `told`, also wakes a thread that sleeps on `told`. */
import { attach } from '../attach.mjs';

export default function dispose({ handle, told }) {
  attach(handle).dispose();
  if (told) {
    Atomics.store(told, 0, 1);
    Atomics.notify(told, 0);
  }
}
