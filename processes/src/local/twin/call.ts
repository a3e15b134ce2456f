/**
 * What a call changes: requests, objects and sessions. turn.ts has the operations, which call these methods, and says
 * how the twin differs from the script.
 */

import { END, hex, NOBODY, type Request, type Session, type SharedObject, type State, type Ticket } from './state.js';

export type Answer = string | readonly Answer[];

/** How much one call does. The script has the same numbers. */
export interface Limits {
  readonly work: number;
  readonly found: number;
  /**
   * Whether a broker runs the twin, which does a little more than the script. It counts `since` from the time of each
   * call: on a server a request has no room for times, so clients mark requests (`U`) at the times of their beats. And
   * it forgets a session that its member has given up, because the answer to its `O` was lost: no lease ends such a
   * session here.
   */
  readonly isBroker: boolean;
  /**
   * Whether beats let the tickets rise to the time, if they are far behind, as a broker does. After a restart of the
   * machine the clock may have been wrong when the state began.
   */
  readonly rises: boolean;
}

const MOST_LENT = 255;

/** The arguments of a call, and what it has changed and told so far. */
export class Call {
  protected readonly state: State;
  protected readonly args: readonly string[];
  protected at = 3;
  protected readonly sid: string;
  protected readonly conn: number;
  protected readonly member: string;
  protected readonly now: number;
  protected readonly found: number;
  /** How much work this call may still do. */
  protected work: number;
  /** The time of the last beat before this call, or of this call. */
  protected readonly beaten: number;
  protected readonly isBroker: boolean;
  protected readonly rises: boolean;
  /** Who gets its news in the reply. */
  protected caller: string;
  protected readonly own: string[] = [];
  protected readonly told = new Map<string, string[]>();
  protected readonly changed = new Set<SharedObject>();

  constructor(state: State, args: readonly string[], member: string, now: number, limits: Limits) {
    this.state = state;
    this.args = args;
    this.sid = args[0] as string;
    this.caller = this.sid;
    this.conn = Number(args[1]);
    this.member = member;
    this.now = now;
    this.work = limits.work;
    this.found = limits.found;
    this.isBroker = limits.isBroker;
    this.rises = limits.rises;
    this.beaten = this.isBroker ? now : state.beaten;
  }

  protected next(): string {
    return this.args[this.at++] as string;
  }

  protected nextNumber(radix = 10): number {
    return Number.parseInt(this.next(), radix);
  }

  protected nextList(): readonly string[] {
    const count = this.nextNumber();
    this.at += count;
    return this.args.slice(this.at - count, this.at);
  }

  // Objects and tickets -----------------------------------------------------------------------------------------------

  /** The object of this name, if it is the one that was made with the ticket `born`, or if any will do (-). */
  protected object(name: string, born = '-'): SharedObject | undefined {
    const object = this.state.objects.get(name);
    return born === '-' || born === object?.born ? object : undefined;
  }

  /** The object for which the request was made, if it still exists. */
  protected objectOf({ name, ticket }: Pick<Request, 'name' | 'ticket'>): SharedObject | undefined {
    const object = this.state.objects.get(name);
    return object && ticket > object.born ? object : undefined;
  }

  protected nextTicket(): Ticket {
    return hex(++this.state.ticket, 14);
  }

  protected get place(): string {
    return `1.${this.state.history}`;
  }

  // Requests ----------------------------------------------------------------------------------------------------------

  protected request(sid: string, rid: string): Request | undefined {
    return this.state.sessions.get(sid)?.requests.get(rid);
  }

  protected hold(object: SharedObject, request: Request): string {
    request.waits = false;
    if (this.isBroker) request.grantedAt = this.now;
    object.free -= request.n;
    request.deaths = object.deaths;
    object.deaths = 0;
    if (object.kind === 'm') {
      object.holder = request.sid + request.rid;
      object.lent = Math.min(MOST_LENT, object.bypass);
      this.lend(object, request);
    }
    return `${request.ticket}:${request.deaths}:${object.lent}:${object.queue.length}`;
  }

