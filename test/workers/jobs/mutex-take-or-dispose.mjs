/** Locks a mutex and keeps its library object. A later call with `disposes` disposes of the mutex by that object. */
import { Mutex } from 'taketurns';

let mutex;

export default function mutexTakeOrDispose({ handle, disposes }) {
  if (disposes) mutex.dispose();
  else {
    mutex = Mutex.from(handle);
    mutex.lock();
  }
}
