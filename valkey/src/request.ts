/**
 * A request of this process for permits of an object, from the moment that somebody wants them until the server has
 * them back. requests.ts finds it by its number, `rid`; numbers count up in the process and are never used twice.
 *
 *     asked -> waiting -> held -> returning -> over        asked, waiting: `A` is sent; nothing, or Q, was answered
 *        \        |  \      |                              held: the permits are this process's; `guard` says whose
 *         \       |   passed                               passed: the mutex was passed to it within this process
 *          +---> leaving -> over                           leaving: `C` is sent; returning: `D` is sent
 *
 * `over` means that nobody here wants the request. If the server still has something of it, that is undone when the
 * server answers, or is dropped by the next `S`.
 */
import type { Line, Waiter } from './line.js';
import type { SharedObject } from './object.js';
import { hex, type Note } from './wire.js';

export type RequestState = 'asked' | 'waiting' | 'held' | 'passed' | 'leaving' | 'returning' | 'over';

/** The guard of what was granted, as the requests know the guard. hold.ts has the classes of guards. */
export interface Guard {
  /** The permits that the guard still holds. */
  left: number;
  /** When it was granted, by `Surroundings.stamp`. */
  stamp: number;
  /** Tells the guard that its lease is lost. */
  lose(why: string): void;
}

/** Tells the caller what happens to its request. */
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
  /** The number of the request as ten hexadecimal digits, as the script takes it. */
  readonly rid: string;
  readonly permits: number;
  /** Whether the request waits (`A`) or is answered at once (`T`). */
  readonly queues: boolean;
  readonly caller: Caller;

  /** The line in which the request waits, and its neighbours there. `Line` keeps these. */
  line: Line | undefined;
  before: Waiter | undefined;
  after: Waiter | undefined;
  #state: RequestState = 'asked';
  /** The operation of the request in a batch that has not been sent. */
  unsent: { withdrawn: boolean } | undefined;
  /** The ticket with which the request holds: 14 hexadecimal digits. */
  ticket = '';
  /** When the request was made, by `Surroundings.stamp`. */
  stamp = 0;
  /** The number of the message that granted the request; 0 if an answer granted it. */
  heardAt = 0;
  /** The permits that the server counts for it once all that was sent has arrived. */
  kept = 0;
  /** The permits that the request shall keep. */
  wanted = 0;
  /** The deaths of which the request has been told. */
  deaths = 0;
  /** The guard that the request serves now: its own guard, or in a mutex the guard to which the lock was passed. */
  guard: Guard | undefined;
  /** What `D` says of the deaths of which the request was told. */
  note: Note = 'c';
  /** In a mutex: how often it may be, and has been, passed on; which requests in the server's queue were served so. */
  lent = 0;
  passes = 0;
  served: string[] = [];
  /** Whether a beat has named the request to the server as held: at any time, and since the connection was lost. */
  marked = false;
  isMarked = false;
  /** The functions to call when the server has what the request gave back, or has forgotten the request. */
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

  /** Takes the operation of the request out of the batch. Returns whether it was in the batch. */
  withdraw(): boolean {
    if (this.unsent) this.unsent.withdrawn = true;
    return this.unsent !== undefined;
  }

  /** Tells those who wait until the server has what was given back. */
  settle(): void {
    for (const resolve of this.settled.splice(0)) resolve();
  }
}