  protected ask(queues: boolean): Answer {
    const [name, born, rid, n] = [this.next(), this.next(), this.next(), this.nextNumber(16)];
    const session = this.state.sessions.get(this.sid) as Session;
    const known = session.requests.get(rid);
    if (known) return this.stateOf(known);
    const object = this.object(name, born);
    if (!object) return 'X';
    if (n > object.max) return `M ${object.max}`;
    const isFree = object.queue.length === 0 && n <= object.free;
    if (!isFree && !queues) return 'R';
    const request: Request = {
      ...{ sid: this.sid, rid, name, ticket: this.nextTicket(), n, waits: !isFree },
      ...{ base: object.passes, beaten: this.beaten, deaths: 0 },
    };
    session.requests.add(request);
    if (isFree) return `H ${this.hold(object, request)}`;
    object.queue.add(request);
    const holder = object.holder.slice(0, 16);
    if (object.kind === 'm' && !object.noticed && object.lent > 0 && holder !== this.sid) {
      object.noticed = true;
      this.tell(holder, `!${object.holder.slice(16)}`);
    }
    return `Q ${object.queue.length}`;
  }

  protected endTurn(object: SharedObject, used: number): void {
    object.passes += Math.min(used, object.lent);
    object.lent = 0;
    object.noticed = false;
    object.holder = NOBODY;
  }

  protected giveBack(): Answer {
    const [name, rid, ticket, n, k, note, passes, served] = [
      ...([this.next(), this.next(), this.next(), this.nextNumber(16), this.nextNumber()] as const),
      ...([this.next(), this.nextNumber(), this.nextList()] as const),
    ];
    const { requests } = this.state.sessions.get(this.sid) as Session;
    const request = requests.get(rid);
    if (!request || request.waits) return 'G';
    if (request.name !== name || request.ticket !== ticket || request.n !== n) return 'G';
    if (note.length > 1) this.state.since.delete(this.sid + rid);
    if (k < n) request.n = n - k;
    else requests.delete(rid);
    const waiting = served.map((each) => requests.get(each));
    const object = this.objectOf(request);
    if (!object) {
      request.deaths = 0;
      for (const each of waiting) if (each) this.drop(each, false);
      return 'D';
    }
    if (note[0] === 'r' || note[0] === 'd') {
      this.restore(object, request);
      if (note[0] === 'd' && object.robust) object.deaths++;
    } else if (note[0] === 'c') {
      request.deaths = 0;
    }
    object.free += k;
    for (const each of waiting) if (each) this.takeOff(name, object, each);
    if (object.holder === this.sid + rid) this.endTurn(object, passes);
    this.grant(object);
    return 'D';
  }

  // The queue ---------------------------------------------------------------------------------------------------------

  protected tell(to: string, news: string): void {
    if (to === this.caller) {
      this.own.push(news);
      return;
    }
    const list = this.told.get(to);
    if (list) list.push(news);
    else this.told.set(to, [news]);
  }

  protected lend(object: SharedObject, holder: Request): void {
    const eldest = object.queue.head;
    if (!eldest) return;
    const left = object.bypass - (object.passes - eldest.base);
    object.lent = Math.max(0, Math.min(MOST_LENT, Math.ceil(left / Math.min(object.queue.length, 64))));
    if (eldest.sid !== holder.sid) object.noticed = true;
  }

  protected turnAway(object: SharedObject, request: Request, why: string): void {
    this.work--;
    object.queue.delete(request);
    this.state.sessions.get(request.sid)?.requests.delete(request.rid);
    this.tell(request.sid, `${request.rid}:${why}`);
  }

  protected grant(object: SharedObject): void {
    this.changed.add(object);
    for (let head = object.queue.head; head; head = object.queue.head) {
      if (head.n > object.free && head.n <= object.max) return;
      if (this.work <= 0) {
        this.state.left.add(object.name);
        this.own.push('+');
        return;
      }
      if (head.n > object.max) {
        this.turnAway(object, head, `m${object.max}`);
        continue;
      }
      this.work--;
      if (head.ticket <= this.state.leapt) head.ticket = hex(++this.state.late, 14);
      object.queue.delete(head);
      this.tell(head.sid, `${head.rid}:${this.hold(object, head)}`);
    }
  }

