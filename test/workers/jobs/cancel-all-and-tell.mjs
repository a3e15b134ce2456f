/** Calls cancelAll, and then sets word 0 of `told`, on which another thread may block. */
import { attach } from '../attach.mjs';

export default function cancelAllAndTell({ handle, told }) {
  attach(handle).cancelAll();
  Atomics.store(told, 0, 1);
  Atomics.notify(told, 0);
}
