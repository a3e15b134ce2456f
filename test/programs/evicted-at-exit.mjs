/** Uses evicted objects after all exit handlers. By then the library has ended the thread. */
import { Arena, Mutex, Semaphore } from 'taketurns';

const arena = new Arena({ objects: 16 });
const mutex = new Mutex({ arena });
const semaphore = new Semaphore(1, { arena });
for (let i = 0; i < 100; i++) new Mutex({ arena });

const said = (call) => {
  try {
    return String(call() ?? 'released');
  } catch ({ name }) {
    return name;
  }
};
const { emit } = process;
process.emit = (...event) => {
  emit.apply(process, event);
  if (event[0] !== 'exit') return;
  const calls = [() => mutex.lock(), () => semaphore.handle, () => mutex.disposed, () => semaphore.release()];
  console.log(JSON.stringify(calls.map(said)));
};