  protected restore(object: SharedObject, request: Request): void {
    object.deaths += request.deaths;
    request.deaths = 0;
  }

  protected stateOf(request: Request | undefined): string {
    if (!request) return 'G';
    if (request.waits) return 'Q';
    const { sid, rid, ticket, n, deaths } = request;
    const object = this.objectOf(request);
    const isHolder = object?.holder === sid + rid && ticket > this.state.leapt;
    return `H ${ticket}:${deaths}:${isHolder ? object.lent : 0}:${object?.queue.length ?? 0}:${n}`;
  }

  protected drop(request: Request, died: boolean): void {
    const { sid, rid, n } = request;
    const requests = this.state.sessions.get(sid)?.requests;
    // Another drop of this call has turned it away.
    if (requests?.get(rid) !== request) return;
    requests.delete(rid);
    this.state.since.delete(sid + rid);
    const object = this.objectOf(request);
    if (!object) return;
    if (request.waits) {
      object.queue.delete(request);
    } else {
      object.free += n;
      if (object.robust) {
        this.restore(object, request);
        if (died) object.deaths++;
      }
      if (object.holder === sid + rid) this.endTurn(object, object.lent);
    }
    this.grant(object);
  }

  protected takeOff(name: string, object: SharedObject, request: Request): void {
    if (request.name !== name) return;
    if (request.waits) {
      object.queue.delete(request);
      this.state.sessions.get(request.sid)?.requests.delete(request.rid);
    } else if (!this.objectOf(request)) {
      this.drop(request, false);
    }
  }

  // Sessions ----------------------------------------------------------------------------------------------------------

  protected clear(session: Session, died: boolean): boolean {
    const requests = session.requests.range('', END, Math.max(this.work, 0));
    for (const request of requests) this.drop(request, died);
    this.work -= requests.length;
    return this.work > 0;
  }

  protected forget(session: Session): void {
    this.state.sessions.delete(session.sid);
  }

  protected expel(object: SharedObject, why: string, upTo: string): boolean {
    for (let head = object.queue.head; head; head = object.queue.head) {
      const isLeft = head.ticket <= upTo;
      if (!isLeft || this.work <= 0) {
        this.grant(object);
        return isLeft;
      }
      this.turnAway(object, head, why);
    }
    return false;
  }

  protected resize(object: SharedObject, max: number): void {
    object.free += max - object.max;
    Object.assign(object, { kind: 'r', max, lent: max });
    this.grant(object);
  }

  /** The request that holds what the arguments name. */
  protected heldBy(): Request | undefined {
    const [name, rid, ticket, sid] = [this.next(), this.next(), this.next(), this.next()];
    const request = this.request(sid, rid);
    if (!request || request.waits || request.ticket !== ticket || request.name !== name) return undefined;
    return this.objectOf(request) && request;
  }

  protected renewSign(): Ticket {
    this.state.beaten = this.now;
    if (this.rises) this.state.rise(this.now);
    return this.nextTicket();
  }

  protected goOn(): boolean {
    const { left } = this.state;
    const name = firstOf(left);
    if (name === undefined) return false;
    left.delete(name);
    const object = this.object(name);
    if (object) this.grant(object);
    return true;
  }
}

/** The first of these names in the order of their bytes. */
function firstOf(names: ReadonlySet<string>): string | undefined {
  let first: string | undefined;
  for (const name of names) if (first === undefined || compareBytes(name, first) < 0) first = name;
  return first;
}

const encoder = new TextEncoder();

function compareBytes(a: string, b: string): number {
  const [x, y] = [encoder.encode(a), encoder.encode(b)];
  for (let at = 0; at < Math.min(x.length, y.length); at++) {
    if (x[at] !== y[at]) return (x[at] as number) - (y[at] as number);
  }
  return x.length - y.length;
}
