/**
 * The objects and requests of a session: what becomes of each request, from the moment that somebody asks until the
 * server has its permits back. request.ts draws the states.
 *
 * Why nothing is lost: a request is in the table before it is sent, and leaves it when the server has answered that it has
 * forgotten it. After a loss no operation of a request is sent again as such. `S` lists all requests, the server tells its
 * state of each, and `settle` brings the two together. What the process wants no more is not listed, and is dropped.
 */
import { CancelledError, LeaseLostError } from './errors.js';
import type { Guard, Held, Keeper } from './hold.js';
import { describe, differs, disposed, foundIn, type Settings, SharedObject, tooMany } from './object.js';
import { type Caller, hex, Request } from './request.js';
import type { Surroundings } from './surroundings.js';
import { eventsHandled, soon } from './ticks.js';

/** One operation of a call. */
export interface Operation {
  readonly args: readonly string[];
  answered(answer: unknown): void;
  /** Hears that the server refuses. Undefined: nobody need hear of it but the space. */
  readonly failed: ((error: unknown) => void) | undefined;
  /** The request whose fate `S` settles after a loss. */
  readonly request: Request | undefined;
  /** It is sent again after a loss: nothing else settles it. */
  readonly repeats: boolean;
  withdrawn: boolean;
}

/** The session, as its requests need it. */
export interface Line {
  readonly around: Surroundings;
  readonly sid: string;
  /** Names the session and the history of the data. Objects are opened anew in another. */
  readonly place: string;
  /** Whether operations are sent. Otherwise requests are asked for when the session has been entered. */
  readonly isOpen: boolean;
  /** Why nothing can be asked for any more. */
  readonly fatal: Error | undefined;
  /** Enters the session again, and compares: the server's state is not what it was. */
  reconnect(): void;
  send(
    args: readonly string[],
    answered: (answer: unknown) => void,
    failed?: (error: unknown) => void,
    request?: Request,
    repeats?: boolean,
  ): Operation;
  /** Sends an operation that belongs to no request, and resolves to its answer. */
  operate(args: readonly string[]): Promise<unknown>;
  /** Asks for the server's state of all requests. Those that are not listed are dropped. */
  compare(): void;
  enter(): void;
  look(): void;
}

/** An operation that asks for the server's state of requests, and these. */
export type Listing = [args: string[], listed: Request[]];

/** So many requests does one operation ask for, so that it does not take the server long. */
const MOST_LISTED = 128;

/** So many requests does a beat name. */
const MOST_MARKED = 64;

const nothing = (): void => {};

const REVOKED = 'it was revoked';

export class Requests implements Keeper {
  readonly #line: Line;
  readonly #around: Surroundings;
  /** The objects of which a handle is open, and those in use. */
  readonly #objects = new Map<string, SharedObject>();
  readonly #requests = new Map<string, Request>();
  #lastNumber = 0;
  /** When the last of them has ended. */
  usedAt = 0;
  /** The largest ticket that the server has told. It gives no smaller one again, whatever it has lost. */
  lastTicket = '0';
  /** Why nothing more can be asked for. */
  #stopped: Error | undefined;

  constructor(line: Line) {
    this.#line = line;
    this.#around = line.around;
  }

  get size(): number {
    return this.#requests.size;
  }

  get sid(): string {
    return this.#line.sid;
  }

  look(): void {
    this.#line.look();
  }

  // Objects ---------------------------------------------------------------------------------------------------------

  /** Opens an object, or makes it. The handles of one name share it, but for ephemeral ones: the server forgets these. */
  async open(name: string, settings: Settings): Promise<SharedObject> {
    if (settings.ephemeral) return new SharedObject(name, settings);
    const known = this.#objects.get(name);
    if (known) {
      const { resized, max } = known.settings;
      const asked = resized && settings.kind === 's' ? { ...settings, max } : settings;
      if (describe(known.settings) !== describe(asked)) throw differs(name, settings, known.settings);
    }
    const object = known ?? new SharedObject(name, settings);
    const error = this.#opened(object, await this.#line.operate(object.opening()));
    if (error) throw error;
    object.openedIn = this.#line.place;
    if (known) return known;
    // Somebody else here may have opened it meanwhile.
    const first = this.#objects.get(name) ?? object;
    this.#objects.set(name, first);
    return first;
  }

