/**
 * n permits and those who wait for them: what a Semaphore, a Mutex and each key of a keyed lock consist of.
 *
 *     balance   the permits that are free, less what the waiting promises ask for
 *
 *     balance >= n      acquire(n) takes them at once: nobody waits
 *     balance < n       the promise waits, and the balance counts its n permits as taken already
 *     give(n)           balance + n; the first of the queue goes on as long as the free permits (balance + width of the
 *                       queue) suffice for it
 *
 * Invariant: the first of the queue asks for more than is free. So while somebody waits the balance is below 0, and the
 * common calls need to look at the balance alone.
 */
import type { Limits } from './limits.js';
import { Queue } from './queue.js';
import { DONE } from './task-object.js';

export class Permits extends Queue {
  balance: number;

  /** @param wanted says, for a TimeoutError, what a waiter for so many permits has waited for. */
  constructor(permits: number, wanted: (width: number) => string) {
    super(wanted, (width) => this.give(width));
    this.balance = permits;
  }

  /** Takes permits if they are free and nobody waits. */
  take(permits: number): boolean {
    const isFree = this.balance >= permits;
    if (isFree) this.balance -= permits;
    return isFree;
  }

  /** Takes permits: the promise is fulfilled when it is its turn. */
  acquire(permits: number, limits?: Limits): Promise<void> {
    const isFree = this.balance >= permits;
    this.balance -= permits;
    return isFree ? DONE : this.wait(permits, limits);
  }

  /** So many permits are free again. */
  give(permits: number): void {
    this.balance += permits;
    for (let { first } = this; first && this.balance + this.width >= first.width; first = this.first) this.settle();
  }

  /** Takes permits away, in the turn of a request that is made now. */
  reduce(permits: number): void {
    this.balance -= permits;
    if (!this.last) return;
    this.last.debt += permits;
    this.width += permits;
  }
}
