/** The rows of docs/guides/from-go.md: our side of each. */
import { readFileSync } from 'node:fs';
import { Mutex, Semaphore } from 'taketurns';
import { Channel, number, Watch } from 'taketurns/channel';
import { Condition, Event, Once, RwLock, WaitGroup } from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';
import { elsewhere, guide, mostAtOnce, outcome, pause } from './rows.js';

type Task = (signal: AbortSignal) => Promise<unknown>;
interface Group {
  go(task: Task): void;
  wait(): Promise<void>;
}
/** The class that the page names. */
const example = readFileSync(new URL('../../examples/error-group.mjs', import.meta.url), 'utf8');
const [shown] = /^class ErrorGroup \{\n.*?^\}\n/ms.exec(example) as unknown as [string];
const ErrorGroup: new (most?: number) => Group = new Function('Semaphore', 'WaitGroup', `return ${shown}`)(
  tasks.Semaphore,
  tasks.WaitGroup,
);
const fails: Task = () => Promise.reject(new RangeError('no'));

guide(
  'from-go.md',
  {
    '`semaphore.NewWeighted(n)`': [
      async () => {
        const own = new Semaphore(2);
        const named = Semaphore.open('weighted', 2);
        const { answer } = elsewhere(({ Semaphore }) => Semaphore.open('weighted', 2).tryAcquire(2));
        return [own.tryAcquire(2), await answer, named.tryAcquire()];
      },
      [true, true, false],
    ],
    '`s.Acquire(ctx, w)`': [
      async () => {
        const s = new Semaphore(3);
        await s.acquireAsync(2, { signal: AbortSignal.timeout(1000) });
        s.acquire(1, { timeout: 1000 });
        return [
          await outcome(() => s.acquireAsync(1, { signal: AbortSignal.timeout(5) })),
          await outcome(() => s.acquire(1, { timeout: 5 })),
        ];
      },
      ['refused: TimeoutError', 'refused: TimeoutError'],
    ],
    '`s.TryAcquire(w)`': [
      () => {
        const s = new Semaphore(3);
        s.acquire();
        const free = s.tryAcquire();
        const waiter = outcome(() => s.acquireAsync(3));
        const behind = s.tryAcquire();
        s.cancelAll();
        return waiter.then(() => [free, behind]);
      },
      [true, false],
    ],
    '`s.Release(w)`': [() => outcome(() => new Semaphore(2).release(1)), 'refused: RangeError'],
    '`Acquire` of more than n': [() => outcome(() => new Semaphore(2).acquireAsync(3)), 'refused: RangeError'],
    'the order': [
      async () => {
        const s = new Semaphore(3);
        s.acquire(2);
        const order: string[] = [];
        const large = s.acquireAsync(3).then(() => order.push('large'));
        const small = s.acquireAsync(1).then(() => order.push('small'));
        s.release(2);
        await large;
        s.release(3);
        await small;
        return order;
      },
      ['large', 'small'],
    ],
    '`make(chan struct{}, n)` as a semaphore': [() => mostAtOnce((f) => new Semaphore(2).limit(f), 5), 2],
  },
  {
    '`Mutex`: `Lock`, `Unlock`, `TryLock`': [
      async () => {
        const mutex = new Mutex();
        mutex.lock();
        const other = elsewhere(async ({ Mutex, data }) => {
          const mutex = Mutex.from(data);
          const tried = mutex.tryLock();
          try {
            mutex.unlock();
          } catch {
            return [tried, 'not the owner'];
          }
        }, mutex.handle);
        const answer = await other.answer;
        mutex.unlock();
        await mutex.lockAsync();
        mutex.unlock();
        return [...(answer ?? []), mutex.tryLock()];
      },
      [false, 'not the owner', true],
    ],
    '`defer mu.Unlock()`': [
      () => {
        const mutex = new Mutex();
        const f = () => {
          using _ = mutex.hold();
          return mutex.locked;
        };
        return [f(), mutex.locked];
      },
      [true, false],
    ],
    '`RWMutex`: `RLock`, `RUnlock`, `Lock`': [
      async () => {
        const lock = new RwLock();
        lock.lockRead();
        const writer = elsewhere(({ RwLock, data }) => {
          const lock = RwLock.from(data);
          lock.lockWrite();
          lock.unlockWrite();
        }, lock.handle);
        while (lock.inspect().waiters.length === 0) await pause(1);
        lock.lockRead(); // again, while a writer waits
        const readers = lock.readers;
        lock.unlockRead();
        lock.unlockRead();
        await writer.answer;
        const held = lock.update();
        const writes = held.upgrade();
        const { writing } = lock;
        writes.unlock();
        lock.lockWrite();
        lock.unlockWrite();
        return [readers, writing];
      },
      [1, true],
    ],
    '`Cond`: `Wait`, `Signal`, `Broadcast`': [
      async () => {
        const mutex = new Mutex();
        const changed = new Condition(mutex);
        let ready = false;
        const wait = () => mutex.runExclusive(() => changed.waitForAsync(() => ready));
        const timed = await mutex.runExclusive(() => changed.waitAsync({ timeout: 5 }));
        const all = Promise.all([wait(), wait(), wait()]);
        await pause(5);
        await mutex.runExclusive(() => {
          changed.notify(); // it looks, and waits again
          ready = true;
          changed.notifyAll();
        });
        return [timed, await all];
      },
      [false, [true, true, true]],
    ],
    '`WaitGroup`: `Add`, `Done`, `Wait`': [
      async () => {
        const group = new WaitGroup();
        group.add(2);
        const other = elsewhere(({ WaitGroup, data }) => WaitGroup.from(data).done(), group.handle);
        group.done();
        group.wait();
        await other.answer;
        return [await group.waitAsync(), await outcome(() => group.done())];
      },
      [true, 'refused: RangeError'],
    ],
    '`WaitGroup.Go(f)`': [
      async () => {
        const group = new WaitGroup();
        let ran = false;
        group.run(async () => {
          await pause(2);
          ran = true;
        });
        await group.waitAsync();
        const other = elsewhere(({ WaitGroup, data, tell }) => {
          WaitGroup.from(data).run(() => new Promise(() => setInterval(() => {}, 1e6)));
          tell('runs');
          return new Promise(() => setInterval(() => {}, 1e6));
        }, group.handle);
        await other.told;
        const before = group.pending;
        await other.die();
        return [ran, before, await group.waitAsync()];
      },
      [true, 1, true],
    ],
    '`Once.Do(f)`, `OnceFunc`': [
      async () => {
        const again = new Once();
        let runs = 0;
        const bad = await outcome(() =>
          again.run(() => {
            throw new RangeError('no');
          }),
        );
        again.run(() => void runs++);
        await again.runAsync(async () => void runs++);
        const { answer } = elsewhere(({ Once, data }) => Once.from(data).run(() => {}), again.handle);
        return [bad, runs, await answer];
      },
      ['refused: RangeError', 1, false],
    ],
    '`Map`, `Pool`': null,
    '`sync/atomic`': [
      async () => {
        const shared = new Int32Array(new SharedArrayBuffer(4));
        await elsewhere(({ data }) => Atomics.add(data, 0, 2), shared).answer;
        return Atomics.load(shared, 0);
      },
      2,
    ],
  },
  {
    '`errgroup.WithContext`, `SetLimit(n)`, `g.Go`, `g.Wait`': [
      async () => {
        const group = new ErrorGroup(2);
        let begun = 0;
        for (const task of [fails, () => pause(1), () => pause(1)])
          group.go((signal) => {
            begun++;
            return task(signal);
          });
        return [await outcome(() => group.wait()), begun];
      },
      ['refused: RangeError', 2],
    ],
    '`context.WithTimeout(ctx, d)`, `WithCancel`': [
      async () => {
        const s = new Semaphore(0);
        const stop = new AbortController();
        const cancelled = outcome(() => s.acquireAsync({ signal: stop.signal }));
        stop.abort();
        return [await outcome(() => s.acquireAsync({ signal: AbortSignal.timeout(5) })), await cancelled];
      },
      ['refused: TimeoutError', 'refused: AbortError'],
    ],
    '`select` with `time.After`': [
      () => outcome(() => new Channel({ codec: number }).receive({ timeout: 5 })),
      'refused: TimeoutError',
    ],
    '`chan T` with a buffer, `select`': [
      () => {
        const c = new Channel({ codec: number, capacity: 2 });
        return [c.trySend(1), c.trySend(2), c.trySend(3), c.receive()];
      },
      [true, true, false, 1],
    ],
    'closing a channel, so that all receivers go on': [
      async () => {
        const [channel, event] = [new Channel({ codec: number }), new Event()];
        const all = [outcome(() => channel.receiveAsync()), event.waitAsync(), event.waitAsync()];
        channel.close();
        event.set();
        return Promise.all(all);
      },
      ['refused: ClosedError', true, true],
    ],
    'a `WaitGroup` of the senders, and a goroutine that waits for it and then closes the channel': [
      async () => {
        const channel = new Channel({ codec: number, senders: 2 });
        const mine = channel.sender();
        const other = elsewhere(({ Channel, number, data, tell }) => {
          const channel = Channel.from(data, number);
          channel.sender();
          channel.send(2);
          tell('sent');
          return new Promise(() => setInterval(() => {}, 1e6));
        }, channel.handle);
        await other.told;
        await other.die();
        channel.send(1);
        mine.leave();
        const got = [];
        for await (const n of channel) got.push(n);
        return got;
      },
      [2, 1],
    ],
    'an `atomic.Value` with the configuration, and a channel that says when it changes': [
      async () => {
        const configuration = new Watch(1, { codec: number });
        const { answer } = elsewhere(
          ({ Watch, number, data }) => Watch.from(data.handle, number).changed(data.version).value,
          { handle: configuration.handle, version: configuration.version },
        );
        configuration.set(2);
        return [await answer, configuration.get()];
      },
      [2, 2],
    ],
    '`singleflight`': [
      async () => {
        const once = new Once();
        let calls = 0;
        const call = () => once.runAsync(async () => void calls++);
        await Promise.all([call(), call()]);
        await call();
        return calls;
      },
      1,
    ],
  },
  {
    '`g, ctx := errgroup.WithContext(ctx)`': [
      async () => {
        const group = new ErrorGroup();
        let cancelled: unknown;
        group.go(async (signal) => {
          cancelled = await outcome(
            () => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))),
          );
        });
        group.go(fails);
        await outcome(() => group.wait());
        return cancelled;
      },
      'refused: RangeError',
    ],
    '`g.SetLimit(n)`': [
      async () => {
        const group = new ErrorGroup(2);
        let [running, most] = [0, 0];
        for (let i = 0; i < 5; i++)
          group.go(async () => {
            most = Math.max(most, ++running);
            await pause(1);
            running--;
          });
        await group.wait();
        return most;
      },
      2,
    ],
    '`g.Go(f)`': [
      async () => {
        const group = new ErrorGroup(1);
        let begun = 0;
        group.go(async () => {
          await pause(1);
          throw new RangeError('no');
        });
        group.go(async () => begun++);
        const returned = begun;
        await outcome(() => group.wait());
        return [returned, begun];
      },
      [0, 0],
    ],
    '`g.Wait()`': [
      async () => {
        const group = new ErrorGroup();
        let ended = false;
        group.go(fails);
        group.go(async () => {
          await pause(5);
          ended = true;
          throw new TypeError('the second');
        });
        return [await outcome(() => group.wait()), ended];
      },
      ['refused: RangeError', true],
    ],
  },
);
