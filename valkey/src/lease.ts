/**
 * The lease of a session by the clock of this process. It tells until when the process may hold what it holds, and
 * which tickets are old enough to tell who is dead. turn/sessions.lua has the argument.
 */
import type { Timer } from './clock.js';
import type { Surroundings } from './surroundings.js';
import type { Sign } from './wire.js';

/** After this part of a lease without an answered beat, the session loses all that is held. */
export const LOST_AFTER = 0.7;

/**
 * For this part of a lease, as the watching process has lived through it, a session must be silent to count as dead.
 */
const DEAD_AFTER = 0.75;

export class Lease {
  readonly #around: Surroundings;
  readonly #look: () => void;
  /** Signs of life that the server has told, and when each sign is old enough to tell who is dead. */
  #told: { readonly sign: Sign; readonly due: number }[] = [];
  /** When the last call that renewed the lease was sent. */
  renewedAt = 0;
  /** When the lease is lost; `Infinity` while there is no lease. */
  deadline = Infinity;
  #timer: Timer;

  /** look: is called when the lease may be over. It asks the clock, and ends or renews the lease. */
  constructor(around: Surroundings, look: () => void) {
    this.#around = around;
    this.#look = look;
  }

  get isRunning(): boolean {
    return this.deadline !== Infinity;
  }

  /** A call that was sent at that time was answered. */
  renew(sentAt: number): void {
    this.renewedAt = sentAt;
    this.deadline = sentAt + LOST_AFTER * this.#around.lease;
    this.#wait();
  }

  #wait(): void {
    const { clock } = this.#around;
    clock.stop(this.#timer);
    if (!this.isRunning) return;
    const look = (): void => {
      this.#look();
      // A timer of Node may be early.
      this.#wait();
    };
    this.#timer = clock.after(Math.max(1, this.deadline - clock.now()), look, false);
  }

  end(): void {
    this.deadline = Infinity;
    this.#around.clock.stop(this.#timer);
  }

  /** The server has told a sign of life, of this session or to one that must watch. */
  tell(sign: Sign, lease = this.#around.lease): void {
    this.#told.push({ sign, due: this.#around.clock.now() + DEAD_AFTER * lease });
  }

  /** When all signs that were told are old enough. */
  get watchesUntil(): number {
    return this.#told.at(-1)?.due ?? 0;
  }

  /** The last sign that is old enough: a session that has given no sign since then is dead. */
  get seen(): Sign | undefined {
    const now = this.#around.clock.now();
    while ((this.#told[1]?.due ?? Infinity) <= now) this.#told.shift();
    const [first] = this.#told;
    return first && first.due <= now ? first.sign : undefined;
  }
}
