/**
 * The lease of a session, by the clock of this process. The lease tells two things. script/sessions.lua says why both
 * are right.
 *
 * - Until when the process may hold what it holds: until 0.85 of a lease after it sent the last beat that was answered.
 *   A process beats every tenth of a lease (beats.ts). So an outage of the server may last for 0.7 of a lease, and
 *   another 0.05 is left to reach the server again: for a pause (drivers/answer-times.ts), and some round trips.
 * - Which sessions are dead. The server gives each sign of life a ticket, and tells the process this ticket. When 0.9
 *   of a lease has passed since the process heard of a ticket, every session that has given no sign of life since that
 *   ticket is dead.
 */
import type { Timer } from '../runtime/clock.js';
import type { Sign } from '../script/wire.js';
import type { Surroundings } from './surroundings.js';

/** After this part of a lease without an answered beat, the session gives up all that it holds. */
export const LOST_AFTER = 0.85;

/** A session is dead when it was silent for this part of a lease, by the clock of the process that watches it. */
export const DEAD_AFTER = 0.9;

export class Lease {
  readonly #around: Surroundings;
  readonly #partition: number;
  readonly #over: () => void;
  /** The signs of life that the server has told, and when each sign is old enough to tell which sessions are dead. */
  #told: { readonly sign: Sign; readonly due: number; readonly until: number }[] = [];
  /** When the last call that renewed the lease was sent. */
  renewedAt = 0;
  /** When the lease is lost; `Infinity` while there is no lease, and if the driver knows deaths. */
  deadline = Infinity;
  isRunning = false;
  /** Is called when the lease was renewed, with how many milliseconds are left of it. */
  renewed: (left: number) => void = () => {};
  #timer: Timer;

  /** over: is called when the lease is over, and ends it. */
  constructor(around: Surroundings, partition: number, over: () => void) {
    this.#around = around;
    this.#partition = partition;
    this.#over = over;
  }

  /** Is called when a call that was sent at this time was answered. An earlier call may be answered later. */
  renew(sentAt: number): void {
    if (sentAt < this.renewedAt) return;
    this.renewedAt = sentAt;
    this.isRunning = true;
    if (this.#around.driver.knowsDeaths) return;
    this.deadline = sentAt + LOST_AFTER * this.#around.lease;
    this.renewed(this.deadline - this.#around.clock.now());
    this.#wait();
  }

  /** Looks at the clock. If the lease is over, and no thread that beats has renewed it, calls `over`. */
  look(): void {
    const { clock, lease, heartbeat } = this.#around;
    const now = clock.now();
    if (now < this.deadline) return;
    const beatenAt = heartbeat?.lastOf(this.#partition) ?? 0;
    if (beatenAt + LOST_AFTER * lease > now) this.renew(beatenAt);
    else this.#over();
  }

  /** Sets the timer for the end of the lease. */
  #wait(): void {
    const { clock } = this.#around;
    clock.stop(this.#timer);
    if (this.deadline === Infinity) return;
    const look = (): void => {
      this.look();
      // A timer of Node may fire too early.
      this.#wait();
    };
    this.#timer = clock.after(Math.max(1, this.deadline - clock.now()), look, false);
  }

  end(): void {
    this.isRunning = false;
    this.deadline = Infinity;
    this.#around.clock.stop(this.#timer);
  }

  /**
   * Notes a sign of life that the server has told: the last one of this session, or the sign of life after which this
   * process must watch for silent sessions.
   */
  tell(sign: Sign, lease = this.#around.lease): void {
    const now = this.#around.clock.now();
    this.#told.push({ sign, due: now + DEAD_AFTER * lease, until: now + lease });
  }

  /** When the next of the signs that were told is old enough; `Infinity` if there is none. */
  get watchedAt(): number {
    const now = this.#around.clock.now();
    return this.#told.find(({ due }) => due > now)?.due ?? Infinity;
  }

  /** When the last sign that was told is old enough. */
  get watchesUntil(): number {
    return this.#told.at(-1)?.due ?? 0;
  }

  /** The last sign that is old enough. A session that has given no sign since then is dead. */
  get seen(): Sign | undefined {
    return this.#lastDue?.sign;
  }

  /**
   * As `seen`, if the process was told of the sign at most a lease ago. Then each session that is left without the dead
   * ones has given a sign within this lease, so a process that enters need not watch. From an older sign nothing
   * follows: a session that came later may have died long ago, too.
   */
  get seenLately(): Sign | undefined {
    const last = this.#lastDue;
    return last && this.#around.clock.now() <= last.until ? last.sign : undefined;
  }

  get #lastDue() {
    const now = this.#around.clock.now();
    while ((this.#told[1]?.due ?? Infinity) <= now) this.#told.shift();
    const [first] = this.#told;
    return first && first.due <= now ? first : undefined;
  }
}
