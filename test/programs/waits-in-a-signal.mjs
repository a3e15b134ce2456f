/** A signal begins another wait when the library asks it for its reason. All waits end, and then the process ends. */
import { Event, Latch, RwLock, WaitGroup } from 'taketurns/sync';

const group = new WaitGroup();
group.add();
const lock = new RwLock();
lock.lockWrite();
const event = new Event();
const latch = new Latch(1);
const waits = [
  (options) => group.waitAsync(options),
  (options) => lock.lockReadAsync(options),
  (options) => event.waitAsync(options),
  (options) => latch.waitAsync(options),
];
for (const wait of waits) {
  const { promise, abort } = begin(wait);
  abort();
  await promise.catch(() => {});
}
console.log('all are over');

function begin(wait) {
  let listener;
  let reads = 0;
  const signal = {
    aborted: false,
    get reason() {
      if (++reads === 2) wait({ timeout: 1 }).catch(() => {});
      return 'enough';
    },
    addEventListener(_, heard) {
      listener = heard;
    },
    removeEventListener() {},
  };
  const promise = wait({ signal });
  return {
    promise,
    abort() {
      signal.aborted = true;
      listener();
    },
  };
}
