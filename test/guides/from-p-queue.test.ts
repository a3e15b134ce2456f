/** The rows of docs/guides/from-p-queue.md. */
import PQueue from 'p-queue';
import { Event, RateLimiter, Semaphore, WaitGroup } from 'taketurns/tasks';
import { begins, guide, mostAtOnce, mostWithin, outcome, pause } from './rows.js';

const never = (): Promise<never> => new Promise(() => {});

/** A queue whose only slot is taken, with two tasks that wait; and the same here. */
function theirBusy(): PQueue {
  const queue = new PQueue({ concurrency: 1 });
  for (let i = 0; i < 3; i++) queue.add(never).catch(() => {});
  return queue;
}
function ourBusy(): Semaphore {
  const slots = new Semaphore(1);
  for (let i = 0; i < 3; i++) slots.runExclusive(never).catch(() => {});
  return slots;
}

guide('from-p-queue.md', {
  '`new PQueue({ concurrency: n })`': [
    () => {
      const queue = new PQueue({ concurrency: 2 });
      return mostAtOnce((f) => (n) => queue.add(() => f(n)), 6);
    },
    () => {
      const slots = new Semaphore(2);
      return mostAtOnce((f) => (n) => slots.runExclusive(() => f(n)), 6);
    },
    2,
  ],
  '`queue.add(run)`': [
    () => new PQueue({ concurrency: 1 }).add(async () => 5),
    () => new Semaphore(1).runExclusive(async () => 5),
    5,
  ],
  '`queue.add(run, { signal })`': [
    () => outcome(() => theirBusy().add(async () => 5, { signal: AbortSignal.timeout(5) })),
    async () => {
      const slots = ourBusy();
      const ends = [
        outcome(() => slots.runExclusive(async () => 5, { signal: AbortSignal.timeout(5) })),
        outcome(() => slots.limit(async () => 5, { signal: AbortSignal.timeout(5) })()),
      ];
      const [first, second] = await Promise.all(ends);
      return first === second && first;
    },
    'refused: TimeoutError',
  ],
  '`queue.addAll(runs)`': [
    () => new PQueue({ concurrency: 1 }).addAll([1, 2].map((n) => async () => n)),
    () => {
      const slots = new Semaphore(1);
      return Promise.all([1, 2].map((n) => slots.runExclusive(async () => n)));
    },
    [1, 2],
  ],
  '`new PQueue({ intervalCap: n, interval: ms })`': [
    async () => {
      const queue = new PQueue({ intervalCap: 2, interval: 400 });
      return mostWithin(200, await begins((f) => (n) => queue.add(() => f(n)), 4));
    },
    async () => {
      const rate = new RateLimiter(2, 400, { burst: 2 });
      await rate.takeAsync();
      await rate.takeAsync();
      return mostWithin(200, await begins((f) => rate.limit(f), 4));
    },
    2,
  ],
  both: [
    () => {
      const queue = new PQueue({ concurrency: 1, intervalCap: 2, interval: 20 });
      return mostAtOnce((f) => (n) => queue.add(() => f(n)), 4);
    },
    () => mostAtOnce((f) => new Semaphore(1).limit(new RateLimiter(2, 20, { burst: 2 }).limit(f)), 4),
    1,
  ],
  '`carryoverConcurrencyCount`': [
    () => {
      const options = { concurrency: 1, intervalCap: 1, interval: 1, carryoverConcurrencyCount: true };
      const queue = new PQueue(options);
      return mostAtOnce((f) => (n) => queue.add(() => f(n)), 4);
    },
    () => mostAtOnce((f) => new Semaphore(1).limit(new RateLimiter(1, 1).limit(f)), 4),
    1,
  ],
  '`strict`': [
    // One call, then four at the end of its interval, and five at the beginning of the next.
    async () => {
      const queue = new PQueue({ intervalCap: 5, interval: 1500, strict: true });
      return mostWithin(750, await begins((f) => (n) => queue.add(() => f(n)), 1, 1000, 9));
    },
    async () => mostWithin(750, await begins((f) => new RateLimiter(5, 1500, { burst: 5 }).limit(f), 1, 1000, 9)),
    5,
  ],
  '`queue.size`': [() => theirBusy().size, () => ourBusy().waiting, 2],
  '`queue.pending`': [() => theirBusy().pending, () => ourBusy().inspect().out, 1],
  '`queue.onIdle()`': [
    async () => {
      const queue = new PQueue({ concurrency: 1 });
      let ended = 0;
      for (let i = 0; i < 3; i++) queue.add(() => pause(1).then(() => ended++));
      await queue.onIdle();
      return ended;
    },
    async () => {
      const [slots, group] = [new Semaphore(1), new WaitGroup()];
      let ended = 0;
      for (let i = 0; i < 3; i++) group.run(() => slots.runExclusive(() => pause(1).then(() => ended++)));
      await group.waitAsync();
      return ended;
    },
    3,
  ],
  '`queue.onEmpty()`, `onSizeLessThan(n)`': null,
  '`queue.pause()`, `queue.start()`': [
    async () => {
      const queue = new PQueue({ concurrency: 1 });
      queue.pause();
      const begun: string[] = [];
      const run = queue.add(async () => begun.push('task'));
      await pause(5);
      begun.push('start');
      queue.start();
      await run;
      return begun;
    },
    async () => {
      const [slots, going] = [new Semaphore(1), new Event({ set: true })];
      going.reset();
      const begun: string[] = [];
      const run = slots.runExclusive(async () => {
        await going.waitAsync();
        begun.push('task');
      });
      await pause(5);
      begun.push('start');
      going.set();
      await run;
      return begun;
    },
    ['start', 'task'],
  ],
  '`queue.clear()`': [
    () => {
      const queue = theirBusy();
      queue.clear();
      return queue.size;
    },
    async () => {
      const slots = ourBusy();
      const call = outcome(() => slots.limit(never)());
      slots.cancelAll();
      return (await call) === 'refused: CancelledError' && slots.waiting;
    },
    0,
  ],
  '`queue.concurrency = m`': [
    () => {
      const queue = new PQueue({ concurrency: 1 });
      queue.concurrency = 3;
      return mostAtOnce((f) => (n) => queue.add(() => f(n)), 6);
    },
    () => {
      const slots = new Semaphore(1, { max: 5 });
      slots.add(3);
      slots.reduce(1);
      return mostAtOnce((f) => slots.limit(f), 6);
    },
    3,
  ],
  '`timeout`: the longest time of a task': null,
  '`priority`, `setPriority`': null,
  'events (`active`, `idle`, `next`, ...)': null,
  'a queue of your own (`queueClass`)': null,
});