  /** Takes the answer to what opens an object: N born max, or its settings. Returns the error if these are others. */
  #opened(object: SharedObject, answer: unknown): Error | undefined {
    const text = String(answer);
    if (!text.startsWith('N ')) return differs(object.name, object.settings, foundIn(text));
    const [, born = '', max] = text.split(' ');
    if (max) object.resize(Number(max));
    if (!object.settings.ephemeral) object.born = born;
    return undefined;
  }

  /** Disposes of the object. Its handles here are of no use from now on, also in a later session, which would make it anew. */
  async dispose(object: SharedObject): Promise<void> {
    const { name } = object;
    object.broken = disposed(object);
    // Who opens the name from now on gets another object, also before the server has answered.
    const wasKnown = this.#objects.get(name) === object && this.#objects.delete(name);
    try {
      // It may be sent twice, and must not dispose of the next object of the name. An ephemeral one is asked which it is.
      let { born } = object;
      if (born === '-') born = String(await this.#line.operate(['I', name, '0', '', ''])).split(' ')[5] ?? '';
      if (born !== '') while ((await this.#line.operate(['K', name, born])) === '+');
    } catch (error) {
      object.broken = undefined;
      if (wasKnown && !this.#objects.has(name)) this.#objects.set(name, object);
      throw error;
    }
  }

  // Asking ----------------------------------------------------------------------------------------------------------

  /** Asks for permits. What becomes of it, the caller is told. */
  ask(object: SharedObject, permits: number, queues: boolean, Guard: Guard, caller: Caller): Request {
    const request = new Request(object, ++this.#lastNumber, permits, queues, Guard, caller);
    const failure = object.broken ?? this.#line.fatal ?? this.#stopped;
    if (failure) {
      request.state = 'over';
      caller.failed(failure);
      return request;
    }
    request.stamp = this.#around.stamp();
    this.#requests.set(request.rid, request);
    if (queues) object.waiting.add(request);
    if (this.#requests.size === 1) this.#around.keepAlive();
    if (this.#line.isOpen) this.#sendAsk(request);
    else this.#line.enter();
    return request;
  }

  /**
   * The caller gives a request up. `decides`: the server's answer decides whether it holds after all, and the caller is
   * told; otherwise the caller has gone already, and what it holds after all goes back.
   * @returns whether the caller will be told.
   */
  giveUp(request: Request, decides: boolean): boolean {
    if (request.state !== 'asked' && request.state !== 'waiting') {
      // Its caller has waited long enough for the answer. If it holds after all, `#cancelled` gives that back.
      if (!decides && request.state === 'leaving') this.#end(request);
      return false;
    }
    request.object.waiting.delete(request);
    const told = decides && this.#line.isOpen && !request.unsent;
    if (this.#line.isOpen && !request.withdraw()) this.#sendCancel(request);
    if (told) request.state = 'leaving';
    else this.#end(request);
    return told;
  }

  #sendAsk(request: Request): void {
    const { object, rid, permits } = request;
    const { place } = this.#line;
    if (object.settings.ephemeral || object.openedIn !== place) {
      object.openedIn = place;
      object.born = '-';
      const opened = (answer: unknown): void => {
        object.broken ??= this.#opened(object, answer);
      };
      this.#line.send(object.opening(), opened, nothing);
    }
    request.state = 'asked';
    request.unsent = this.#line.send(
      [request.queues ? 'A' : 'T', object.name, object.born, rid, hex(permits, 8)],
      (answer) => this.#asked(request, String(answer)),
      (error) => this.#fail(request, error),
      request,
    );
  }

  #asked(request: Request, answer: string): void {
    const kind = answer[0];
    const { broken } = request.object;
    if (broken) {
      // The object of this name is another than the caller asks for.
      this.#fail(request, broken);
      this.#undo(request, answer);
    } else if (kind === 'H') {
      this.#granted(request, answer);
    } else if (kind === 'Q') {
      if (request.state === 'asked') {
        request.state = 'waiting';
        this.#around.measure('wait', request.object, request.permits, request.stamp);
      }
    } else if (kind === 'R') {
      this.#fail(request, undefined);
    } else if (kind === 'M') {
      this.#fail(request, tooMany(request.object, request.permits, Number(answer.slice(2))));
    } else if (request.state === 'asked' || request.state === 'leaving') {
      this.#fail(request, disposed(request.object));
    }
  }

  /** The server says that a request holds: H ticket:deaths:lent:waiting. seq: of the message that says so. */
  #granted(request: Request, answer: string, seq = 0): void {
    const { state, object, permits } = request;
    if (state !== 'asked' && state !== 'waiting' && state !== 'leaving') return;
    const [ticket = '', deaths, lent, waiting] = answer.slice(2).split(':');
    object.waiting.delete(request);
    request.state = 'held';
    request.ticket = ticket;
    this.learn(ticket);
    request.heardAt = seq;
    request.kept = permits;
    request.wanted = permits;
    request.deaths = Number(deaths);
    if (object.settings.kind === 'm') {
      request.lent = Number(lent);
      object.turnEnds = this.#around.clock.now() + this.#around.turn;
      object.othersWait = Number(waiting) > object.queued;
    } else if (lent !== '0') {
      object.resize(Number(lent));
    }
    this.#hand(new request.Guard(this, request, permits, 0, request.deaths), request);
  }

  /** A request gets its guard. */
  #hand(guard: Held, { object, permits, stamp, caller }: Request): void {
    guard.base.guard = guard;
    guard.stamp = this.#around.stamp();
    this.#around.measure('hold', object, permits, stamp);
    caller.granted(guard);
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

  #fail(request: Request, error: unknown): void {
    if (request.state === 'over') return;
    this.#end(request);
    request.caller.failed(error);
  }

  /** Nobody here wants what the server has granted, or has in its queue: it goes back, or leaves. */
  #undo(request: Request, answer: string): void {
    if (answer[0] === 'Q') this.#sendCancel(request);
    if (answer[0] !== 'H') return;
    request.ticket = answer.slice(2).split(':')[0] as string;
    request.kept = request.permits;
    request.wanted = 0;
    request.note = 'r';
    request.deaths = 1;
    request.state = 'returning';
    this.#requests.set(request.rid, request);
    this.#sendBack(request);
  }

  #sendCancel(request: Request): void {
    const cancelled = (answer: unknown): void => this.#cancelled(request, String(answer));
    this.#line.send(['C', request.rid], cancelled, undefined, request);
  }

  #cancelled(request: Request, answer: string): void {
    if (request.state === 'leaving') {
      if (answer[0] === 'H') this.#granted(request, answer);
      else this.#fail(request, undefined);
    } else if (request.state === 'over') {
      if (answer[0] === 'H' || answer[0] === 'Q') this.#undo(request, answer);
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
    // With deaths that nobody has repaired the mutex goes back: the server tells its next holder of them.
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
    if (this.#line.isOpen) this.#sendBack(base);
    return settled;
  }

  /** Whether the turn has lasted long enough, and nobody else is known to wait: then messages are read before it goes on. */
  #mayGoOn({ object, passes, lent }: Request): boolean {
    if (object.othersWait || passes >= lent || object.waiting.size === 0) return false;
    return this.#around.clock.now() >= object.turnEnds;
  }

  /**
   * Hears whether others wait, and then passes the mutex on or gives it back. Waiters of this process that hand it to each
   * other by promises alone leave the event loop no time in which a message could come.
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
    const next = object.waiting.first;
    if (!next || base.passes >= base.lent) return false;
    if (object.othersWait && this.#around.clock.now() >= object.turnEnds) return false;
    object.waiting.delete(next);
    if (!next.withdraw()) base.served.push(next.rid);
    next.state = 'passed';
    this.#requests.delete(next.rid);
    base.passes++;
    this.#hand(new next.Guard(this, base, 1, base.passes, 0), next);
    return true;
  }

  #sendBack(request: Request): void {
    const { object, rid, ticket, kept, wanted, deaths, passes, served } = request;
    const mark = request.marked && wanted === 0 ? 's' : '';
    const note = (deaths > 0 || request.note === 'd' ? request.note : '-') + mark;
    const args = [
      'D',
      object.name,
      rid,
      ticket,
      hex(kept, 8),
      `${kept - wanted}`,
      note,
      `${passes}`,
      `${served.length}`,
    ];
    request.kept = wanted;
    const returned = (answer: unknown): void => {
      // The server knows nothing of it: a failover that the connection has outlived, or it was revoked and that is not heard of
      // yet. Or a driver has sent this twice.
      if (answer === 'G' && request.state !== 'over') soon(() => this.#line.reconnect());
      this.#returned(request);
    };
    this.#line.send(args.concat(served), returned, undefined, request);
  }

  /** The server has what the request has given back so far. */
  #returned(request: Request): void {
    if (request.state === 'returning' && request.wanted === 0 && request.kept === 0) this.#end(request);
    else request.settle();
  }

  // What the server says --------------------------------------------------------------------------------------------

  /**
   * rid:ticket:deaths:lent:waiting, rid:x (disposed), rid:c (cancelled), rid:m and a number (it asks for more permits than
   * these), rid:r (revoked) or !rid (others wait for the mutex it holds).
   */
  hear(entry: string, seq = 0): void {
    const tells = entry[0] === '!';
    const request = this.#requests.get(tells ? entry.slice(1) : entry.slice(0, 10));
    if (request === undefined) return;
    const text = entry.slice(11);
    if (tells) request.object.othersWait = true;
    else if (text === 'x') this.#fail(request, disposed(request.object));
    else if (text === 'c') this.#fail(request, cancelled());
    else if (text === 'r') this.#revoked(request);
    else if (text[0] === 'm') this.#fail(request, tooMany(request.object, request.permits, Number(text.slice(1))));
    else this.#granted(request, `H ${text}`, seq);
  }

  learn(ticket: string): void {
    if (ticket > this.lastTicket) this.lastTicket = ticket;
  }

  all(): Request[] {
    return [...this.#requests.values()];
  }

  /** What a beat says besides: some requests that are held and were not named so yet, those first that are held longest. */
  marks(): string[] {
    const rids: string[] = [];
    for (const request of this.#requests.values()) {
      if (rids.length === MOST_MARKED) break;
      if (request.state !== 'held' || request.isMarked) continue;
      request.marked = request.isMarked = true;
      rids.push(request.rid);
    }
    return rids.length > 0 ? ['U', String(rids.length), ...rids] : rids;
  }

  /** The operations that ask for the server's state of all requests, none of which takes the server long. */
  listings(): Listing[] {
    const all = [...this.#requests.values()].sort((a, b) => (a.rid < b.rid ? -1 : 1));
    const listings: Listing[] = [];
    let from = '';
    do {
      const listed = all.splice(0, MOST_LISTED);
      const rids = listed.map(({ rid }) => rid);
      const upTo = all.length > 0 ? (rids.at(-1) as string) : hex(this.#lastNumber, 10);
      listings.push([['S', from, upTo, String(rids.length), ...rids], listed]);
      from = `${upTo}g`;
    } while (all.length > 0);
    return listings;
  }

  /**
   * Brings the server's state of the requests that were listed together with what the process wants of them now.
   * entered: the session has been entered, and whatever was sent before has arrived or never will. Otherwise a message may
   * have been lost, and requests that are on their way out are left to the answers that will come.
   * @returns the number of the last message before that state.
   */
  settle(
    listed: readonly Request[],
    [first, ...states]: readonly string[],
    entered: boolean,
    isAnother: boolean,
  ): number {
    const seq = Number((first as string).split(' ')[1]);
    for (const [i, request] of listed.entries()) {
      const answer = states[i] as string;
      const { state } = request;
      if (state === 'asked' || state === 'waiting') {
        if (answer[0] === 'H') this.#granted(request, answer);
        else if (answer[0] === 'Q') request.state = 'waiting';
        else if (state === 'waiting' && !isAnother) this.#expelled(request);
        else if (entered) this.#sendAsk(request);
        continue;
      }
      // The message that says so may have been lost.
      if (state === 'held' && answer === 'G' && !entered) this.#revoked(request);
      // Some wait. They may be others, and the message that says so may have been lost.
      if (state === 'held' && Number(answer.split(':')[3]) > 0) request.object.othersWait = true;
      if (entered) {
        if (state === 'held' || state === 'returning') this.#settleHeld(request, answer, seq, isAnother);
        else if (state === 'leaving' && answer[0] === 'Q') this.#sendCancel(request);
        // One that was passed on comes off the queue when the turn ends, or was dropped.
        else this.#cancelled(request, answer);
      }
    }
    return seq;
  }

  #settleHeld(request: Request, answer: string, seq: number, isAnother: boolean): void {
    const [ticket, deaths, lent, , permits] = answer.slice(2).split(':');
    const stands = answer[0] === 'H' && ticket === request.ticket;
    if (stands) {
      request.kept = Number(permits);
      request.deaths = Number(deaths);
      request.lent = Number(lent);
    }
    // Or a message has granted it since the server wrote the answer.
    if (stands || request.heardAt > seq) {
      if (request.kept > request.wanted) this.#sendBack(request);
      else if (stands) this.#returned(request);
      return;
    }
    this.#loseOne(request, isAnother ? 'a failover has lost the grant' : REVOKED);
    // A failover has lost the grant, and the server has the request in its queue still; or a driver has sent it once more.
    this.#undo(request, answer);
  }

  /** The server has taken back what the request held; or was granted, of which the answer is under way. */
  #revoked(request: Request): void {
    // The server has those in its queue still to which a mutex was passed on.
    if (request.served.length > 0) this.#line.compare();
    const { state, object } = request;
    if (state === 'held' || state === 'returning') this.#loseOne(request, REVOKED);
    else this.#fail(request, new LeaseLostError(`${JSON.stringify(object.name)} is held no more: ${REVOKED}`));
  }

  #loseOne(request: Request, reason: string): void {
    const { state, guard, object } = request;
    this.#end(request);
    if (state !== 'held') return;
    guard?.lose(reason);
    this.#around.emit('lost', { names: [object.name], reason });
  }

  /**
   * The server has taken a waiter out, and the message is lost: the object was disposed of or resized, or all were
   * cancelled. After a loss the next `S` decides anew: after a failover the request is asked for once more.
   */
  #expelled(request: Request): void {
    const { object, permits } = request;
    const why = (answer: unknown): Error => {
      if (answer === 'X') return disposed(object);
      const max = Number(String(answer).split(' ')[2]);
      return permits > max ? tooMany(object, permits, max) : cancelled();
    };
    this.#line.send(
      ['I', object.name, '0', '', ''],
      (answer) => this.#fail(request, why(answer)),
      (error) => this.#fail(request, error),
      request,
    );
  }

  /** Asks for what was not asked for while the session was entered. It comes after what was asked for before. */
  askForOthers(listed: readonly Request[]): void {
    const known = new Set(listed);
    for (const request of this.#requests.values()) {
      if (!known.has(request) && (request.state === 'asked' || request.state === 'waiting')) this.#sendAsk(request);
    }
  }

  // Losses ----------------------------------------------------------------------------------------------------------

  /** What was sent may not have arrived. */
  lost(): void {
    for (const object of this.#objects.values()) if (object.born === '-') object.openedIn = '';
    for (const request of this.#requests.values()) {
      request.unsent = undefined;
      request.isMarked = false;
    }
  }

  /** All that is held is lost. forgotten: the server has taken it back. */
  lose(why: string, forgotten: boolean): void {
    const names = new Set<string>();
    for (const request of this.all()) {
      const { state, guard } = request;
      if (state === 'held') {
        request.wanted = 0;
        request.state = 'returning';
        // A mutex that is about to be passed on is nobody's.
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
        // Who gives back waits for the server no longer than for the end of the lease.
        request.settle();
        if (state === 'held' && this.#line.isOpen) this.#sendBack(request);
      }
    }
    if (names.size > 0) this.#around.emit('lost', { names: [...names], reason: why });
  }

  /** Who waits leaves the queues, and nothing more can be asked for. What is held stays so. */
  stop(error: Error): void {
    this.#stopped = error;
    for (const request of this.all()) {
      if (request.state !== 'asked' && request.state !== 'waiting') continue;
      this.giveUp(request, false);
      request.caller.failed(error);
    }
  }

  /** Nothing can be had any more. Everybody hears it. */
  fail(error: Error): void {
    for (const request of this.all()) {
      if (request.state === 'held') request.guard?.lose(error.message);
      this.#fail(request, error);
    }
  }
}

function cancelled(): CancelledError {
  return new CancelledError('the request was cancelled by cancelAll');
}
