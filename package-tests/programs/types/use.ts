import { Arena, HeldPermits, Mutex, Semaphore, type SemaphoreHandle } from 'taketurns';
import { CapacitorLock, type Lock, TicketSemaphore, TtsLock, TwaSemaphore } from 'taketurns/algorithms';
import { AtomicSemaphore, atomicTryWait, BinarySemaphore, CountingSemaphore, Notify } from 'taketurns/p0514';

const pool: Semaphore = new Semaphore(2, { max: 2 });
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
// @ts-expect-error the first ticket is chosen by tests alone
new Semaphore(1, { firstTicket: 1n });
// @ts-expect-error the core is no part of the interface
pool.core;
