/** The rows of docs/guides/from-web-locks.md. The Web Locks run where Node has them: from 24.5 on. */
import * as threads from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { formatReport, report } from 'taketurns/report';
import { Condition, RwLock } from 'taketurns/sync';
import { elsewhere, guide, later, mostAtOnce, never, outcome, pause, type Rows } from './rows.js';

const locks = (threads as { locks?: LockManager }).locks as LockManager;
/** Both programs, or ours alone where there are no Web Locks. */
const both = (theirs: () => unknown, ours: () => unknown, answer: unknown, oursIs = answer): Rows[string] =>
  locks ? [theirs, ours, answer, oursIs] : [ours, oursIs];

/** A worker that has locked `mutex`, and keeps it until it dies. */
const lockedElsewhere = async (mutex: Mutex) => {
  const other = elsewhere(({ Mutex, data, tell }) => {
    Mutex.from(data).lock();
    tell('locked');
    return new Promise(() => setInterval(() => {}, 1e6));
  }, mutex.handle);
  await other.told;
  return other;
};

let count = 0;
const fresh = (): string => `web lock ${++count}`;

guide(
  'from-web-locks.md',
  {
    'a call that blocks, such as in a loop over a shared buffer': both(
      () => locks.request(fresh(), () => {}) instanceof Promise,
      () => {
        const mutex = new Mutex();
        return (mutex.lock() as unknown) instanceof Promise || !mutex.held;
      },
      true,
      false,
    ),
    'several permits': both(
      () => {
        const name = fresh();
        return mostAtOnce((f) => (n) => locks.request(name, () => f(n)), 4);
      },
      () => mostAtOnce((f) => new Semaphore(2).limit(f), 4),
      1,
      2,
    ),
    'wait inside the lock for a change': both(
      () => {
        const name = fresh();
        locks.request(name, never); // it waits inside
        return Promise.race([locks.request(name, () => 'in'), later('out')]);
      },
      async () => {
        const mutex = new Mutex();
        const changed = new Condition(mutex);
        const waits = mutex.runExclusive(() => changed.waitAsync());
        const other = await Promise.race([mutex.runExclusive(() => 'in'), later('out')]);
        await mutex.runExclusive(() => changed.notify());
        await waits;
        return other;
      },
      'out',
      'in',
    ),
    'a time-out': both(
      () => {
        const name = fresh();
        locks.request(name, never);
        return outcome(() => locks.request(name, { signal: AbortSignal.timeout(5) }, () => {}));
      },
      async () => {
        const mutex = new Mutex();
        const other = await lockedElsewhere(mutex);
        const blocked = await outcome(() => mutex.lock({ timeout: 5 }));
        const awaited = await outcome(() => mutex.lockAsync({ timeout: 5 }));
        await other.die();
        return blocked === awaited && blocked;
      },
      'refused: TimeoutError',
    ),
    'to be told that the last owner died': both(
      async () => {
        const name = fresh();
        const worker = new threads.Worker(
          `const { locks, parentPort, workerData } = require('node:worker_threads');
          locks.request(workerData, () => { parentPort.postMessage(''); return new Promise(() => setInterval(() => {}, 1e6)); });`,
          { eval: true, workerData: name },
        );
        await new Promise((locked) => worker.once('message', locked));
        const next = locks.request(name, (lock) => [lock?.name === name, 'ownerDied' in (lock as Lock)]);
        await worker.terminate();
        const first = await Promise.race([next, later('waits')]);
        await locks.request(fresh(), () => {});
        return [first, ...(await next)];
      },
      async () => {
        const mutex = new Mutex();
        const other = await lockedElsewhere(mutex);
        const next = mutex.holdAsync();
        await other.die();
        return (await next).ownerDied;
      },
      ['waits', true, false],
      true,
    ),
    'who holds, who waits, and for how long': both(
      async () => {
        const name = fresh();
        locks.request(name, never);
        await pause(5);
        const { held } = await locks.query();
        return Object.keys(held?.find((lock) => lock.name === name) ?? {}).filter((key) => key !== 'clientId');
      },
      async () => {
        const mutex = new Mutex();
        await mutex.lockAsync();
        const gives = new AbortController();
        outcome(() => mutex.lockAsync({ signal: gives.signal }));
        const { ownerThreadId, waiters } = mutex.inspect();
        gives.abort();
        return [ownerThreadId, waiters[0].threadId, typeof waiters[0].waited];
      },
      ['name', 'mode'],
      [0, 0, 'number'],
    ),
  },
  {
    '`locks.request(name, run)`': both(
      () => {
        const name = fresh();
        return mostAtOnce((f) => (n) => locks.request(name, () => f(n)), 4);
      },
      () => {
        const name = fresh();
        return mostAtOnce((f) => (n) => Mutex.open(name).runExclusive(() => f(n)), 4);
      },
      1,
    ),
    "`locks.request(name, { mode: 'shared' }, run)`": both(
      () => {
        const name = fresh();
        return mostAtOnce((f) => (n) => locks.request(name, { mode: 'shared' }, () => f(n)), 4);
      },
      () => {
        const name = fresh();
        return mostAtOnce(
          (f) => async (n) => {
            const held = await RwLock.open(name).readAsync();
            await f(n);
            held.unlock();
          },
          4,
        );
      },
      4,
    ),
    '`locks.request(name, { ifAvailable: true }, run)`': both(
      async () => {
        const name = fresh();
        locks.request(name, never);
        return locks.request(name, { ifAvailable: true }, (lock) => lock !== null);
      },
      async () => {
        const name = fresh();
        const first = Mutex.open(name).tryHold();
        return first === undefined || Mutex.open(name).tryHold() !== undefined;
      },
      false,
    ),
    '`locks.request(name, { signal }, run)`': both(
      () => {
        const name = fresh();
        locks.request(name, never);
        return outcome(() => locks.request(name, { signal: AbortSignal.abort(new RangeError('no')) }, () => {}));
      },
      () => {
        const mutex = Mutex.open(fresh());
        mutex.runExclusive(never);
        return outcome(() => mutex.runExclusive(() => {}, { signal: AbortSignal.abort(new RangeError('no')) }));
      },
      'refused: RangeError',
    ),
    '`{ steal: true }`': null,
    '`locks.query()`': both(
      async () => {
        const name = fresh();
        locks.request(name, never);
        await pause(5);
        return (await locks.query()).held?.some((lock) => lock.name === name);
      },
      async () => {
        const name = fresh();
        const mutex = Mutex.open(name);
        await mutex.lockAsync();
        outcome(() => mutex.lockAsync());
        return formatReport(report()).includes(`Mutex "${name}": locked, held by`);
      },
      true,
    ),
    'the names of one origin, or of one process of Node': both(
      async () => {
        const name = fresh();
        locks.request(name, never);
        await pause(5);
        const worker = new threads.Worker(
          `const { locks, parentPort, workerData } = require('node:worker_threads');
          locks.request(workerData, { ifAvailable: true }, (lock) => parentPort.postMessage(lock === null));`,
          { eval: true, workerData: name },
        );
        return new Promise((taken) => worker.once('message', taken));
      },
      () => {
        const name = fresh();
        const mutex = Mutex.open(name);
        mutex.lock();
        return elsewhere(({ Mutex, data }) => !Mutex.open(data).tryLock(), name).answer.finally(() => mutex.unlock());
      },
      true,
    ),
  },
);
