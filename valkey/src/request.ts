/**
 * A request of this process for permits of an object, from the moment that somebody wants them until the server has
 * them back. requests.ts finds it by its number, `rid`; numbers count up in the process and are never used twice.
 *
 *     asked -> waiting -> held -> returning -> over        asked, waiting: `A` is sent; nothing, or Q, was answered
 *        \        |  \      |                              held: the permits are this process's; `guard` says whose
 *         \       |   passed                               passed: the mutex was passed to it within this process
 *          +---> leaving -> over                           leaving: `C` is sent; returning: `D` is sent
 *
 * `over` means that nobody here wants it. What the server still has of it is undone when it answers, or is dropped by the
 * next `S`.
 */
import type { Line, Waiter } from './line.js';
import type { SharedObject } from './object.js';
import { hex, type Note } from './wire.js';

export type RequestState = 'asked' | 'waiting' | 'held' | 'passed' | 'leaving' | 'returning' | 'over';

/** The guard of what was granted, as the requests know it; hold.ts has its classes. */
export interface Guard {
  /** The permits that it still holds. */
  left: number;
  /** When it was granted, by `Surroundings.stamp`. */
  stamp: number;
  /** Its lease is lost. */
  lose(why: string): void;
}

/** What happens to a request, told to its caller. */
export interface Caller {
  /**
   * The request holds. base: the request whose record the server has. pass: how often the mutex was passed on within this
   * process before. deaths: of owners that nobody has repaired. Returns the guard.
   */
  granted(base: Request, permits: number, pass: number, deaths: number): Guard;
  failed(error: unknown): void;
}

export class Request implements Waiter {
  readonly object: SharedObject;
  /** The number as ten hexadecimal digits, as the script takes it. */
  readonly rid: string;
  readonly permits: number;
  /** Whether it waits (`A`) or is answered at once (`T`). */
  readonly queues: boolean;
  readonly caller: Caller;

  /** Where it waits, and between whom; `Line` keeps these. */
  line: Line | undefined;
  before: Waiter | undefined;
  after: Waiter | undefined;
  #state: RequestState = 'asked';
  /** Its operation in a batch that has not been sent. */
  unsent: { withdrawn: boolean } | undefined;
  /** The ticket with which it holds: 14 hexadecimal digits. */
  ticket = '';
  /** When it was made, by `Surroundings.stamp`. */
  stamp = 0;
  /** The number of the message that granted it; 0 if an answer did. */
  heardAt = 0;
  /** The permits that the server counts for it once all that was sent has arrived. */
  kept = 0;
  /** The permits that it shall keep. */
  wanted = 0;
  /** The deaths of which it has been told. */
  deaths = 0;
  /** The guard that it serves now: its own, or in a mutex the one that the lock was passed to. */
  guard: Guard | undefined;
  /** What `D` says of the deaths that it was told. */
  note: Note = 'c';
  /** In a mutex: how often it may be, and has been, passed on; which requests in the server's queue were served so. */
  lent = 0;
  passes = 0;
  served: string[] = [];
  /** Whether a beat has named it to the server as held: at any time, and since the connection was lost. */
  marked = false;
  isMarked = false;
  /** Called when the server has what it gave back, or has forgotten it. */
  settled: (() => void)[] = [];

  constructor(object: SharedObject, number: number, permits: number, queues: boolean, caller: Caller) {
    this.object = object;
    this.rid = hex(number, 10);
    this.permits = permits;
    this.queues = queues;
    this.caller = caller;
  }

  get state(): RequestState {
    return this.#state;
  }

  set state(state: RequestState) {
    if (this.#state === 'waiting') this.object.queued--;
    this.#state = state;
    if (state === 'waiting') this.object.queued++;
  }

  /** Takes its operation out of the batch. Returns whether it was in it. */
  withdraw(): boolean {
    if (this.unsent) this.unsent.withdrawn = true;
    return this.unsent !== undefined;
  }

  /** Tells those who wait for the server to have what was given back. */
  settle(): void {
    for (const resolve of this.settled.splice(0)) resolve();
  }
}
