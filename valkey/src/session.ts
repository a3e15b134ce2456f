/**
 * A session is this process's lease in one partition of a space. It sends operations, hears of grants, and gives up what
 * it holds before the server may give it to others.
 *
 *     closed --> entering --> open          entering: subscribed, `O` is sent; after a loss also `S`
 *       ^           ^          |            open: operations are sent, one call for each tick of the event loop
 *       |           +-- lost --+            lost: a connection is new, or the server's state is not what it was
 *       +---- idle: X ---------+
 *
 * Why nothing is lost: a request is in `#requests` before it is sent, and leaves it when the server has answered that it
 * has forgotten it. After a loss no operation of a request is sent again as such. `S` lists all requests, the server tells
 * its state of each, and the two are brought together: see `#settle`. What the process wants no more is not listed, and is
 * dropped. A command that is still under way on the old connection carries the old `conn`, and does nothing.
 *
 * Why nobody works on with permits that are another's: the server takes permits back when the lease has ended by its lease
 * clock. That clock runs at most a quarter of a lease ahead of true time, and starts anew with each beat. The process
 * counts from when it sent the last beat that was answered, and gives up after 0.7 leases.
 */
import type { Timer } from './clock.js';
import type { Driver, StopListening } from './drivers/driver.js';
import { CancelledError, SpaceError } from './errors.js';
import type { SpaceEvents } from './events.js';
import type { Heartbeat } from './heartbeat.js';
import type { Guard, Held, Keeper } from './hold.js';
import { describe, differs, disposed, foundIn, type Settings, SharedObject } from './object.js';
import type { Checked, Durability } from './options.js';
import { type Caller, Request } from './request.js';
import { refusal } from './server-error.js';
import { TURN } from './turn-source.js';

/** Operations in one call, so that no call takes the server long. */
const MOST_OPERATIONS = 512;

/** The part of a lease without an answered beat after which all that is held is lost. */
const LOST_AFTER = 0.7;

/** The number of messages that a connection can have; see turn.lua. */
const SEQS_OF_A_CONNECTION = 2 ** 32;

/** The version of the keys and the script. */
const VERSION = '1';

/** What all sessions of a space share. */
export interface Surroundings extends Omit<Checked, 'heartbeat'> {
  readonly driver: Driver;
  /** Beats from another thread, if the user wants them. */
  heartbeat: Heartbeat | undefined;
  /** Resolves when both connections stand. */
  whenConnected(): Promise<void>;
  /** Tells the listeners of the space. */
  emit<E extends keyof SpaceEvents>(event: E, ...args: SpaceEvents[E]): void;
  /** Called when the session begins or ceases to be needed. */
  keepAlive(): void;
}

interface Operation {
  readonly args: readonly string[];
  /** The request whose fate `S` settles after a loss. */
  readonly request: Request | undefined;
  /** It is sent again after a loss: nothing else settles it. */
  readonly repeats: boolean;
  answered(answer: unknown): void;
  failed(error: unknown): void;
  withdrawn: boolean;
}

type Phase = 'closed' | 'entering' | 'open' | 'ended';

const nothing = (): void => {};

/** The operation by which a session shows that it lives, and gives back what others hold that do not. */
export const beat = (lease: number): string[] => ['B', String(lease), String(Math.floor(lease / 4))];

export class Session implements Keeper {
  readonly around: Surroundings;
  readonly #partition: number;
  readonly #keys: string[];
  readonly #channel: string;
  /** The objects of which a handle is open, and those in use. */
  readonly #objects = new Map<string, SharedObject>();
  readonly #requests = new Map<string, Request>();
  #lastNumber = 0;

  #phase: Phase = 'closed';
  sid = '';
  #conn = 0;
  /** The connection whose messages count: none between a loss and the next `O`. The server may have taken back since what
   * an older message grants. */
  #heardConn = -1;
  /** A message was missed while the session was entered. */
  #hasGap = false;
  #epoch = '';
  /** Changes with each loss. Answers to calls of an earlier era are ignored. */
  #era = 0;
  #stopListening: StopListening | undefined;
  /** Whether the session is being entered: `#enter` loops. */
  #isEntering = false;
  #batch: Operation[] = [];
  /** The calls of `operate` that are not answered. */
  #operating = 0;
  #scheduled: typeof soon | undefined;
  #lastSeq = 0;
  #deadline = Infinity;
  /** When the last `O` was sent. */
  #enteredAt = 0;
  #deadlineTimer: Timer;
  #beatTimer: Timer;
  #usedAt = 0;
  /** Why nothing can be asked for any more. */
  #fatal: Error | undefined;

