import { Arena, HeldPermits, Mutex, Semaphore, type SemaphoreHandle } from 'taketurns';
import { CapacitorLock, type Lock, TicketSemaphore, TtsLock, TwaSemaphore } from 'taketurns/algorithms';
import { Channel, type ChannelHandle, number, record } from 'taketurns/channel';
import { type HeldKeys, type Key, KeyedMutex, KeyedSemaphore, RateLimiter } from 'taketurns/keyed';
import { metrics, startMetrics } from 'taketurns/metrics';
import { AtomicSemaphore, atomicTryWait, BinarySemaphore, CountingSemaphore, Notify } from 'taketurns/p0514';
import { report } from 'taketurns/report';
import 'taketurns/share';
import { Condition, RwLock } from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';

const pool: Semaphore = new Semaphore(2);
const handle: SemaphoreHandle = pool.handle;
using held: HeldPermits = Semaphore.from(handle).hold();
export const free: number = pool.available - held.permits;
export const threads: number = Arena.default.threads;
new CountingSemaphore().signal(2, Notify.one);
export const changed: boolean = atomicTryWait(new Float64Array(new SharedArrayBuffer(8)), 0, 1);
export const third = [new BinarySemaphore(1), new AtomicSemaphore()];
export const others = [new TicketSemaphore(1), new TwaSemaphore(1, { threshold: 0 })];
export const lock: Lock = new CapacitorLock(new TtsLock());
export const answer: Promise<number> = Mutex.open('types').runExclusive(() => 42);
// @ts-expect-error permits are a number
new Semaphore('2');

/** A class of the user. */
class Pool extends Semaphore {
  constructor() {
    super(4, { robust: true });
  }
  override dispose(): void {
    this.release(this.waiting);
    super.dispose();
  }
}
export const pools: Semaphore[] = [new Pool(), pool];
// @ts-expect-error only hold makes guards
new HeldPermits(pool, 1, false);
// @ts-expect-error waiters measure themselves how long they poll
new Semaphore(1, { spin: 0 });
// @ts-expect-error the size of the waiting array is for tests and measurements
new Arena({ slots: 1 });
// @ts-expect-error the core is no part of the interface
pool.core;

const numbers: Channel<number> = new Channel({ codec: number });
export const channel: ChannelHandle = numbers.handle;
export const rows = new Channel({ codec: record({ id: 'u32', name: 'text20' }) });
export const more = [new RwLock(), Condition, metrics, startMetrics, report];
const keys: Key[] = ['a', 1];
export const inAllThreads: HeldKeys = KeyedMutex.open('types').holdAll(keys, { timeout: 5 });
export const hosts = KeyedSemaphore.from(new KeyedSemaphore(2).handle).hold('host', 2, { timeout: 5 });
export const saves: (id: string, n: number) => Promise<string> = new KeyedMutex().limit(
  (id: string, n: number) => `${id}${n}`,
);
RateLimiter.open('types', 10, 1000, { burst: 2 }).take(2, { timeout: 5 });
// @ts-expect-error a key is a string or a number
new KeyedMutex().hold({});
// @ts-expect-error a KeyedMutex has one permit a key
new KeyedMutex({ permits: 2 });

const slots = new tasks.Semaphore(2, { max: 2 });
export const doubled: (n: number) => Promise<number> = slots.limit(async (n: number) => 2 * n);
export const saved: (id: string, n: number) => Promise<string> = new tasks.KeyedMutex().limit(
  (id: string, n: number) => `${id}${n}`,
);
export const rate = new tasks.RateLimiter(10, 1000, { burst: 2 });
export const both: Promise<tasks.HeldKeys> = new tasks.KeyedSemaphore(2).holdAllAsync(['a', 1], { timeout: 5 });
// Only the methods that hold make guards.
// @ts-expect-error
new tasks.HeldPermits(slots, 1);
// @ts-expect-error
new tasks.HeldLock(slots, 1);
// @ts-expect-error
new tasks.HeldKeys([]);
// @ts-expect-error a task cannot block
slots.acquire();
// @ts-expect-error the object has no handle
slots.handle;
// @ts-expect-error the queue is no part of the interface
slots.queue;
