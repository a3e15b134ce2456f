/**
 * The objects and requests of a session: how a caller asks for permits and gives a request up, and what the server's
 * answers, news and lists mean for each request. request.ts draws the states. script/wire.ts lists the operations,
 * which have letters.
 *
 *     ask: `A`, `T`  --> asked, waiting --+-- the server grants the request ---> held, returning, over (grants.ts)
 *     giveUp: `C`    --> leaving ---------+-- the server will not serve it ---> over, and its caller hears why
 *
 * Why nothing is lost: a request enters the table (request-table.ts) before the session sends it. It stays there until
 * the server has its permits back, the server will not serve it, or its caller gives it up. If the server grants a
 * request that its caller has given up, the request enters the table again, and its permits go back.
 *
 * After a loss the session does not repeat the operations of requests. It sends the operation `S`, which lists all
 * requests in the table, and the server answers with its state of each. `settle` then compares these states with what
 * the process wants of each request. Requests that the process no longer wants are not in the list, so the server drops
 * them.
 */

import * as wire from '../script/wire.js';
import { Grants } from './grants.js';
import { Objects } from './opened-objects.js';
import type { Sender } from './operation.js';
import type { Caller, Request } from './request.js';
import { RequestTable } from './request-table.js';
import { type SharedObject, whyNot } from './shared-object.js';
import type { Surroundings } from './surroundings.js';

export class Requests {
  readonly objects: Objects;
  readonly table: RequestTable;
  readonly grants: Grants;
  readonly #sender: Sender;
  readonly #around: Surroundings;
  /** The error of each further request, once `stop` was called. */
  #stopped: Error | undefined;

  constructor(sender: Sender) {
    this.objects = new Objects(sender);
    this.#sender = sender;
    this.#around = sender.around;
    this.table = new RequestTable(sender.around);
    this.grants = new Grants(sender, this.table);
  }

  // Asking ----------------------------------------------------------------------------------------------------------

  /** Asks for permits. The caller is told what becomes of the request. */
  ask(object: SharedObject, permits: number, queues: boolean, caller: Caller): Request {
    const request = this.table.make(object, permits, queues, caller);
    const failure = object.broken ?? this.#sender.fatal ?? this.#stopped;
    if (failure) {
      request.state = 'over';
      caller.failed(failure);
      return request;
    }
    request.stamp = this.#around.stamp();
    this.table.add(request);
    if (queues) object.waiting.add(request);
    if (this.table.size === 1) {
      this.#around.keepAlive();
      this.#sender.beats.hasten();
    }
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
    if (!request.isPending) {
      // The caller has waited long enough for the answer. If the request holds after all, `#cancelled` gives its
      // permits back.
      if (!decides && request.state === 'leaving') this.table.end(request);
      return false;
    }
    request.object.waiting.delete(request);
    if (decides) {
      request.state = 'leaving';
      // `C` follows `A`, even if `A` is still in the batch. Without an open session, the server is asked when there is
      // one: see `#askLate`.
      if (this.#sender.isOpen) this.#sendCancel(request);
      return true;
    }
    if (this.#sender.isOpen && !request.withdraw()) this.#sendCancel(request);
    this.table.end(request);
    return false;
  }

  #sendAsk(request: Request): void {
    const { object, rid, permits, queues } = request;
    this.objects.openFirst(object);
    request.state = 'asked';
    request.unsent = this.#sender.calls.send(
      wire.ask(queues, object.name, object.born, rid, permits),
      (answer) => this.#asked(request, wire.fateIn(answer)),
      (error) => this.table.fail(request, error),
      request,
    );
  }

