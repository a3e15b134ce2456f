/**
 * The objects and requests of a session: what becomes of each request, from the moment that somebody asks until the
 * server has its permits back. request.ts draws the states. wire.ts lists the operations, which have letters.
 *
 * Why nothing is lost: a request enters the table before the session sends it. It stays there until the server has its
 * permits back, the server will not serve it, or its caller gives it up. If the server grants a request that its caller
 * has given up, the request enters the table again, and its permits go back.
 *
 * After a loss the session does not repeat the operations of requests. It sends the operation `S`, which lists all
 * requests in the table, and the server answers with its state of each. `settle` then compares these states with what
 * the process wants of each request. Requests that the process no longer wants are not in the list, so the server drops
 * them.
 */
import { LeaseLostError } from './errors.js';
import type { Held, Keeper } from './hold.js';
import { type SharedObject, whyNot } from './object.js';
import { Objects } from './objects.js';
import type { Sender } from './operation.js';
import { type Caller, Request } from './request.js';
import type { Surroundings } from './surroundings.js';
import { eventsHandled, soon } from './ticks.js';
import * as wire from './wire.js';

/** An operation that asks for the server's state of requests, and the requests that it lists. */
export type Listing = [args: wire.Arguments, listed: Request[]];

/** How many requests one operation asks for at most, so that it does not take the server long. */
const MOST_LISTED = 128;

/** How many requests a beat names at most. */
const MOST_MARKED = 64;

const REVOKED = 'it was revoked';

export class Requests implements Keeper {
  readonly objects: Objects;
  readonly #sender: Sender;
  readonly #around: Surroundings;
  /** The table: the requests by their numbers (`rid`). */
  readonly #requests = new Map<string, Request>();
  #lastNumber = 0;
  /** When the last request ended. */
  usedAt = 0;
  /**
   * The largest ticket that the server has told. The server learns of it with `O`, and gives no smaller ticket again.
   */
  lastTicket = '0';
  /** The error of each further request, once `stop` was called. */
  #stopped: Error | undefined;

  constructor(sender: Sender) {
    this.objects = new Objects(sender);
    this.#sender = sender;
    this.#around = sender.around;
  }

  get size(): number {
    return this.#requests.size;
  }

  get sid(): string {
    return this.#sender.sid;
  }

  look(): void {
    this.#sender.look();
  }

  // Asking ----------------------------------------------------------------------------------------------------------

  /** Asks for permits. The caller is told what becomes of the request. */
  ask(object: SharedObject, permits: number, queues: boolean, caller: Caller): Request {
    const request = new Request(object, ++this.#lastNumber, permits, queues, caller);
    const failure = object.broken ?? this.#sender.fatal ?? this.#stopped;
    if (failure) {
      request.state = 'over';
      caller.failed(failure);
      return request;
    }
    request.stamp = this.#around.stamp();
    this.#requests.set(request.rid, request);
    if (queues) object.waiting.add(request);
    if (this.#requests.size === 1) this.#around.keepAlive();
    if (this.#sender.isOpen) this.#sendAsk(request);
    else this.#sender.enter();
    return request;
  }

  /**
   * The caller gives a request up. `decides`: the server's answer decides whether the request holds after all, and
   * the caller is told. Otherwise the caller has gone already, and permits that are granted after all go back.
   * @returns whether the caller will be told.
   */
  giveUp(request: Request, decides: boolean): boolean {
    if (request.state !== 'asked' && request.state !== 'waiting') {
      // The caller has waited long enough for the answer. If the request holds after all, `#cancelled` gives its
      // permits back.
      if (!decides && request.state === 'leaving') this.#end(request);
      return false;
    }
    request.object.waiting.delete(request);
    const told = decides && this.#sender.isOpen && !request.unsent;
    if (this.#sender.isOpen && !request.withdraw()) this.#sendCancel(request);
    if (told) request.state = 'leaving';
    else this.#end(request);
    return told;
  }

  #sendAsk(request: Request): void {
    const { object, rid, permits, queues } = request;
    this.objects.openFirst(object);
    request.state = 'asked';
    request.unsent = this.#sender.send(
      wire.ask(queues, object.name, object.born, rid, permits),
      (answer) => this.#asked(request, wire.fateIn(answer)),
      (error) => this.#fail(request, error),
      request,
    );
  }

  /** Takes the answer to `A` or `T`. */
  #asked(request: Request, fate: wire.Fate): void {
    const { state, object, permits } = request;
    if (object.broken) {
      // The object of this name is not the object that the caller asks for.
      this.#fail(request, object.broken);
      this.#undo(request, fate);
    } else if (fate.is === wire.HELD) {
      this.#granted(request, fate);
    } else if (fate.is === wire.QUEUED) {
      if (state !== 'asked') return;
      request.state = 'waiting';
      this.#around.measure('wait', object, permits, request.stamp);
    } else if (fate.is === wire.REFUSED) {
      this.#fail(request, undefined);
    } else if (state === 'asked' || state === 'leaving' || fate.is === wire.TOO_MANY) {
      this.#failBy(request, fate);
    }
  }

  /** Fails a request that the server will not serve, for the reason that the fate tells. */
  #failBy(request: Request, fate: wire.Fate): void {
    this.#fail(request, whyNot(request.object, request.permits, fate));
  }

