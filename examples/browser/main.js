// A browser's main thread must not block. It waits with promises, in one queue with the workers, which block.
import { Semaphore } from 'taketurns';

const TURNS = 5;
const WORKERS = 2;

const turn = new Semaphore(1);
const started = new Semaphore(0); // one permit for each worker that has had a turn
const counts = new Int32Array(new SharedArrayBuffer(4)); // the workers' turns

for (let i = 0; i < WORKERS; i++) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  worker.postMessage({ turn: turn.handle, started: started.handle, counts });
}
await started.acquireAsync(WORKERS);

for (let i = 1; i <= TURNS; i++) {
  const held = await turn.holdAsync();
  const item = document.createElement('li');
  item.textContent = `the workers have had ${counts[0]} turns`;
  document.querySelector('ol').append(item);
  held.release();
}
turn.dispose(); // the workers get a DisposedError, and stop
document.querySelector('output').textContent = `The page has had its ${TURNS} turns, the workers ${counts[0]}.`;