  constructor(around: Surroundings, partition: number) {
    this.around = around;
    this.#partition = partition;
    const tag = `tt:{${around.space}.${partition}}:`;
    this.#keys = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((key) => tag + key);
    this.#channel = `${tag}c:`;
  }

  /** Whether the process must stay alive for it. */
  get isNeeded(): boolean {
    return this.#requests.size > 0 || this.#batch.length > 0 || this.#operating > 0;
  }

  // Requests --------------------------------------------------------------------------------------------------------

  /** Asks for permits. What becomes of it, the caller is told. */
  ask(object: SharedObject, permits: number, queues: boolean, Guard: Guard, caller: Caller): Request {
    const request = new Request(object, ++this.#lastNumber, permits, queues, Guard, caller);
    const failure = object.broken ?? this.#fatal;
    if (failure) {
      request.state = 'over';
      caller.failed(failure);
      return request;
    }
    this.#requests.set(request.rid, request);
    if (queues) object.waiting.add(request);
    if (this.#requests.size === 1) this.around.keepAlive();
    // While the session is being entered, the request is asked for when that is done.
    if (this.#phase === 'open') this.#sendAsk(request);
    else this.#enter();
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
    if (this.#phase !== 'open' || this.#withdraw(request)) {
      this.#end(request);
      return false;
    }
    this.#sendCancel(request);
    if (decides) request.state = 'leaving';
    else this.#end(request);
    return decides;
  }

  /** Takes the operation of a request out of the batch. Returns whether it was in it. */
  #withdraw({ unsent }: Request): boolean {
    if (unsent) unsent.withdrawn = true;
    return unsent !== undefined;
  }

  /** The request is over: nobody here wants it, and no answer to it is awaited. */
  #end(request: Request): void {
    request.state = 'over';
    request.object.waiting.delete(request);
    this.#requests.delete(request.rid);
    for (const resolve of request.settled.splice(0)) resolve();
    if (this.#requests.size === 0) {
      this.#usedAt = this.around.clock.now();
      this.around.keepAlive();
    }
  }

  #sendAsk(request: Request): void {
    const { object } = request;
    const { ephemeral } = object.settings;
    const key = `${this.sid}.${this.#epoch}`;
    const isOpen = !ephemeral && object.openedIn === key;
    if (!isOpen) {
      object.openedIn = key;
      object.born = '-';
      const opened = (answer: unknown): void => {
        object.broken ??= this.#opened(object, answer);
      };
      this.#send(object.opening(), undefined, opened, nothing);
    }
    const digits = request.permits.toString(16).padStart(8, '0');
    const args = [request.queues ? 'A' : 'T', object.name, object.born, request.rid, digits];
    request.state = 'asked';
    request.unsent = this.#send(
      args,
      request,
      (answer) => this.#asked(request, String(answer)),
      (error) => this.#fail(request, error),
    );
  }

  /** Takes the answer to what opens an object: N born, or its settings. Returns the error if these are others. */
  #opened(object: SharedObject, answer: unknown): Error | undefined {
    const text = String(answer);
    if (!text.startsWith('N ')) return differs(object.name, object.settings, foundIn(text));
    if (!object.settings.ephemeral) object.born = text.slice(2);
    return undefined;
  }

  #fail(request: Request, error: unknown): void {
    if (request.state === 'over') return;
    this.#end(request);
    request.caller.failed(error);
  }

  #asked(request: Request, answer: string): void {
    const kind = answer[0];
    const { broken } = request.object;
    if (broken) {
      // The object of this name is another than the caller asks for.
      this.#fail(request, broken);
      if (kind === 'H') this.#undo(request, answer);
      else if (kind === 'Q') this.#sendCancel(request);
    } else if (kind === 'H') {
      this.#granted(request, answer.slice(2));
    } else if (kind === 'Q') {
      if (request.state === 'asked') request.state = 'waiting';
    } else if (kind === 'R') {
      this.#fail(request, undefined);
    } else if (request.state === 'asked' || request.state === 'leaving') {
      this.#fail(request, disposed(request.object));
    }
  }

  /** The server says that a request holds: ticket:deaths:lent:waiting. seq: of the message that says so. */
  #granted(request: Request, text: string, seq = 0): void {
    const [ticket = '', deaths, lent, waiting] = text.split(':');
    const { state, object } = request;
    if (state !== 'asked' && state !== 'waiting' && state !== 'leaving') return;
    object.waiting.delete(request);
    request.state = 'held';
    request.ticket = ticket;
    request.heardAt = seq;
    request.kept = request.permits;
    request.wanted = request.permits;
    request.deaths = Number(deaths);
    if (object.settings.kind === 'm') {
      request.lent = Number(lent);
      object.turnEnds = this.around.clock.now() + this.around.turn;
      let mine = 0;
      for (const other of object.waiting) if (other.state === 'waiting') mine++;
      object.othersWait = Number(waiting) > mine;
    }
    request.guard = new request.Guard(this, request, request.permits, 0, request.deaths);
    request.caller.granted(request.guard);
  }

  /** The server has granted what nobody here wants any more. It goes back at once. */
  #undo(request: Request, answer: string): void {
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
    this.#send(['C', request.rid], request, (answer) => this.#cancelled(request, String(answer)), nothing);
  }

  #cancelled(request: Request, answer: string): void {
    if (answer.startsWith('H')) {
      if (request.state === 'leaving') this.#granted(request, answer.slice(2));
      else if (request.state === 'over') this.#undo(request, answer);
    } else if (request.state === 'leaving') {
      this.#fail(request, undefined);
    } else if (request.state === 'over') {
      this.#end(request);
    }
  }

  // Giving back -----------------------------------------------------------------------------------------------------

  giveBack(held: Held, permits: number): Promise<void> {
    this.look();
    const { base } = held;
    if (permits === 0 || held.left === 0 || base.state !== 'held') return Promise.resolve();
    held.left -= permits;
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
    if (this.#phase === 'open') this.#sendBack(base);
    return settled;
  }

  /** Whether the turn has lasted long enough, and nobody else is known to wait: then messages are read before it goes on. */
  #mayGoOn({ object, passes, lent }: Request): boolean {
    if (object.othersWait || passes >= lent || object.waiting.size === 0) return false;
    return this.around.clock.now() >= object.turnEnds;
  }

  /**
   * Hears whether others wait, and then passes the mutex on or gives it back. Waiters of this process that hand it to each
   * other by promises alone leave the event loop no time in which a message could come.
   */
  async #goOn(base: Request): Promise<void> {
    await eventsHandled();
    const { object } = base;
    if (base.state !== 'held') return;
    if (!object.othersWait) object.turnEnds = this.around.clock.now() + this.around.turn;
    if (!this.#passOn(base)) await this.#return(base, 1);
  }

  /** Passes a mutex on to the next waiter of this process, if that is allowed. */
  #passOn(base: Request): boolean {
    const { object } = base;
    if (base.passes >= base.lent) return false;
    if (object.othersWait && this.around.clock.now() >= object.turnEnds) return false;
    for (const next of object.waiting) {
      object.waiting.delete(next);
      if (!this.#withdraw(next)) base.served.push(next.rid);
      next.state = 'passed';
      this.#requests.delete(next.rid);
      base.passes++;
      base.guard = new next.Guard(this, base, 1, base.passes, 0);
      next.caller.granted(base.guard);
      return true;
    }
    return false;
  }

  #sendBack(request: Request): void {
    const { object, kept, wanted, deaths, passes, served } = request;
    const args = [
      ...['D', object.name, request.rid, request.ticket, kept.toString(16).padStart(8, '0'), String(kept - wanted)],
      ...[deaths > 0 || request.note === 'd' ? request.note : '-', String(passes), String(served.length), ...served],
    ];
    request.kept = wanted;
    this.#send(
      args,
      request,
      () => {
        if (request.state === 'returning' && request.wanted === 0 && request.kept === 0) this.#end(request);
        else for (const resolve of request.settled.splice(0)) resolve();
      },
      nothing,
    );
  }

  /** Resolves when enough replicas have confirmed all that this process was granted so far. */
  async confirm({ replicas, timeout }: Durability): Promise<void> {
    const args = [...this.#head(), ...beat(this.around.lease)];
    const confirmed = await this.around.driver.confirm(TURN, this.#keys, args, replicas, timeout);
    if (confirmed >= replicas) return;
    throw new SpaceError('UNCONFIRMED', `${confirmed} of ${replicas} replicas have confirmed the grant`);
  }

  // Calls -----------------------------------------------------------------------------------------------------------

  /** Sends an operation that belongs to no request, and resolves to its answer. After a loss it is sent again. */
  operate(args: readonly string[]): Promise<unknown> {
    if (this.#fatal) return Promise.reject(this.#fatal);
    this.#operating++;
    this.around.keepAlive();
    return new Promise((resolve, reject) => {
      this.#send(args, undefined, resolve, reject);
      if (this.#phase !== 'open') this.#enter();
    }).finally(() => {
      this.#operating--;
      this.around.keepAlive();
    });
  }

  /** Opens an object, or makes it. The handles of one name share it, but for ephemeral ones: the server forgets these. */
  async open(name: string, settings: Settings): Promise<SharedObject> {
    const { ephemeral } = settings;
    if (ephemeral) return new SharedObject(name, settings);
    const known = this.#objects.get(name);
    if (known && describe(known.settings) !== describe(settings)) throw differs(name, settings, known.settings);
    const object = known ?? new SharedObject(name, settings);
    const error = this.#opened(object, await this.operate(object.opening()));
    if (error) throw error;
    object.openedIn = `${this.sid}.${this.#epoch}`;
    if (known) return known;
    // Somebody else here may have opened it meanwhile.
    const first = this.#objects.get(name) ?? object;
    this.#objects.set(name, first);
    return first;
  }

  /** Disposes of the object. Its handles here are of no use from now on, also in a later session, which would make it anew. */
  async dispose(object: SharedObject): Promise<void> {
    const { name } = object;
    object.broken = disposed(object);
    // Who opens the name from now on gets another object, also before the server has answered.
    const wasKnown = this.#objects.get(name) === object && this.#objects.delete(name);
    try {
      await this.operate(['K', name, object.born]);
    } catch (error) {
      object.broken = undefined;
      if (wasKnown && !this.#objects.has(name)) this.#objects.set(name, object);
      throw error;
    }
  }

  #send(
    args: readonly string[],
    request: Request | undefined,
    answered: (answer: unknown) => void,
    failed: (error: unknown) => void,
    repeats = request === undefined,
  ): Operation {
    const operation = { args, request, answered, failed, repeats, withdrawn: false };
    this.#batch.push(operation);
    // Time-outs that expire at once go in one call.
    if (this.#phase === 'open') this.#schedule(args[0] === 'C' ? later : soon);
    return operation;
  }

  /** `later`: after all timers that have expired have run, and not after each. */
  #schedule(when = soon): void {
    if (this.#scheduled === soon || this.#scheduled === when) return;
    this.#scheduled = when;
    // After the promises that this tick has settled have been served: what they ask for goes along.
    when(() => {
      this.#scheduled = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#phase === 'open' && this.#batch.length > 0) {
      const operations = this.#batch.splice(0, MOST_OPERATIONS).filter((operation) => !operation.withdrawn);
      if (operations.length > 0) this.#call(operations);
    }
  }

  #call(operations: Operation[]): void {
    const era = this.#era;
    const args = this.#head();
    for (const { args: more, request } of operations) {
      args.push(...more);
      if (request) request.unsent = undefined;
    }
    this.#run(args).then(
      (reply) => {
        this.look();
        if (era !== this.#era) return this.#again(operations);
        const first = reply[0];
        if (first === 'DEAD') {
          this.#again(operations);
          return this.#died('the server has ended the session');
        }
        if (first === 'STALE') {
          this.#again(operations);
          return this.#lost();
        }
        for (let i = 0; i < operations.length; i++) (operations[i] as Operation).answered(reply[i]);
        for (let i = operations.length; i < reply.length; i++) this.#hear(String(reply[i]));
      },
      (error) => {
        const refused = refusal(error);
        if (refused) {
          let heard = false;
          for (const { request, args, failed } of operations) {
            if (request && args[0] !== 'A' && args[0] !== 'T') continue;
            heard = true;
            failed(refused);
          }
          if (!heard) this.around.emit('error', refused);
        } else {
          this.#again(operations);
        }
        if (era === this.#era) this.#lost();
      },
    );
  }

  /** Operations that no `S` settles are sent again. */
  #again(operations: Operation[]): void {
    this.#batch.unshift(...operations.filter(({ repeats }) => repeats));
    if (this.#phase === 'open') this.#schedule();
    else if (this.#batch.length > 0) this.#enter();
  }

  #head(): string[] {
    return [this.sid, String(this.#conn), this.#channel];
  }

  async #run(args: string[]): Promise<unknown[]> {
    const reply = await this.around.driver.run(TURN, this.#keys, args);
    return Array.isArray(reply) ? reply : [reply];
  }

  // Messages --------------------------------------------------------------------------------------------------------

  #heard(message: string): void {
    this.look();
    const at = message.indexOf(';');
    const seq = Number(message.slice(0, at));
    // A message for an earlier connection may tell of what a failover has lost.
    if (Math.floor(seq / SEQS_OF_A_CONNECTION) !== this.#heardConn) return;
    // `O` has come to the server, or there was no such message. Its answer may be under way still.
    if (this.#deadline === Infinity) {
      this.#answeredAt(this.#enteredAt);
      // The process may have stood still for so long that the server has taken back what the message grants.
      this.look();
      if (this.#deadline === Infinity) return;
    }
    const isNext = seq === this.#lastSeq + 1;
    if (seq > this.#lastSeq) this.#lastSeq = seq;
    for (const entry of message.slice(at + 1).split(',')) this.#hear(entry, seq);
    if (!isNext) this.#compare();
  }

  /** rid:ticket:deaths:lent:waiting, rid:x (disposed), rid:c (cancelled) or !rid (others wait for the mutex it holds). */
  #hear(entry: string, seq = 0): void {
    if (entry[0] === '!') {
      const holder = this.#requests.get(entry.slice(1));
      if (holder) holder.object.othersWait = true;
      return;
    }
    const request = this.#requests.get(entry.slice(0, 10));
    const text = entry.slice(11);
    if (request === undefined) return;
    if (text === 'x') this.#fail(request, disposed(request.object));
    else if (text === 'c') this.#fail(request, new CancelledError('the request was cancelled by cancelAll'));
    else this.#granted(request, text, seq);
  }

  /** A message may be lost. Asks the server for its state of all requests; all that was sent before has arrived then. */
  #compare(): void {
    if (this.#phase !== 'open') {
      this.#hasGap = true;
      return;
    }
    const listed = [...this.#requests.values()];
    this.#send(
      this.#listing(listed),
      undefined,
      (answer) => {
        const [first, ...states] = answer as string[];
        this.#lastSeq = Math.max(this.#lastSeq, Number((first as string).split(' ')[1]));
        listed.forEach((request, i) => {
          const state = states[i] as string;
          if (request.state !== 'asked' && request.state !== 'waiting') return;
          if (state[0] === 'H') this.#granted(request, state.slice(2));
          else if (state === 'G' && request.state === 'waiting') this.#expelled(request);
        });
      },
      nothing,
      // Entering lists all requests anew. A list from before would take the numbers of messages as seen that it misses.
      false,
    );
  }

  #listing(listed: Request[]): string[] {
    const last = this.#lastNumber.toString(16).padStart(10, '0');
    return ['S', last, String(listed.length), ...listed.map(({ rid }) => rid)];
  }

  /** The server has taken a waiter out, and the message is lost: the object was disposed of, or all were cancelled. */
  #expelled(request: Request): void {
    const { object } = request;
    this.#send(
      ['I', object.name, '0'],
      undefined,
      (answer) => {
        const error = answer === 'X' ? disposed(object) : new CancelledError('the request was cancelled by cancelAll');
        this.#fail(request, error);
      },
      (error) => this.#fail(request, error),
    );
  }

  // Entering --------------------------------------------------------------------------------------------------------

  /** A connection is down, or new. */
  reconnect(): void {
    if (this.#phase === 'open') this.#lost();
  }

  /** What is under way may or may not arrive. Enters again. */
  #lost(): void {
    this.#era++;
    this.#phase = 'entering';
    this.#heardConn = -1;
    // What opens an object may not have arrived.
    for (const object of this.#objects.values()) if (object.born === '-') object.openedIn = '';
    // `S` settles the operations of requests.
    this.#batch = this.#batch.filter(({ repeats }) => repeats);
    for (const request of this.#requests.values()) request.unsent = undefined;
    this.around.clock.stop(this.#beatTimer);
    this.#enter();
  }

  /** The server knows the session no more. */
  #died(why: string): void {
    this.sid = '';
    this.#lose(why, true);
    this.#lost();
  }

  #enter(): void {
    if (this.#isEntering || this.#phase === 'ended') return;
    this.#isEntering = true;
    this.#phase = 'entering';
    void this.#tryToEnter().finally(() => {
      this.#isEntering = false;
      // A loss, or a request, may have come between the last step and here.
      if (this.#phase === 'entering') this.#enter();
    });
  }

  async #tryToEnter(): Promise<void> {
    for (let attempt = 0; this.#phase === 'entering'; attempt++) {
      if (this.sid === '' && !this.isNeeded) {
        this.#phase = 'closed';
        return;
      }
      await this.around.whenConnected();
      const era = this.#era;
      try {
        await this.#enterOnce(era);
      } catch (error) {
        const refused = refusal(error) ?? (error instanceof SpaceError ? error : undefined);
        if (refused && this.sid === '') this.#refuse(refused);
        else if (refused) this.around.emit('error', refused);
      }
      if (this.#phase === 'entering' && era === this.#era) await this.#wait(Math.min(1000, 10 * 2 ** attempt));
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.around.clock.after(ms * (0.5 + Math.random() / 2), resolve, this.isNeeded));
  }

  async #enterOnce(era: number): Promise<void> {
    const { clock, driver, lease, partitions, label } = this.around;
    const isNew = this.sid === '';
    const sid = isNew ? (driver.cluster ? 's' : 'p') + randomDigits(15) : this.sid;
    if (isNew) {
      await this.#stopListening?.().catch(nothing);
      this.#stopListening = undefined;
      this.#stopListening = await driver.listen(this.#channel + sid, (message) => this.#heard(message));
      this.#conn = 0;
    } else {
      this.#conn++;
    }
    this.#lastSeq = this.#conn * SEQS_OF_A_CONNECTION;
    this.#heardConn = this.#conn;
    this.#hasGap = false;
    const listed = isNew ? [] : [...this.#requests.values()];
    const args = [sid, String(this.#conn), this.#channel, 'O', VERSION, String(partitions), String(lease), label];
    if (!isNew) args.push(...this.#listing(listed));
    const sentAt = clock.now();
    this.#enteredAt = sentAt;
    // A connection may stand and carry nothing.
    const patience = clock.after(lease / 2, () => driver.reset(), false);
    const reply = await this.#run(args).finally(() => clock.stop(patience));
    this.look();
    if (era !== this.#era || this.#phase !== 'entering') return;
    const first = String(reply[0]);
    if (first.startsWith('V ')) throw this.#settingsDiffer(first);
    if (first === 'DEAD' || first === 'STALE') {
      this.sid = '';
      this.#lose('the server has ended the session', true);
      this.#era++;
      return;
    }
    const epoch = first.slice(2);
    const isAnother = this.#epoch !== '' && epoch !== this.#epoch;
    this.#epoch = epoch;
    this.sid = sid;
    this.#phase = 'open';
    this.#answeredAt(sentAt);
    // The process may have stood still for so long that the server has taken back what the answer grants.
    this.look();
    if (era !== this.#era) return;
    this.#orderBeats();
    // What was asked for meanwhile comes after what was asked for before.
    const others = this.#batch;
    this.#batch = [];
    if (!isNew) this.#settle(listed, reply[1] as string[], isAnother);
    const known = new Set(listed);
    for (const request of this.#requests.values()) {
      if (!known.has(request) && (request.state === 'asked' || request.state === 'waiting')) this.#sendAsk(request);
    }
    this.#batch.push(...others);
    if (this.#hasGap) this.#compare();
    this.#hasGap = false;
    this.#flush();
    this.#beatLater();
    if (isAnother) this.around.emit('failover');
    if (!isNew) this.around.emit('resumed');
    this.around.keepAlive();
  }

  #settingsDiffer(answer: string): SpaceError {
    const [, version, partitions, lease] = answer.split(' ');
    const { space, partitions: p, lease: mine } = this.around;
    const theirs = `version ${version}, ${partitions} partitions and a lease of ${lease} ms`;
    const ours = `version ${VERSION}, ${p} partitions and a lease of ${mine} ms`;
    return new SpaceError(
      'SETTINGS',
      `the space ${JSON.stringify(space)} has ${theirs}, and this process asks for ${ours}`,
    );
  }

  /** The server cannot be used. Everybody hears it. A later request tries again. */
  #refuse(error: SpaceError): void {
    this.#phase = 'closed';
    const operations = this.#batch;
    this.#batch = [];
    for (const request of [...this.#requests.values()]) this.#fail(request, error);
    for (const { failed, request } of operations) if (request === undefined) failed(error);
  }

  /** Brings the server's state of the requests that were listed together with what the process wants of them now. */
  #settle(listed: Request[], [first, ...states]: string[], isAnotherHistory: boolean): void {
    const seq = (first as string).split(' ')[1];
    this.#lastSeq = Math.max(this.#lastSeq, Number(seq));
    listed.forEach((request, i) => {
      const answer = states[i] as string;
      const kind = answer[0];
      switch (request.state) {
        case 'asked':
        case 'waiting':
          if (kind === 'H') {
            this.#granted(request, answer.slice(2));
          } else if (kind === 'Q') {
            request.state = 'waiting';
          } else if (request.state === 'waiting' && !isAnotherHistory) {
            this.#expelled(request);
          } else {
            this.#sendAsk(request);
          }
          break;
        case 'held':
        case 'returning':
          this.#settleHeld(request, answer, Number(seq));
          break;
        case 'leaving':
          if (kind === 'Q') this.#sendCancel(request);
          else this.#cancelled(request, answer);
          break;
        case 'over':
          if (kind === 'Q') this.#sendCancel(request);
          else if (kind === 'H') this.#undo(request, answer);
          break;
        case 'passed':
          // It comes off the queue when the turn ends, or was dropped.
          break;
      }
    });
  }

  #settleHeld(request: Request, answer: string, seq: number): void {
    if (answer[0] === 'H') {
      const [ticket, deaths, lent, , permits] = answer.slice(2).split(':');
      if (ticket === request.ticket) {
        request.kept = Number(permits);
        request.deaths = Number(deaths);
        request.lent = Number(lent);
        if (request.kept > request.wanted) {
          this.#sendBack(request);
        } else if (request.wanted === 0) {
          this.#end(request);
        } else {
          for (const resolve of request.settled.splice(0)) resolve();
        }
        return;
      }
    }
    // A message has granted it since the server wrote the answer.
    if (request.heardAt > seq) {
      if (request.kept > request.wanted) this.#sendBack(request);
      return;
    }
    const wasHeld = request.state === 'held';
    const { guard, object } = request;
    this.#end(request);
    // A failover has lost the grant, and the server has the request in its queue still; or a driver has sent it once more.
    if (answer[0] === 'Q') this.#sendCancel(request);
    else if (answer[0] === 'H') this.#undo(request, answer);
    if (wasHeld) {
      guard?.lose('a failover has lost the grant');
      this.around.emit('lost', { names: [object.name], reason: 'a failover has lost the grant' });
    }
  }

  // The lease -------------------------------------------------------------------------------------------------------

  #answeredAt(sentAt: number): void {
    this.#deadline = sentAt + LOST_AFTER * this.around.lease;
    this.#lookAtDeadline();
  }

  #lookAtDeadline(): void {
    const { clock } = this.around;
    clock.stop(this.#deadlineTimer);
    if (this.#deadline === Infinity) return;
    const look = (): void => {
      this.look();
      // A timer of Node may be early.
      this.#lookAtDeadline();
    };
    this.#deadlineTimer = clock.after(Math.max(1, this.#deadline - clock.now()), look, false);
  }

  #orderBeats(): void {
    const order = {
      partition: this.#partition,
      sid: this.sid,
      conn: this.#conn,
      keys: this.#keys,
      channel: this.#channel,
    };
    this.around.heartbeat?.order(order);
  }

  look(): void {
    const now = this.around.clock.now();
    if (now < this.#deadline) return;
    const beatenAt = this.around.heartbeat?.lastOf(this.#partition) ?? 0;
    if (beatenAt + LOST_AFTER * this.around.lease > now) {
      this.#answeredAt(beatenAt);
      return;
    }
    this.#deadline = Infinity;
    this.#lose('the server has not answered for 0.7 of the lease', false);
    // An answer or a message that comes now may be older than what the server has taken back since.
    if (this.#phase === 'open') this.#lost();
    // The connection may stand and carry nothing.
    this.around.driver.reset();
  }

  /** All that is held is lost. forgotten: the server has taken it back. */
  #lose(why: string, forgotten: boolean): void {
    const names = new Set<string>();
    for (const request of [...this.#requests.values()]) {
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
      } else if (state === 'held' && this.#phase === 'open') {
        this.#sendBack(request);
      }
    }
    if (forgotten) this.#deadline = Infinity;
    if (names.size > 0) this.around.emit('lost', { names: [...names], reason: why });
  }

  #beatLater(soonest = false): void {
    const { clock, lease } = this.around;
    clock.stop(this.#beatTimer);
    const ms = soonest ? 0 : (lease / 4) * (0.8 + 0.2 * Math.random());
    this.#beatTimer = clock.after(ms, () => this.#beat(), false);
  }

  #beat(): void {
    if (this.#phase !== 'open') return;
    const { clock, lease } = this.around;
    if (!this.isNeeded && clock.now() - this.#usedAt > lease) {
      this.#leave();
      return;
    }
    this.#beatLater();
    const era = this.#era;
    const sentAt = clock.now();
    this.#run([...this.#head(), ...beat(lease)]).then(
      (reply) => {
        this.look();
        if (era !== this.#era) return;
        const first = String(reply[0]);
        if (first === 'DEAD') return this.#died('the server has ended the session');
        if (first === 'STALE') return this.#lost();
        this.#answeredAt(sentAt);
        const [, seq, left] = first.split(' ');
        for (const entry of reply.slice(1)) this.#hear(String(entry));
        if (Number(seq) !== this.#lastSeq) this.#compare();
        if (left === '1') this.#beatLater(true);
      },
      () => {
        if (era === this.#era) this.#lost();
      },
    );
  }

  /** Nobody holds or waits: the session ends, and the next request opens another. */
  #leave(): void {
    this.#run([...this.#head(), 'X']).catch(nothing);
    this.#forget();
    this.#phase = 'closed';
  }

  #forget(): void {
    const { clock } = this.around;
    this.#era++;
    this.sid = '';
    this.#orderBeats();
    this.#deadline = Infinity;
    clock.stop(this.#deadlineTimer);
    clock.stop(this.#beatTimer);
    void this.#stopListening?.().catch(nothing);
    this.#stopListening = undefined;
  }

  /** The space is closed: everything goes back at once. Resolves when the server has it, and never rejects. */
  async close(error: Error): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.#flush();
    this.#phase = 'ended';
    this.#fatal = error;
    const { clock, driver, lease } = this.around;
    // Who waits for the close must be told of its end, also by a server that does not answer.
    this.#operating++;
    const patience = clock.after(lease / 2, () => driver.reset(), true);
    const sent = wasOpen ? this.#run([...this.#head(), 'X']) : Promise.resolve();
    for (const request of [...this.#requests.values()]) {
      if (request.state === 'held') {
        request.guard?.lose('the space has been closed');
        this.#end(request);
      } else {
        this.#fail(request, error);
      }
    }
    for (const { failed } of this.#batch.splice(0)) failed(error);
    this.#forget();
    await sent.catch(nothing);
    clock.stop(patience);
    this.#operating--;
    this.around.keepAlive();
  }
}

function randomDigits(count: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(count));
  return Array.from(bytes, (byte) => (byte & 15).toString(16)).join('');
}

const { nextTick } = globalThis.process ?? {};
/** Calls `run` once the promises that are settled now have been served. */
const soon: (run: () => void) => void = nextTick
  ? (run) => queueMicrotask(() => nextTick(run))
  : (run) => queueMicrotask(() => queueMicrotask(run));

const { setImmediate: immediate, setTimeout: start } = globalThis as typeof globalThis & {
  setImmediate?: (run: () => void) => unknown;
};

/** Calls `run` once all timers that have expired have run. Node serves promises after each of them. */
const later: typeof soon = (run) => void (immediate ?? start)(run);

/** Resolves when all has been read that has come by now: the first step may come in the midst of reading. */
function eventsHandled(): Promise<void> {
  return new Promise((resolve) => later(() => later(resolve)));
}