  /** The server says that a request holds. seq: the number of the message that says this; 0 if an answer does. */
  #granted(request: Request, { ticket, deaths, lent, waiting }: wire.Grant, seq = 0): void {
    const { state, object, permits } = request;
    if (state !== 'asked' && state !== 'waiting' && state !== 'leaving') return;
    object.waiting.delete(request);
    request.state = 'held';
    request.ticket = ticket;
    this.learn(ticket);
    request.heardAt = seq;
    request.kept = permits;
    request.wanted = permits;
    request.deaths = deaths;
    if (object.settings.kind === 'm') {
      request.lent = lent;
      object.turnEnds = this.#around.clock.now() + this.#around.turn;
      object.othersWait = waiting > object.queued;
    } else if (lent > 0) {
      object.resize(lent);
    }
    this.#hand(request, request, permits, 0, deaths);
  }

  /** Gives the caller of a request its guard. The guard gets the permits that the request `base` holds. */
  #hand({ object, permits, stamp, caller }: Request, base: Request, left: number, pass: number, deaths: number): void {
    const guard = caller.granted(base, left, pass, deaths);
    base.guard = guard;
    guard.stamp = this.#around.stamp();
    this.#around.measure('hold', object, permits, stamp);
  }

  /** The request is over: nobody here wants it, and no answer to it is awaited. */
  #end(request: Request): void {
    request.state = 'over';
    request.object.waiting.delete(request);
    this.#requests.delete(request.rid);
    request.settle();
    if (this.#requests.size === 0) {
      this.usedAt = this.#around.clock.now();
      this.#around.keepAlive();
    }
  }

  /** Ends a request, and tells its caller. Without an error the caller hears that its time-out has passed. */
  #fail(request: Request, error: unknown): void {
    if (request.state === 'over') return;
    this.#end(request);
    request.caller.failed(error);
  }

  /** Nobody here wants the request: what the server has granted goes back, and a queued request leaves the queue. */
  #undo(request: Request, fate: wire.Fate): void {
    if (fate.is === wire.QUEUED) this.#sendCancel(request);
    if (fate.is !== wire.HELD) return;
    request.ticket = fate.ticket;
    request.kept = request.permits;
    request.wanted = 0;
    request.note = 'r';
    request.deaths = 1;
    request.state = 'returning';
    this.#requests.set(request.rid, request);
    this.#sendBack(request);
  }

  #sendCancel(request: Request): void {
    const cancelled = (answer: unknown): void => this.#cancelled(request, wire.fateIn(answer));
    this.#sender.send(wire.cancel(request.rid), cancelled, undefined, request);
  }

  /** Takes the answer to `C`. */
  #cancelled(request: Request, fate: wire.Fate): void {
    if (request.state === 'leaving') {
      if (fate.is === wire.HELD) this.#granted(request, fate);
      else this.#fail(request, undefined);
    } else if (request.state === 'over') {
      if (fate.is === wire.HELD || fate.is === wire.QUEUED) this.#undo(request, fate);
      else this.#end(request);
    }
  }

  // Giving back -----------------------------------------------------------------------------------------------------

  giveBack(held: Held, permits: number): Promise<void> {
    this.look();
    const { base } = held;
    if (permits === 0 || held.left === 0 || base.state !== 'held') return Promise.resolve();
    held.left -= permits;
    this.#around.measure('release', base.object, permits, held.stamp);
    // If deaths are not repaired, the mutex goes back, and the server tells its next holder of the deaths.
    if (held.left === 0 && base.object.settings.kind === 'm' && base.note !== 'r') {
      if (this.#mayGoOn(base)) return this.#goOn(base);
      if (this.#passOn(base)) return Promise.resolve();
    }
    return this.#return(base, permits);
  }

  #return(base: Request, permits: number): Promise<void> {
    base.wanted -= permits;
    if (base.wanted === 0) base.state = 'returning';
    const settled = new Promise<void>((resolve) => base.settled.push(resolve));
    if (this.#sender.isOpen) this.#sendBack(base);
    return settled;
  }

  /**
   * Whether the process must read its messages before it passes the mutex on: its turn has lasted long enough, and it
   * knows of no other process that waits.
   */
  #mayGoOn({ object, passes, lent }: Request): boolean {
    if (object.othersWait || passes >= lent || object.waiting.size === 0) return false;
    return this.#around.clock.now() >= object.turnEnds;
  }

  /**
   * Reads the messages that have come, and then passes the mutex on within this process or gives it back. Without this
   * step the process could read no message: waiters that hand the mutex to each other by promises alone leave the event
   * loop no time.
   */
  async #goOn(base: Request): Promise<void> {
    await eventsHandled();
    const { object } = base;
    if (base.state !== 'held') return;
    if (!object.othersWait) object.turnEnds = this.#around.clock.now() + this.#around.turn;
    if (!this.#passOn(base)) await this.#return(base, 1);
  }

  /** Passes a mutex on to the next waiter of this process, if that is allowed. */
  #passOn(base: Request): boolean {
    const { object } = base;
    // The line has only requests, although its type allows other waiters.
    const next = object.waiting.first as Request | undefined;
    if (!next || base.passes >= base.lent) return false;
    if (object.othersWait && this.#around.clock.now() >= object.turnEnds) return false;
    object.waiting.delete(next);
    if (!next.withdraw()) base.served.push(next.rid);
    next.state = 'passed';
    this.#requests.delete(next.rid);
    base.passes++;
    this.#hand(next, base, 1, base.passes, 0);
    return true;
  }

  /** Sends `D`: gives back the permits that the server counts for the request and the request no longer wants. */
  #sendBack(request: Request): void {
    const { object, rid, ticket, kept, wanted, deaths, passes, served } = request;
    const note = deaths > 0 || request.note === 'd' ? request.note : '-';
    const marked = request.marked && wanted === 0;
    request.kept = wanted;
    const returned = (answer: unknown): void => {
      // The server does not know the grant, for one of these reasons. The connection has outlived a failover. The
      // permits were revoked, and this process has not heard of it. Or a driver has sent the operation twice.
      if (answer === wire.UNKNOWN && request.state !== 'over') soon(() => this.#sender.reconnect());
      this.#returned(request);
    };
    const args = wire.giveBack(object.name, rid, ticket, kept, kept - wanted, note, marked, passes, served);
    this.#sender.send(args, returned, undefined, request);
  }

  /** The server has what the request has given back so far. */
  #returned(request: Request): void {
    if (request.state === 'returning' && request.wanted === 0 && request.kept === 0) this.#end(request);
    else request.settle();
  }

  // What the server says --------------------------------------------------------------------------------------------

  /** Takes one piece of news. seq: the number of the message that has the news; 0 if a reply has it. */
  hear(news: string, seq = 0): void {
    const { rid, fate } = wire.newsIn(news);
    const request = this.#requests.get(rid);
    if (request === undefined) return;
    if (fate === undefined) request.object.othersWait = true;
    else if (fate.is === wire.HELD) this.#granted(request, fate, seq);
    else if (fate.is === wire.REVOKED) this.#revoked(request);
    else this.#failBy(request, fate);
  }

  /** Notes a ticket that the server has told. */
  learn(ticket: string): void {
    if (ticket > this.lastTicket) this.lastTicket = ticket;
  }

  all(): Request[] {
    return [...this.#requests.values()];
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
    const all = [...this.#requests.values()].sort((a, b) => (a.rid < b.rid ? -1 : 1));
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

  /**
   * Compares the server's state of the listed requests with what the process wants of them now, and acts on the
   * difference. entered: whether the session was entered anew. If so, each operation that was sent before has arrived,
   * or never will. If not, only a message may have been lost: answers to earlier operations will still come, and they
   * settle the requests that are being cancelled or given back. seq: the number of the last message before the server's
   * answer. isAnother: whether the data has another history than before the loss.
   */
  settle(
    listed: readonly Request[],
    states: readonly string[],
    seq: number,
    entered: boolean,
    isAnother: boolean,
  ): void {
    for (const [i, request] of listed.entries()) {
      const fate = wire.fateIn(states[i]);
      const { state } = request;
      if (state === 'asked' || state === 'waiting') {
        if (fate.is === wire.HELD) this.#granted(request, fate);
        else if (fate.is === wire.QUEUED) request.state = 'waiting';
        else if (state === 'waiting' && !isAnother) this.#expelled(request);
        else if (entered) this.#sendAsk(request);
        continue;
      }
      // The message that tells of the revocation may have been lost.
      if (state === 'held' && fate.is === wire.UNKNOWN && !entered) this.#revoked(request);
      // Some requests wait for the mutex. Other processes may have made them, and the message that says so may be lost.
      if (state === 'held' && fate.is === wire.HELD && fate.waiting > 0) request.object.othersWait = true;
      if (entered) {
        if (state === 'held' || state === 'returning') this.#settleHeld(request, fate, seq, isAnother);
        else if (state === 'leaving' && fate.is === wire.QUEUED) this.#sendCancel(request);
        // A request to which the mutex was passed on comes off the queue when the turn ends, or was dropped.
        else this.#cancelled(request, fate);
      }
    }
  }

  /** Settles a request that holds or gives back, after the session was entered. */
  #settleHeld(request: Request, fate: wire.Fate, seq: number, isAnother: boolean): void {
    // Whether the server still has the grant.
    const stands = fate.is === wire.HELD && fate.ticket === request.ticket;
    if (stands) {
      request.kept = fate.permits;
      request.deaths = fate.deaths;
      request.lent = fate.lent;
    }
    // If `heardAt` is larger, a message has granted the request after the server wrote the answer.
    if (stands || request.heardAt > seq) {
      if (request.kept > request.wanted) this.#sendBack(request);
      else if (stands) this.#returned(request);
      return;
    }
    this.#loseOne(request, isAnother ? 'a failover has lost the grant' : REVOKED);
    // The server may have the request in its queue, because a failover has lost only the grant. Or it may hold permits
    // for the request, because a driver has sent the request twice.
    this.#undo(request, fate);
  }

  /** The server has taken the request's permits away by force. The answer that grants them may still be under way. */
  #revoked(request: Request): void {
    // The server still has in its queue the requests to which a mutex was passed on.
    if (request.served.length > 0) this.#sender.compare();
    const { state, object } = request;
    if (state === 'held' || state === 'returning') this.#loseOne(request, REVOKED);
    else this.#fail(request, new LeaseLostError(`${JSON.stringify(object.name)} is held no more: ${REVOKED}`));
  }

  /** The server no longer has the grant of the request. */
  #loseOne(request: Request, reason: string): void {
    const { state, guard, object } = request;
    this.#end(request);
    if (state !== 'held') return;
    guard?.lose(reason);
    this.#around.emit('lost', { names: [object.name], reason });
  }

  /**
   * The server has taken a waiter out of the queue, and the message that tells why is lost. The object was disposed of
   * or resized, or all waiters were cancelled. The state of the object tells which. If the session is lost before the
   * answer comes, the answer to the next `S` decides: after a failover the request is sent once more.
   */
  #expelled(request: Request): void {
    const { object, permits } = request;
    this.#sender.send(
      wire.inspect(object.name),
      (answer) => {
        const max = wire.inspectedIn(answer)?.object.max;
        const is = max === undefined ? wire.DISPOSED : wire.CANCELLED;
        this.#failBy(request, max !== undefined && permits > max ? { is: wire.TOO_MANY, max } : { is });
      },
      (error) => this.#fail(request, error),
      request,
    );
  }

  /** Sends the requests that somebody has made while the session was being entered: those that are not in the list. */
  askForOthers(listed: readonly Request[]): void {
    const known = new Set(listed);
    for (const request of this.#requests.values()) {
      if (!known.has(request) && (request.state === 'asked' || request.state === 'waiting')) this.#sendAsk(request);
    }
  }

  // Losses ----------------------------------------------------------------------------------------------------------

  /** The operations that were sent may not have arrived. */
  lost(): void {
    this.objects.lost();
    for (const request of this.#requests.values()) {
      request.unsent = undefined;
      request.isMarked = false;
    }
  }

  /**
   * The process loses all that it holds. forgotten: whether the server has taken everything back, or this process gives
   * the session up.
   */
  lose(why: string, forgotten: boolean): void {
    const names = new Set<string>();
    for (const request of this.all()) {
      const { state, guard } = request;
      if (state === 'held') {
        request.wanted = 0;
        request.state = 'returning';
        // A guard without permits has given back a mutex that is about to be passed on. Then nobody loses the mutex.
        if (guard && guard.left > 0) {
          names.add(request.object.name);
          request.note = 'd';
          guard.lose(why);
        }
      }
      if (forgotten) {
        if (state === 'held' || state === 'returning' || state === 'over') this.#end(request);
        else if (state === 'leaving') this.#fail(request, undefined);
        else request.state = 'asked';
      } else {
        // A caller that gives back waits for the server only until the end of the lease.
        request.settle();
        if (state === 'held' && this.#sender.isOpen) this.#sendBack(request);
      }
    }
    if (names.size > 0) this.#around.emit('lost', { names: [...names], reason: why });
  }

  /** Waiting requests leave the queues, and nothing more can be asked for. What is held stays held. */
  stop(error: Error): void {
    this.#stopped = error;
    for (const request of this.all()) {
      if (request.state !== 'asked' && request.state !== 'waiting') continue;
      this.giveUp(request, false);
      request.caller.failed(error);
    }
  }

  /** Ends all requests with an error. Each caller and each guard hears of the error. */
  fail(error: Error): void {
    for (const request of this.all()) {
      if (request.state === 'held') request.guard?.lose(error.message);
      this.#fail(request, error);
    }
  }
}