  /**
   * The time-out has passed while no session was open, and the server does not know the request, or a failover has lost
   * it. Asks for the permits and takes the request back at once, so that the caller gets what is free.
   */
  #askLate(request: Request): void {
    this.#sendAsk(request);
    request.state = 'leaving';
    this.#sendCancel(request);
  }

  /** Takes the answer to `A` or `T`. */
  #asked(request: Request, fate: wire.Fate): void {
    const { state, object } = request;
    if (object.broken) {
      // The object of this name is not the object that the caller asks for.
      this.table.fail(request, object.broken);
      this.#undo(request, fate);
    } else if (fate.is === wire.HELD) {
      this.grants.take(request, fate);
    } else if (fate.is === wire.QUEUED) {
      if (state === 'asked') this.#queued(request);
    } else if (fate.is === wire.REFUSED) {
      this.table.fail(request, undefined);
    } else if (state === 'asked' || state === 'leaving' || fate.is === wire.TOO_MANY) {
      this.#failBy(request, fate);
    }
  }

  /** The server has the request in its queue. The answer to `A` says so, or after a loss the answer to `S`. */
  #queued(request: Request): void {
    request.state = 'waiting';
    if (request.hasWaited) return;
    request.hasWaited = true;
    this.#around.measure('wait', request.object, request.permits, request.stamp);
  }

  /** Fails a request that the server will not serve, for the reason that the fate tells. */
  #failBy(request: Request, fate: wire.Fate): void {
    this.table.fail(request, whyNot(request.object, request.permits, fate));
  }

  /** Nobody here wants the request: what the server has granted goes back, and a queued request leaves the queue. */
  #undo(request: Request, fate: wire.Fate): void {
    if (fate.is === wire.QUEUED) this.#sendCancel(request);
    else if (fate.is === wire.HELD) this.grants.decline(request, fate.ticket);
  }

  #sendCancel(request: Request): void {
    const cancelled = (answer: unknown): void => this.#cancelled(request, wire.fateIn(answer));
    this.#sender.calls.send(wire.cancel(request.rid), cancelled, undefined, request);
  }

  /** Takes the answer to `C`. */
  #cancelled(request: Request, fate: wire.Fate): void {
    if (request.state === 'leaving') {
      if (fate.is === wire.HELD) this.grants.take(request, fate);
      else this.table.fail(request, undefined);
    } else if (request.state === 'over') {
      if (fate.is === wire.HELD || fate.is === wire.QUEUED) this.#undo(request, fate);
      else this.table.end(request);
    }
  }

  // What the server says --------------------------------------------------------------------------------------------

  /** Takes one piece of news. seq: the number of the message that has the news; 0 if a reply has it. */
  hear(news: string, seq = 0): void {
    const { rid, fate } = wire.newsIn(news);
    const request = this.table.get(rid);
    if (request === undefined) return;
    if (fate === undefined) request.object.othersWait = true;
    else if (fate.is === wire.HELD) this.grants.take(request, fate, seq);
    else if (fate.is === wire.REVOKED) this.grants.revoked(request);
    else this.#failBy(request, fate);
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
      if (request.isPending) {
        if (fate.is === wire.HELD) this.grants.take(request, fate);
        else if (fate.is === wire.QUEUED) this.#queued(request);
        else if (state === 'waiting' && !isAnother) this.#expelled(request);
        else if (entered) this.#sendAsk(request);
        continue;
      }
      // The message that tells of the revocation may have been lost.
      if (state === 'held' && fate.is === wire.UNKNOWN && !entered) this.grants.revoked(request);
      // Some requests wait for the mutex. Other processes may have made them, and the message that says so may be lost.
      if (state === 'held' && fate.is === wire.HELD && fate.waiting > 0) request.object.othersWait = true;
      if (!entered) continue;
      if (state === 'held' || state === 'returning') {
        // If the grant is lost, the server may have the request in its queue, because a failover has lost only the
        // grant. Or it may hold permits for the request, because a driver has sent the request twice.
        if (!this.grants.settle(request, fate, seq, isAnother)) this.#undo(request, fate);
      } else if (state === 'leaving' && fate.is === wire.QUEUED) {
        this.#sendCancel(request);
      } else if (state === 'leaving' && fate.is === wire.UNKNOWN && (isAnother || !request.hasWaited)) {
        this.#askLate(request);
      } else {
        // A request to which the mutex was passed on comes off the queue when the turn ends, or was dropped.
        this.#cancelled(request, fate);
      }
    }
  }

  /**
   * The server has taken a waiter out of the queue, and the message that tells why is lost. The object was disposed of
   * or resized, or all waiters were cancelled. The state of the object tells which. If the session is lost before the
   * answer comes, the answer to the next `S` decides: after a failover the request is sent once more.
   */
  #expelled(request: Request): void {
    const { object, permits } = request;
    this.#sender.calls.send(
      wire.inspect(object.name),
      (answer) => {
        const max = wire.inspectedIn(answer)?.object.max;
        const is = max === undefined ? wire.DISPOSED : wire.CANCELLED;
        this.#failBy(request, max !== undefined && permits > max ? { is: wire.TOO_MANY, max } : { is });
      },
      (error) => this.table.fail(request, error),
      request,
    );
  }

  /** Asks for the requests that are not in the list: somebody has made them while the session was being entered. */
  askForOthers(listed: readonly Request[]): void {
    const known = new Set(listed);
    for (const request of this.table.all()) {
      if (known.has(request)) continue;
      if (request.isPending) this.#sendAsk(request);
      else if (request.state === 'leaving') this.#askLate(request);
    }
  }

  // Losses ----------------------------------------------------------------------------------------------------------

  /** The operations that were sent may not have arrived. */
  lost(): void {
    this.objects.lost();
    this.table.lost();
  }

  /**
   * The process loses all that it holds. forgotten: whether the server has taken everything back, or this process gives
   * the session up.
   */
  lose(why: string, forgotten: boolean): void {
    const names = new Set<string>();
    for (const request of this.table.all()) {
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
        if (state === 'held' || state === 'returning' || state === 'over') this.table.end(request);
        // The next session asks for the others: see `askForOthers`.
        else if (state !== 'leaving') request.state = 'asked';
      } else {
        // A caller that gives back waits for the server only until the end of the lease.
        request.settle();
        if (state === 'held' && this.#sender.isOpen) this.grants.sendBack(request);
      }
    }
    if (names.size > 0) this.#around.emit('lost', { names: [...names], reason: why });
  }

  /** Waiting requests leave the queues, and nothing more can be asked for. What is held stays held. */
  stop(error: Error): void {
    this.#stopped = error;
    for (const request of this.table.all()) {
      if (!request.isPending) continue;
      this.giveUp(request, false);
      request.caller.failed(error);
    }
  }

  /** Ends all requests with an error. Each caller and each guard hears of the error. */
  fail(error: Error): void {
    for (const request of this.table.all()) {
      if (request.state === 'held') request.guard?.lose(error.message);
      this.table.fail(request, error);
    }
  }
}
