/**
 * A request of this process for permits of an object, from the moment when somebody wants the permits until the server
 * has them back. The table of requests (request-table.ts) has each request by its number, `rid`. The numbers of a
 * session count up, and none is used twice.
 *
 *     asked -> waiting -> held -> returning -> over
 *        \        |  \
 *         \       |   passed
 *          +---> leaving -> held, or over       each state -> over: by an error, or because the grant is lost
 *
 *     asked       the operation `A` or `T` is sent, or will be when the session is open; no answer has come
 *     waiting     the server has answered that the request stands in its queue
 *     held        the process has the permits; `guard` is the guard that holds them
 *     passed      the mutex was passed on to the request within this process, without the server
 *     leaving     the time-out has passed: `C` is sent, or will be when the session is open, and its answer tells
 *                 whether the request holds after all
 *     returning   all permits go back: `D` is sent
 *     over        nobody here wants the request
 *
 * Invariant: if a request is over, and the server still has permits or a place in its queue for the request, these go
 * back. Either the answer to an operation under way shows that the server has them, and the process gives them back
 * (`Requests.#undo`). Or the server drops them at the next `S`, because `S` does not list the request.
 */

import { callEach } from '../../../src/common/each.js';
import { hex, type Note } from '../script/wire.js';
import type { Queue, Waiter } from './queue.js';
import type { SharedObject } from './shared-object.js';

export type RequestState = 'asked' | 'waiting' | 'held' | 'passed' | 'leaving' | 'returning' | 'over';

/** What the requests need of a guard. objects/hold.ts has the classes of guards. */
export interface Guard {
  /**
   * The request under which the server counts the permits. If a mutex was passed on within the process, this is the
   * request that got the mutex from the server, and the first guard of the mutex belongs to that request.
   */
  readonly base: Request;
  /** The permits that the guard still holds. */
  left: number;
  /** When the permits were granted, by `Surroundings.stamp`. */
  stamp: number;
  /** Tells the guard that its lease is lost. */
  lose(why: string): void;
}

/** What a guard needs of the session: grants.ts has it. */
export interface Keeper {
  /** The name of the session. */
  readonly sid: string;
  /** Ends all guards if the lease may have ended since the session last looked. */
  look(): void;
  /** Gives permits of a guard back. Resolves when the server has the permits, or has forgotten them. Never rejects. */
  giveBack(guard: Guard, permits: number): Promise<void>;
}

/** Tells the caller what happens to its request. */
export interface Caller {
  /**
   * The request holds. base: the request under which the server counts the permits. pass: how often the mutex was
   * passed on within this process since the server granted `base`. deaths: how many holders have died since the last
   * grant before this one. Returns the guard.
   */
  granted(base: Request, permits: number, pass: number, deaths: number): Guard;
  /** The request has failed. Without an error, its time-out has passed. */
  failed(error: unknown): void;
}

export class Request implements Waiter {
  readonly object: SharedObject;
  /** The number of the request as ten hexadecimal digits, as the script takes it. */
  readonly rid: string;
  readonly permits: number;
  /** Whether the request may wait in the queue (`A`), or holds at once or not at all (`T`). */
  readonly queues: boolean;
  readonly caller: Caller;

  /** The queue in which the request waits, and its neighbours there. `Queue` keeps these. */
  queue: Queue | undefined;
  before: Waiter | undefined;
  after: Waiter | undefined;
  #state: RequestState = 'asked';
  /** The operation that asks for the permits, while it is in a batch that has not been sent. */
  unsent: { withdrawn: boolean } | undefined;
  /** The ticket with which the request holds: 14 hexadecimal digits. */
  ticket = '';
  /** When the request was made, by `Surroundings.stamp`. */
  stamp = 0;
  /** Whether the server has ever said that the request stands in its queue. After a loss it may say so again. */
  hasWaited = false;
  /** The number of the message that granted the request; 0 if an answer granted it. */
  heardAt = 0;
  /** The permits that the server counts for the request once all that was sent has arrived. */
  kept = 0;
  /** The permits that the request is to keep. If `kept` is larger, the difference must be given back. */
  wanted = 0;
  /** The deaths of which the server has told the request. */
  deaths = 0;
  /**
   * The guard that holds the permits now: the guard of this request or, for a mutex that was passed on within this
   * process, the guard that has it now.
   */
  guard: Guard | undefined;
  /** What `D` says of the deaths of which the server has told the request. */
  note: Note = 'c';
  /** Of a mutex: how often this process may pass it on before it must give it back. */
  lent = 0;
  /** Of a mutex: how often this process has passed it on. */
  passes = 0;
  /** Of a mutex: the numbers of the requests in the server's queue to which it was passed on. */
  served: string[] = [];
  /** Whether a beat has ever named the request to the server as held. */
  marked = false;
  /** Whether a beat has named the request to the server as held since the last loss of the connection. */
  isMarked = false;
  /** The functions to call when the server has what the request gave back, or has forgotten the request. */
  readonly settled = new Set<() => void>();

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

  /** Whether the request neither holds yet nor was given up. */
  get isPending(): boolean {
    return this.#state === 'asked' || this.#state === 'waiting';
  }

  /** Takes the operation that asks for the permits out of the batch. Returns whether it was in the batch. */
  withdraw(): boolean {
    if (this.unsent) this.unsent.withdrawn = true;
    return this.unsent !== undefined;
  }

  /**
   * Tells callers who gave permits back, by default all, that the server has the permits, or that there is nothing more
   * to wait for.
   */
  settle(callers: Iterable<() => void> = this.settled): void {
    callEach(
      [...callers].map((resolve) => () => {
        if (!this.settled.has(resolve)) return;
        resolve();
        this.settled.delete(resolve);
      }),
    );
  }
}
