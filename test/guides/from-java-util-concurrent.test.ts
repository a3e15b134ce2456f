/** The rows of docs/guides/from-java-util-concurrent.md: our side of each. */
import { Mutex, type MutexHandle, Semaphore } from 'taketurns';
import { Channel, number } from 'taketurns/channel';
import { KeyedMutex } from 'taketurns/keyed';
import { deadlocks } from 'taketurns/report';
import { Barrier, Condition, type ConditionHandle, Latch, RwLock, WaitGroup } from 'taketurns/sync';
import { elsewhere, guide, type Inside, mostAtOnce, outcome, pause, waits } from './rows.js';

interface WaitsFor {
  readonly mutex: MutexHandle;
  readonly condition: ConditionHandle;
  readonly shared: Int32Array;
  readonly loop: boolean;
}
interface Crosses {
  readonly handles: readonly MutexHandle[];
  readonly met: Int32Array;
  readonly first: number;
}

guide('from-java-util-concurrent.md', {
  '`new Semaphore(n, true)`': [
    async () => {
      const semaphore = new Semaphore(3);
      semaphore.acquire(2);
      const order: string[] = [];
      const whole = semaphore.acquireAsync(3).then(() => order.push('3'));
      const behind = semaphore.tryAcquire();
      const next = semaphore.acquireAsync().then(() => order.push('1'));
      semaphore.release(2);
      await whole;
      semaphore.release(3);
      await next;
      return [behind, order];
    },
    [false, ['3', '1']],
  ],
  '`new Semaphore(n)`, not fair': null,
  '`ReentrantLock`': [
    async () => {
      const [mutex, fair] = [new Mutex(), new Mutex({ bypass: 0 })];
      mutex.lock();
      return [await outcome(() => mutex.lock()), fair.bypass];
    },
    ['refused: SelfDeadlockError', 0],
  ],
  '`lock.tryLock(time, unit)`': [
    async () => {
      const mutex = new Mutex();
      const other = elsewhere(({ Mutex, data, tell }) => {
        Mutex.from(data).lock();
        tell('locked');
        return new Promise(() => setInterval(() => {}, 1e6));
      }, mutex.handle);
      await other.told;
      const end = await outcome(() => mutex.lock({ timeout: 5 }));
      await other.die();
      return end;
    },
    'refused: TimeoutError',
  ],
  '`lockInterruptibly` and `Thread.interrupt`': [
    async () => {
      const mutex = new Mutex();
      mutex.lock();
      const signal = AbortSignal.timeout(5);
      const promise = await outcome(() => mutex.lockAsync({ signal }));
      const other = elsewhere(({ Mutex, CancelledError, data }) => {
        const mutex = Mutex.from(data);
        try {
          mutex.lock();
        } catch (error) {
          return error instanceof CancelledError;
        }
      }, mutex.handle);
      while (mutex.waiting === 0) await pause(1);
      mutex.cancelAll();
      return [promise, await other.answer];
    },
    ['refused: TimeoutError', true],
  ],
  '`lock.newCondition()`': [
    async () => {
      const mutex = new Mutex();
      const condition = new Condition(mutex);
      const order: number[] = [];
      const wait = (n: number) =>
        mutex.runExclusive(async () => {
          await condition.waitAsync();
          order.push(n);
        });
      const all = [1, 2, 3].map(wait);
      while (condition.waiting < 3) await pause(1);
      for (let i = 0; i < 3; i++) await mutex.runExclusive(() => condition.notify());
      await Promise.all(all);
      return order;
    },
    [1, 2, 3],
  ],
  '`condition.awaitUninterruptibly`, `signal`, `signalAll`': [
    async () => {
      const mutex = new Mutex();
      const condition = new Condition(mutex);
      const shared = new Int32Array(new SharedArrayBuffer(4));
      const wait = ({ Mutex, Condition, data }: Inside<WaitsFor>) => {
        const [mutex, condition] = [Mutex.from(data.mutex), Condition.from(data.condition)];
        mutex.lock();
        if (data.loop) condition.waitFor(() => data.shared[0] === 1);
        else condition.wait();
        mutex.unlock();
        return data.shared[0];
      };
      const data = { mutex: mutex.handle, condition: condition.handle, shared, loop: true };
      const [one, two] = [elsewhere(wait, data), elsewhere(wait, { ...data, loop: false })];
      while (condition.waiting < 2) await pause(1);
      await mutex.runExclusive(() => condition.notifyAll());
      const first = await two.answer;
      await mutex.runExclusive(() => {
        shared[0] = 1;
        condition.notify();
      });
      return [first, await one.answer];
    },
    [0, 1],
  ],
  '`ReentrantReadWriteLock`': [
    async () => {
      const lock = new RwLock();
      const held = lock.update();
      const others = await elsewhere(({ RwLock, data }) => RwLock.from(data).tryLockRead(), lock.handle).answer;
      const written = held.upgrade();
      written.unlock();
      lock.lockRead();
      return [others, await outcome(() => lock.lockWrite())];
    },
    [true, 'refused: SelfDeadlockError'],
  ],
  '`StampedLock.tryOptimisticRead`, `validate`': [
    () => {
      const lock = new RwLock();
      const stamp = lock.stamp();
      const before = lock.valid(stamp);
      lock.lockWrite();
      lock.unlockWrite();
      return [before, lock.valid(stamp)];
    },
    [true, false],
  ],
  '`CountDownLatch`': [
    () => {
      const latch = new Latch(1);
      const early = latch.wait({ timeout: 5 });
      latch.countDown();
      return [early, latch.wait()];
    },
    [false, true],
  ],
  '`CyclicBarrier`': [
    async () => {
      const barrier = new Barrier(2);
      const both = await Promise.all([barrier.arriveAndWaitAsync(), barrier.arriveAndWaitAsync()]);
      await outcome(() => barrier.arriveAndWait({ timeout: 5 }));
      return [both.length, barrier.broken, await outcome(() => barrier.arriveAndWait()), 'reset' in barrier];
    },
    [2, true, 'refused: BrokenBarrierError', false],
  ],
  '`Phaser`': [
    async () => {
      const group = new WaitGroup();
      group.add(1);
      group.add(1); // one more party
      group.done(2);
      return [await group.waitAsync(), new Barrier(3).parties];
    },
    [true, 3],
  ],
  '`ArrayBlockingQueue`, `LinkedBlockingQueue` with a capacity': [
    async () => {
      const queue = new Channel({ codec: number, capacity: 2 });
      const other = elsewhere(({ Channel, number, data }) => {
        for (const n of [1, 2, 3]) Channel.from(data, number).send(n);
      }, queue.handle);
      const got = [queue.receive(), queue.receive(), queue.receive()];
      await other.answer;
      return got;
    },
    [1, 2, 3],
  ],
  '`SynchronousQueue`': [
    async () => {
      const queue = new Channel({ codec: number, capacity: 1 });
      return [await waits(queue.sendAsync(1)), await waits(queue.sendAsync(2))];
    },
    [undefined, 'waits'],
  ],
  '`ExecutorService`, `Future`': [() => mostAtOnce((f) => new Semaphore(2).limit(f), 5), 2],
  '`ConcurrentHashMap` with a lock for each key': [
    async () => {
      const accounts = new KeyedMutex();
      const run = (key: string) => (f: (n: number) => Promise<number>) => (n: number) =>
        accounts.runExclusive(key + (key === 'each' ? n : ''), () => f(n));
      return [await mostAtOnce(run('one'), 3), await mostAtOnce(run('each'), 3)];
    },
    [1, 3],
  ],
  '`ThreadLocal`, `AtomicInteger`': [
    async () => {
      const shared = new Int32Array(new SharedArrayBuffer(4));
      const count = ({ data }: { data: Int32Array }) => {
        const own = [0]; // a variable is of one thread
        own[0]++;
        Atomics.add(data, 0, 1);
        return own[0];
      };
      return [await elsewhere(count, shared).answer, await elsewhere(count, shared).answer, Atomics.load(shared, 0)];
    },
    [1, 1, 2],
  ],
  'try-with-resources': [
    () => {
      const mutex = new Mutex();
      const inside = () => {
        using _ = mutex.hold();
        return mutex.held;
      };
      return [inside(), mutex.locked];
    },
    [true, false],
  ],
  'a thread dies with the lock': [
    async () => {
      const [mutex, semaphore] = [new Mutex(), new Semaphore(1, { robust: true })];
      const other = elsewhere(
        ({ Mutex, Semaphore, data, tell }) => {
          Mutex.from(data.mutex).lock();
          Semaphore.from(data.semaphore).acquire();
          tell('has both');
          return new Promise(() => setInterval(() => {}, 1e6));
        },
        { mutex: mutex.handle, semaphore: semaphore.handle },
      );
      await other.told;
      await other.die();
      return [(await mutex.holdAsync()).ownerDied, (await semaphore.holdAsync()).ownerDied];
    },
    [true, true],
  ],
  '`ThreadMXBean.findDeadlockedThreads`': [
    async () => {
      const handles = [new Mutex(), new Mutex()].map(({ handle }) => handle);
      const met = new Int32Array(new SharedArrayBuffer(4));
      const cross = ({ Mutex, data }: Inside<Crosses>) => {
        Mutex.from(data.handles[data.first]).lock();
        Atomics.add(data.met, 0, 1);
        while (Atomics.load(data.met, 0) < 2);
        Mutex.from(data.handles[1 - data.first]).lock();
      };
      const both = [0, 1].map((first) => elsewhere(cross, { handles, met, first }));
      while (deadlocks().certain.length === 0) await pause(5);
      const { length } = deadlocks().certain[0].edges;
      await Promise.all(both.map(({ die }) => die()));
      return length;
    },
    2,
  ],
});
