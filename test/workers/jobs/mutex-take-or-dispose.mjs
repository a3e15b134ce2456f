/** Locks a mutex, or disposes of it, by a library object that is kept until then. */
import { Mutex } from 'taketurns';

let mutex;

export default function mutexTakeOrDispose({ handle, disposes }) {
  if (disposes) mutex.dispose();
  else {
    mutex = Mutex.from(handle);
    mutex.lock();
  }
}
