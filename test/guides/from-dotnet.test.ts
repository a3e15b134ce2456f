/** The rows of docs/guides/from-dotnet.md: our side of each. */
import { Mutex, Semaphore } from 'taketurns';
import { acquiring, Channel, number, receiving, select } from 'taketurns/channel';
import { Barrier, Condition, Event, Latch, Once, type OnceHandle, RwLock, WaitGroup } from 'taketurns/sync';
import { elsewhere, guide, type Inside, outcome, pause, waits } from './rows.js';

guide(
  'from-dotnet.md',
  {
    '`new SemaphoreSlim(n)`': [
      async () => {
        const growing = new Semaphore(2, { max: 1000 });
        growing.release();
        return [growing.available, new Semaphore(2).max];
      },
      [3, 2],
    ],
    '`new SemaphoreSlim(n, max)`': [
      async () => [
        await outcome(() => new Semaphore(2, { max: 3 }).release(2)),
        await outcome(() => new Semaphore(2).release()),
      ],
      ['refused: RangeError', 'refused: RangeError'],
    ],
    '`Wait()`': [
      async () => {
        const semaphore = new Semaphore(2);
        semaphore.acquire();
        semaphore.hold().release();
        semaphore.acquire();
        const other = elsewhere(({ Semaphore, data }) => Semaphore.from(data).acquire(), semaphore.handle);
        while (semaphore.waiting === 0) await pause(1);
        const { blocked } = semaphore.inspect().waiters[0];
        semaphore.release();
        await other.answer;
        return blocked;
      },
      true,
    ],
    '`await WaitAsync()`': [
      async () => {
        const semaphore = new Semaphore(1);
        await semaphore.acquireAsync();
        const blocked = elsewhere(({ Semaphore, data }) => Semaphore.from(data).acquire(), semaphore.handle);
        while (semaphore.waiting === 0) await pause(1);
        const promise = semaphore.holdAsync();
        const queue = semaphore.inspect().waiters.map(({ blocked }) => blocked);
        semaphore.release();
        await blocked.answer;
        semaphore.release();
        (await promise).release();
        return queue;
      },
      [true, false],
    ],
    '`Wait(0)`': [
      async () => {
        const semaphore = new Semaphore(2);
        semaphore.acquire();
        const waiter = outcome(() => semaphore.acquireAsync(2));
        const behind = [semaphore.tryAcquire(), semaphore.tryHold()];
        semaphore.cancelAll();
        await waiter;
        return [...behind, semaphore.tryAcquire()];
      },
      [false, undefined, true],
    ],
    '`Wait(ms)`, `WaitAsync(ms)`': [
      async () => {
        const semaphore = new Semaphore(0);
        const timeout = 5;
        return [
          await outcome(() => semaphore.acquire({ timeout })),
          await outcome(() => semaphore.acquireAsync({ timeout })),
        ];
      },
      ['refused: TimeoutError', 'refused: TimeoutError'],
    ],
    '`WaitAsync(token)`': [
      () => outcome(() => new Semaphore(0).acquireAsync({ signal: AbortSignal.abort(new TypeError('reason')) })),
      'refused: TypeError',
    ],
    '`Wait(token)`': [
      async () => {
        const semaphore = new Semaphore(0);
        const other = elsewhere(({ Semaphore, data }) => {
          try {
            Semaphore.from(data).acquire();
          } catch (error) {
            return (error as Error).name;
          }
        }, semaphore.handle);
        while (semaphore.waiting === 0) await pause(1);
        semaphore.cancelAll();
        return other.answer;
      },
      'CancelledError',
    ],
    '`CancelAfter`, `CreateLinkedTokenSource`': [
      () => {
        const signal = AbortSignal.any([new AbortController().signal, AbortSignal.timeout(5)]);
        return outcome(() => new Semaphore(0).acquireAsync({ signal }));
      },
      'refused: TimeoutError',
    ],
    '`Release()`, `Release(n)`': [
      () => {
        const semaphore = new Semaphore(3);
        semaphore.acquire(3);
        return [semaphore.release() as unknown, semaphore.release(2) as unknown, semaphore.available];
      },
      [undefined, undefined, 3],
    ],
    '`SemaphoreFullException`': [() => outcome(() => new Semaphore(1).release()), 'refused: RangeError'],
    '`CurrentCount`': [
      () => {
        const semaphore = new Semaphore(3);
        semaphore.acquire();
        return semaphore.available;
      },
      2,
    ],
    '`AvailableWaitHandle`, `WaitAny`': [
      () => {
        const [empty, free] = [new Channel({ codec: number }), new Semaphore(1)];
        return [select([receiving(empty), acquiring(free)]).index, free.available];
      },
      [1, 0],
    ],
    '`Dispose()`': [
      async () => {
        const semaphore = new Semaphore(0);
        const mine = outcome(() => semaphore.acquireAsync());
        const other = elsewhere(({ Semaphore, data }) => {
          try {
            Semaphore.from(data).acquire();
          } catch (error) {
            return (error as Error).name;
          }
        }, semaphore.handle);
        while (semaphore.waiting < 2) await pause(1);
        semaphore.dispose();
        return [await mine, await other.answer];
      },
      ['refused: DisposedError', 'DisposedError'],
    ],
    '`Wait` three times, for three permits': [
      async () => {
        const semaphore = new Semaphore(3);
        semaphore.acquire();
        const all = semaphore.acquireAsync(3);
        const first = await waits(all);
        semaphore.release();
        await all;
        return [first, semaphore.available];
      },
      ['waits', 0],
    ],
    '`try { ... } finally { s.Release(); }`': [
      async () => {
        const semaphore = new Semaphore(1);
        const fails = await outcome(() => semaphore.runExclusive(async () => Promise.reject(new TypeError('no'))));
        const inside = () => {
          using _ = semaphore.hold();
          return semaphore.available;
        };
        return [fails, inside(), semaphore.available];
      },
      ['refused: TypeError', 0, 1],
    ],
  },
  {
    '`lock (o) { ... }`, `System.Threading.Lock`': [
      async () => {
        const mutex = new Mutex();
        const inside = async () => {
          using _ = mutex.hold();
          await pause(1);
          return [mutex.locked, await outcome(() => mutex.lock())];
        };
        return [...(await inside()), mutex.locked];
      },
      [true, 'refused: SelfDeadlockError', false],
    ],
    '`Monitor.TryEnter(o)`, `TryEnter(o, ms)`': [
      async () => {
        const mutex = new Mutex();
        const free = mutex.tryLock();
        const other = elsewhere(({ Mutex, data }) => {
          const mutex = Mutex.from(data);
          try {
            mutex.lock({ timeout: 5 });
          } catch (error) {
            return [mutex.tryLock(), (error as Error).name];
          }
        }, mutex.handle);
        return [free, ...((await other.answer) ?? [])];
      },
      [true, false, 'TimeoutError'],
    ],
    '`Monitor.Wait`, `Pulse`, `PulseAll`': [
      async () => {
        const mutex = new Mutex();
        const condition = new Condition(mutex);
        let ready = false;
        const one = mutex.runExclusive(() => condition.waitAsync());
        const two = mutex.runExclusive(() => condition.waitForAsync(() => ready));
        while (condition.waiting < 2) await pause(1);
        await mutex.runExclusive(() => condition.notify());
        const first = await one;
        await mutex.runExclusive(() => {
          ready = true;
          condition.notifyAll();
        });
        return [first, await two];
      },
      [true, true],
    ],
    '`Mutex.WaitOne`, `ReleaseMutex`': [
      async () => {
        const mutex = new Mutex();
        mutex.lock();
        const other = elsewhere(({ Mutex, data }) => {
          try {
            Mutex.from(data).unlock();
          } catch {
            return 'not the owner';
          }
        }, mutex.handle);
        const answer = await other.answer;
        mutex.unlock();
        return answer;
      },
      'not the owner',
    ],
    '`AbandonedMutexException`': [
      async () => {
        let told = 0;
        const mutex = new Mutex();
        mutex.onOwnerDied = () => told++;
        const other = elsewhere(({ Mutex, data, tell }) => {
          Mutex.from(data).lock();
          tell('locked');
          return new Promise(() => setInterval(() => {}, 1e6));
        }, mutex.handle);
        await other.told;
        await other.die();
        return [(await mutex.holdAsync()).ownerDied, told];
      },
      [true, 1],
    ],
    'a named system `Mutex` or `Semaphore`': null,
    '`ReaderWriterLockSlim`, `EnterUpgradeableReadLock`': [
      async () => {
        const lock = new RwLock();
        const held = lock.update();
        const readsToo = await elsewhere(({ RwLock, data }) => RwLock.from(data).tryLockRead(), lock.handle).answer;
        const written = held.upgrade();
        const { writing } = lock;
        written.unlock();
        return [readsToo, writing];
      },
      [true, true],
    ],
    '`ManualResetEventSlim`': [
      () => {
        const event = new Event();
        event.set();
        const both = [event.wait(), event.wait()];
        event.reset();
        return [...both, event.wait({ timeout: 5 })];
      },
      [true, true, false],
    ],
    '`AutoResetEvent`': [
      () => {
        const event = new Semaphore(0);
        event.release();
        event.release();
        return [event.tryAcquire(), event.tryAcquire(), event.tryAcquire()];
      },
      [true, true, false],
    ],
    '`CountdownEvent`': [
      async () => {
        const [latch, group] = [new Latch(2), new WaitGroup()];
        latch.countDown(2);
        group.add(1);
        group.add(1); // the count grows
        group.done(2);
        return [await latch.waitAsync(), await group.waitAsync()];
      },
      [true, true],
    ],
    '`Barrier`': [
      async () => {
        const barrier = new Barrier(2);
        const gives = outcome(() => barrier.arriveAndWait({ timeout: 5 }));
        return [await gives, barrier.broken];
      },
      ['refused: TimeoutError', true],
    ],
    '`System.Threading.Channels` (bounded), `BlockingCollection`': [
      async () => {
        const channel = new Channel({ codec: number, capacity: 2 });
        const other = elsewhere(({ Channel, number, data }) => {
          const channel = Channel.from(data, number);
          for (const n of [1, 2, 3]) channel.send(n);
          channel.close();
        }, channel.handle);
        const got = [];
        for await (const n of channel) got.push(n);
        await other.answer;
        return got;
      },
      [1, 2, 3],
    ],
    '`Lazy<T>`': [
      async () => {
        const [once, cell] = [new Once(), new Int32Array(new SharedArrayBuffer(4))];
        const value = ({ Once, data }: Inside<{ once: OnceHandle; cell: Int32Array }>) => {
          Once.from(data.once).run(() => {
            data.cell[0] += 7;
          });
          return data.cell[0];
        };
        const data = { once: once.handle, cell };
        return Promise.all([elsewhere(value, data).answer, elsewhere(value, data).answer]);
      },
      [7, 7],
    ],
    '`Interlocked`': [
      async () => {
        const shared = new Int32Array(new SharedArrayBuffer(4));
        await elsewhere(({ data }) => Atomics.add(data, 0, 1), shared).answer;
        return Atomics.add(shared, 0, 1);
      },
      1,
    ],
  },
);
