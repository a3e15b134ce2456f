/** The rows of docs/guides/from-rust.md: our side of each. */
import { Mutex, Semaphore } from 'taketurns';
import { deadlocks } from 'taketurns/report';
import { Barrier, Condition, Event, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { elsewhere, guide, outcome, pause, waits } from './rows.js';

/** A thread that locks a mutex, and keeps it. */
async function locker(mutex: Mutex): Promise<{ die(): Promise<unknown> }> {
  const other = elsewhere(({ Mutex, data, tell }) => {
    Mutex.from(data).lock();
    tell('locked');
    return new Promise(() => setInterval(() => {}, 1e6));
  }, mutex.handle);
  await other.told;
  return other;
}

guide(
  'from-rust.md',
  {
    '`Mutex::lock`': [
      async () => {
        const mutex = new Mutex();
        const failing = () => {
          using _ = mutex.hold();
          throw new RangeError('no');
        };
        const end = await outcome(failing);
        mutex.hold().unlock(); // not poisoned
        const other = await locker(mutex);
        const next = mutex.holdAsync();
        await other.die();
        return [end, (await next).ownerDied];
      },
      ['refused: RangeError', true],
    ],
    '`FairMutex`': [() => [new Mutex({ bypass: 0 }).bypass, new Mutex().bypass > 0], [0, true]],
    '`try_lock`, `try_lock_for`': [
      async () => {
        const mutex = new Mutex();
        const free = mutex.tryHold();
        free?.unlock();
        const other = await locker(mutex);
        const locked = [mutex.tryHold(), await outcome(() => mutex.hold({ timeout: 5 }))];
        await other.die();
        return [free !== undefined, ...locked];
      },
      [true, undefined, 'refused: TimeoutError'],
    ],
    '`MutexGuard::unlock_fair`': null,
    '`Condvar::wait_while`': [
      async () => {
        const mutex = new Mutex();
        const condition = new Condition(mutex);
        const order: number[] = [];
        let ready = false;
        const wait = (n: number) =>
          mutex.runExclusive(async () => {
            await condition.waitForAsync(() => ready);
            order.push(n);
          });
        const both = [wait(1), wait(2)];
        while (condition.waiting < 2) await pause(1);
        await mutex.runExclusive(() => {
          ready = true;
          condition.notifyAll();
        });
        await Promise.all(both);
        return order;
      },
      [1, 2],
    ],
    '`RwLock`, `upgradable_read`': [
      async () => {
        const lock = new RwLock();
        lock.lockRead();
        const writer = elsewhere(({ RwLock, data }) => RwLock.from(data).write().unlock(), lock.handle);
        while (lock.inspect().waiters.length === 0) await pause(1);
        lock.lockRead(); // again, while a writer waits
        lock.unlockRead();
        lock.unlockRead();
        await writer.answer;
        const held = lock.update();
        const written = held.upgrade();
        const { writing } = lock;
        written.unlock();
        return writing;
      },
      true,
    ],
    '`Once`, `OnceLock`': [
      async () => {
        const once = new Once();
        const end = await outcome(() =>
          once.run(() => {
            throw new RangeError('no');
          }),
        );
        return [end, once.run(() => {}), once.run(() => {}), once.done];
      },
      ['refused: RangeError', true, false, true],
    ],
    '`Barrier`': [
      async () => {
        const barrier = new Barrier(2);
        const other = elsewhere(({ Barrier, data }) => {
          Barrier.from(data).arriveAndWait();
        }, barrier.handle);
        barrier.arriveAndWait();
        await other.answer;
        const dying = new Barrier(2);
        const dies = elsewhere(({ Barrier, data }) => Barrier.from(data).arriveAndWait(), dying.handle);
        while (dying.inspect().arrived === 0) await pause(1);
        await dies.die();
        const broken = await outcome(() => dying.arriveAndWaitAsync());
        await outcome(() => barrier.arriveAndWait({ timeout: 5 }));
        return [broken, barrier.broken];
      },
      ['refused: BrokenBarrierError', true],
    ],
    '`deadlock::check_deadlock`': [() => deadlocks().certain, []],
  },
  {
    '`Semaphore::acquire().await`': [
      async () => {
        const semaphore = new Semaphore(1);
        const held = await semaphore.holdAsync();
        const waiting = semaphore.holdAsync();
        const first = await waits(waiting);
        held.release();
        (await waiting).release();
        semaphore.hold().release();
        return [first, semaphore.available];
      },
      ['waits', 1],
    ],
    '`acquire_many(n)`': [
      async () => {
        const semaphore = new Semaphore(3);
        semaphore.acquire();
        const many = semaphore.holdAsync(3);
        const behind = await waits(semaphore.acquireAsync(1));
        semaphore.release();
        (await many).release();
        return behind;
      },
      'waits',
    ],
    '`add_permits`, `forget_permits`': [
      async () => {
        const semaphore = new Semaphore(2, { max: 5 });
        semaphore.add(2);
        semaphore.acquire(3);
        semaphore.reduce(3); // one at once, and two when they come back
        const now = semaphore.available;
        semaphore.release(3);
        return [now, semaphore.available];
      },
      [0, 1],
    ],
    '`close()`': [
      async () => {
        const semaphore = new Semaphore(1);
        semaphore.acquire();
        const waiting = outcome(() => semaphore.acquireAsync());
        semaphore.dispose();
        return waiting;
      },
      'refused: DisposedError',
    ],
    'dropping the future cancels the request': [
      async () => {
        const semaphore = new Semaphore(1);
        semaphore.acquire();
        semaphore.acquireAsync(); // forgotten: it still waits
        const signal = AbortSignal.abort(new RangeError('no'));
        const ends = [
          outcome(() => semaphore.acquireAsync({ signal })),
          outcome(() => semaphore.acquireAsync({ timeout: 5 })),
        ];
        return [...(await Promise.all(ends)), semaphore.waiting];
      },
      ['refused: RangeError', 'refused: TimeoutError', 1],
    ],
    '`Mutex::lock().await`': [
      async () => {
        const mutex = new Mutex();
        const held = await mutex.holdAsync();
        const { locked } = mutex;
        held.unlock();
        return [locked, mutex.locked];
      },
      [true, false],
    ],
    '`Notify::notify_one`, `notify_waiters`': [
      async () => {
        const mutex = new Mutex();
        const condition = new Condition(mutex);
        await mutex.runExclusive(() => condition.notify());
        const late = await mutex.runExclusive(() => condition.waitAsync({ timeout: 5 }));
        const event = new Event();
        event.set();
        const semaphore = new Semaphore(0);
        semaphore.release();
        return [late, await event.waitAsync(), await waits(semaphore.acquireAsync())];
      },
      [false, true, undefined],
    ],
    '`Barrier::wait().await`': [
      async () => {
        const barrier = new Barrier(2);
        await Promise.all([barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync()]);
        return barrier.round;
      },
      1,
    ],
    '`OnceCell::get_or_init`': [
      async () => {
        const [once, cell] = [new Once(), new Int32Array(new SharedArrayBuffer(4))];
        await elsewhere(
          async ({ Once, data }) => {
            await Once.from(data.once).runAsync(async () => {
              data.cell[0] = 7;
            });
          },
          { once: once.handle, cell },
        ).answer;
        return [await once.runAsync(() => {}), cell[0]];
      },
      [false, 7],
    ],
    '`TaskTracker`': [
      async () => {
        const group = new WaitGroup();
        let ended = 0;
        for (let i = 0; i < 3; i++)
          group.run(async () => {
            await pause(1);
            ended++;
          });
        await group.waitAsync();
        return ended;
      },
      3,
    ],
    '`JoinSet`': [
      async () => {
        const stop = new AbortController();
        const task = (signal: AbortSignal) => outcome(() => new Semaphore(0).acquireAsync({ signal }));
        const set = [task(stop.signal), task(stop.signal)];
        stop.abort();
        return Promise.all(set);
      },
      ['refused: AbortError', 'refused: AbortError'],
    ],
  },
);
