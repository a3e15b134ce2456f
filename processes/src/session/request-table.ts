/**
 * The table of the requests that a session answers for, by their numbers (`rid`).
 *
 *     make -> add -> in the table --- end: nobody here wants the request, and no answer to it is awaited ---> out
 *              ^                  --- drop: the mutex was passed on to the request (grants.ts) ------------>  |
 *              +------ the server has granted a request that its caller has given up (requests.ts) -----------+
 *
 * Two operations name requests of the table to the server: `S` lists all of them, and `U` names some that are held.
 *
 * Invariant: once the server has answered all operations that `listings` returns, the server has no request of the
 * session that was made before and was not in the table. Each operation lists the requests of a range of numbers, and
 * the server drops all other requests of this range. The ranges leave no number out, and the last one ends with the
 * last number that was given. So the server drops no request that is made later.
 */

import * as wire from '../script/wire.js';
import { type Caller, Request } from './request.js';
import type { SharedObject } from './shared-object.js';
import type { Surroundings } from './surroundings.js';

/** An operation that asks for the server's state of requests, and the requests that it lists. */
export type Listing = [args: wire.Arguments, listed: Request[]];

/** How many requests one operation asks for at most, so that it does not take the server long. */
const MOST_LISTED = 128;

/** How many requests a beat names at most. */
const MOST_MARKED = 64;

export class RequestTable {
  readonly #around: Surroundings;
  readonly #requests = new Map<string, Request>();
  #lastNumber = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  get size(): number {
    return this.#requests.size;
  }

  get(rid: string): Request | undefined {
    return this.#requests.get(rid);
  }

  /** A copy of the table, for a loop that ends requests or adds some. */
  all(): Request[] {
    return [...this.#requests.values()];
  }

  /** Makes a request with the next number. The request is not in the table yet. */
  make(object: SharedObject, permits: number, queues: boolean, caller: Caller): Request {
    return new Request(object, ++this.#lastNumber, permits, queues, caller);
  }

  add(request: Request): void {
    this.#requests.set(request.rid, request);
  }

  /** Takes a request out of the table to which the mutex was passed on. */
  drop(request: Request): void {
    this.#requests.delete(request.rid);
  }

  /** The request is over: nobody here wants it, and no answer to it is awaited. */
  end(request: Request): void {
    request.state = 'over';
    request.object.waiting.delete(request);
    this.#requests.delete(request.rid);
    request.settle();
    if (this.#requests.size === 0) this.#around.keepAlive();
  }

  /** Ends a request, and tells its caller. Without an error the caller hears that its time-out has passed. */
  fail(request: Request, error: unknown): void {
    if (request.state === 'over') return;
    this.end(request);
    request.caller.failed(error);
  }

  /**
   * The operation that goes with a beat: it names some of the requests that are held and that no beat has named since
   * the last loss. The oldest come first.
   */
  marks(): wire.Arguments {
    const rids: string[] = [];
    for (const request of this.#requests.values()) {
      if (rids.length === MOST_MARKED) break;
      if (request.state !== 'held' || request.isMarked) continue;
      request.marked = request.isMarked = true;
      rids.push(request.rid);
    }
    return rids.length > 0 ? wire.mark(rids) : rids;
  }

  /** The operations that together ask for the server's state of all requests. None of them takes the server long. */
  listings(): Listing[] {
    const all = this.all().sort((a, b) => (a.rid < b.rid ? -1 : 1));
    const listings: Listing[] = [];
    let from = wire.START;
    do {
      const listed = all.splice(0, MOST_LISTED);
      const rids = listed.map(({ rid }) => rid);
      const upTo = all.length > 0 ? (rids.at(-1) as string) : wire.hex(this.#lastNumber, 10);
      listings.push([wire.list(from, upTo, rids), listed]);
      from = wire.behind(upTo);
    } while (all.length > 0);
    return listings;
  }

  /** The operations that were sent may not have arrived. */
  lost(): void {
    for (const request of this.#requests.values()) {
      request.unsent = undefined;
      request.isMarked = false;
    }
  }
}
