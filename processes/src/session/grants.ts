/**
 * What a session holds: each grant, from the moment that the server makes it until the server has its permits back.
 *
 *     take --> held --- giveBack: its guard has given all back ---> returning --- `D` is answered ---> over
 *              |  ^ \
 *              +--+  +- settle, revoked: the server no longer has the grant ---> over, and its guard is lost
 *         #passOn: another guard of this process has the mutex
 *
 * A mutex may be passed on within the process, as with a cohort lock. The next waiter of this process then gets the
 * mutex without a message to the server. The server still counts the mutex for the request that the server has granted
 * (`base`). The grant says how often the process may pass the mutex on (`lent`). If other processes wait, the process
 * passes the mutex on only until its turn ends (`turnEnds`).
 *
 * Invariant: while a request is held or returning, `kept` is the number of permits that the server counts for the
 * request once all that was sent has arrived, and `wanted` is the number that the request is to keep. If `wanted` is
 * smaller, `sendBack` gives the difference back at once or, after a loss, when `settle` has read `kept` from the
 * server's answer. So the server gets back each permit that nobody here holds any more.
 */
import { LeaseLostError } from '../errors.js';
import { eventsHandled, soon } from '../runtime/ticks.js';
import * as wire from '../script/wire.js';
import type { Sender } from './operation.js';
import type { Guard, Keeper, Request } from './request.js';
import type { RequestTable } from './request-table.js';
import type { Surroundings } from './surroundings.js';

const REVOKED = 'it was revoked';

export class Grants implements Keeper {
  readonly #sender: Sender;
  readonly #around: Surroundings;
  readonly #table: RequestTable;
  /**
   * The largest ticket that the server has told. The server learns of it with `O`, and gives no smaller ticket again.
   */
  lastTicket = '0';

  constructor(sender: Sender, table: RequestTable) {
    this.#sender = sender;
    this.#around = sender.around;
    this.#table = table;
  }

  get sid(): string {
    return this.#sender.sid;
  }

  look(): void {
    this.#sender.look();
  }

  /** Notes a ticket that the server has told. */
  learn(ticket: string): void {
    if (ticket > this.lastTicket) this.lastTicket = ticket;
  }

  /** The server says that a request holds. seq: the number of the message that says this; 0 if an answer does. */
  take(request: Request, { ticket, deaths, lent, waiting }: wire.Grant, seq = 0): void {
    const { state, object, permits } = request;
    if (!request.isPending && state !== 'leaving') return;
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

  // Giving back -----------------------------------------------------------------------------------------------------

  giveBack(guard: Guard, permits: number): Promise<void> {
    this.look();
    const { base } = guard;
    if (permits === 0 || guard.left === 0 || base.state !== 'held') return Promise.resolve();
    guard.left -= permits;
    this.#around.measure('release', base.object, permits, guard.stamp);
    // If deaths are not repaired, the mutex goes back, and the server tells its next holder of the deaths.
    if (guard.left === 0 && base.object.settings.kind === 'm' && base.note !== 'r') {
      if (this.#mayGoOn(base)) return this.#goOn(base);
      if (this.#passOn(base)) return Promise.resolve();
    }
    return this.#return(base, permits);
  }

  #return(base: Request, permits: number): Promise<void> {
    base.wanted -= permits;
    if (base.wanted === 0) base.state = 'returning';
    return new Promise<void>((resolve) => {
      base.settled.add(resolve);
      if (this.#sender.isOpen) this.sendBack(base, [resolve]);
    });
  }

  /** The server has granted a request that nobody here wants: the request is in the table again, and gives all back. */
  decline(request: Request, ticket: string): void {
    request.ticket = ticket;
    request.kept = request.permits;
    request.wanted = 0;
    request.note = 'r';
    request.deaths = 1;
    request.state = 'returning';
    this.#table.add(request);
    this.sendBack(request);
  }

  /**
   * Sends `D`: gives back the permits that the server counts for the request and the request no longer wants. callers:
   * those who have given these permits back, by default all who wait. A later `D` may be under way at the same time.
   */
  sendBack(request: Request, callers: Iterable<() => void> = [...request.settled]): void {
    const { object, rid, ticket, kept, wanted, deaths, passes, served } = request;
    const note = deaths > 0 || request.note === 'd' ? request.note : '-';
    const marked = request.marked && wanted === 0;
    request.kept = wanted;
    const returned = (answer: unknown): void => {
      // The server does not know the grant, for one of these reasons. The connection has outlived a failover. The
      // permits were revoked, and this process has not heard of it. Or a driver has sent the operation twice.
      if (answer === wire.UNKNOWN && request.state !== 'over') soon(() => this.#sender.reconnect());
      this.#returned(request, callers);
    };
    const args = wire.giveBack(object.name, rid, ticket, kept, kept - wanted, note, marked, passes, served);
    this.#sender.calls.send(args, returned, undefined, request);
  }

  /** The server has what these callers have given back, by default all that was given back so far. */
  #returned(request: Request, callers?: Iterable<() => void>): void {
    request.settle(callers);
    const { state, wanted, kept, settled } = request;
    if (state === 'returning' && wanted === 0 && kept === 0 && settled.size === 0) this.#table.end(request);
  }

  // Passing a mutex on ----------------------------------------------------------------------------------------------

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
    this.#table.drop(next);
    base.passes++;
    this.#hand(next, base, 1, base.passes, 0);
    return true;
  }

  // Losing ----------------------------------------------------------------------------------------------------------

  /**
   * Settles a request that holds or gives back, after the session was entered. fate: the server's state of the request.
   * seq and isAnother: as for `Requests.settle`. Returns false if the grant is lost.
   */
  settle(request: Request, fate: wire.Fate, seq: number, isAnother: boolean): boolean {
    // Whether the server still has the grant.
    const stands = fate.is === wire.HELD && fate.ticket === request.ticket;
    if (stands) {
      request.kept = fate.permits;
      request.deaths = fate.deaths;
      request.lent = fate.lent;
    }
    // If `heardAt` is larger, a message has granted the request after the server wrote the answer.
    if (stands || request.heardAt > seq) {
      if (request.kept > request.wanted) this.sendBack(request);
      else if (stands) this.#returned(request);
      return true;
    }
    this.#lose(request, isAnother ? 'a failover has lost the grant' : REVOKED);
    return false;
  }

  /** The server has taken the request's permits away by force. The answer that grants them may still be under way. */
  revoked(request: Request): void {
    // The server still has in its queue the requests to which a mutex was passed on.
    if (request.served.length > 0) this.#sender.compare();
    const { state, object } = request;
    if (state === 'held' || state === 'returning') this.#lose(request, REVOKED);
    else this.#table.fail(request, new LeaseLostError(`${JSON.stringify(object.name)} is held no more: ${REVOKED}`));
  }

  /** The server no longer has the grant of the request. */
  #lose(request: Request, reason: string): void {
    const { state, guard, object } = request;
    this.#table.end(request);
    // A guard without permits has given back a mutex that is about to be passed on. Then nobody loses the mutex.
    if (state !== 'held' || guard?.left === 0) return;
    guard?.lose(reason);
    this.#around.emit('lost', { names: [object.name], reason });
  }
}
