/**
 * What the twin knows of a space: the objects, the sessions, and the requests that wait or hold. Nothing here decides
 * anything; turn.ts does.
 *
 *     State --- objects:  name --> SharedObject --- queue: the requests that wait for it, eldest first
 *           --- sessions: sid  --> Session ------- requests: rid --> Request, whether it waits or holds
 *
 * A request that is in no queue holds its permits. Invariant: a request with `waits` is in the queue of the object of
 * its name, and no other request is in a queue. script/turn.lua lists the invariants I1 to I6, which hold here too.
 *
 * The script keeps the same in seven keys (script/turn.lua). Here each request is one object, where the script has a
 * record, an entry of the queue and perhaps a number of deaths.
 */

/** 14 hexadecimal digits, so tickets sort as strings do. */
export type Ticket = string;

/** A request that waits or holds. */
export interface Request {
  readonly sid: string;
  readonly rid: string;
  readonly name: string;
  ticket: Ticket;
  /** The permits that it waits for, or holds. */
  n: number;
  waits: boolean;
  /** `passes` of the mutex when the request was made. */
  readonly base: number;
  /** The time of the last beat before the request was made, in milliseconds; in a broker, of the request. */
  readonly beaten: number;
  /** When the request was granted. Only a broker notes this. */
  grantedAt?: number;
  /** The number of deaths of which the holder was told. */
  deaths: number;
}

/** An object that requests wait for. script/objects.lua says what each field means. */
export interface SharedObject {
  readonly name: string;
  kind: string;
  max: number;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly born: Ticket;
  free: number;
  deaths: number;
  readonly bypass: number;
  passes: number;
  lent: number;
  noticed: boolean;
  /** sid and rid of the holder of a mutex, or `NOBODY`. */
  holder: string;
  readonly queue: Queue;
}

export const NOBODY = '-';

/** A process that takes part. */
export interface Session {
  readonly sid: string;
  conn: number;
  /** The last format that the process can read. */
  reads: number;
  label: string;
  /** The number of the last message to the session. */
  seq: number;
  /** The ticket of its last sign of life. */
  sign: Ticket;
  /** Its process has died, and a part of its requests is taken away already. */
  isDead: boolean;
  /** Who has made the session known: the member of the space that the journal names. */
  member: string;
  readonly requests: Requests;
}

/** A number as so many hexadecimal digits. */
export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

interface Place {
  readonly request: Request;
  before: Place | undefined;
  behind: Place | undefined;
}

/** The requests that wait for an object, in the order of tickets. Each operation but the iteration takes constant time. */
export class Queue {
  readonly #places = new Map<Request, Place>();
  #first: Place | undefined;
  #last: Place | undefined;

  get length(): number {
    return this.#places.size;
  }

  get head(): Request | undefined {
    return this.#first?.request;
  }

  add(request: Request): void {
    const place: Place = { request, before: this.#last, behind: undefined };
    if (this.#last) this.#last.behind = place;
    else this.#first = place;
    this.#last = place;
    this.#places.set(request, place);
  }

  delete(request: Request): void {
    const place = this.#places.get(request);
    if (!place) return;
    this.#places.delete(request);
    if (place.before) place.before.behind = place.behind;
    else this.#first = place.behind;
    if (place.behind) place.behind.before = place.before;
    else this.#last = place.before;
  }

  *[Symbol.iterator](): Generator<Request> {
    for (let place = this.#first; place; place = place.behind) yield place.request;
  }
}

/** The requests of a session, by their numbers. A process numbers its requests upwards, so a sort is rare. */
export class Requests {
  #of = new Map<string, Request>();
  #last = '';
  #isSorted = true;

  get size(): number {
    return this.#of.size;
  }

  get(rid: string): Request | undefined {
    return this.#of.get(rid);
  }

  add(request: Request): void {
    this.#of.set(request.rid, request);
    if (request.rid > this.#last) this.#last = request.rid;
    else this.#isSorted = false;
  }

  delete(rid: string): void {
    this.#of.delete(rid);
  }

  /** The first `limit` requests whose numbers are at least `from` and at most `upTo`, in the order of their numbers. */
  range(from: string, upTo: string, limit: number): Request[] {
    if (!this.#isSorted) {
      this.#of = new Map([...this.#of].sort(([a], [b]) => (a < b ? -1 : 1)));
      this.#isSorted = true;
    }
    const found: Request[] = [];
    for (const [rid, request] of this.#of) {
      if (found.length >= limit || rid > upTo) break;
      if (rid >= from) found.push(request);
    }
    return found;
  }
}

/** The settings on which all sessions of a space agree. */
export interface Agreed {
  /** The newest format that the data may have. */
  readonly version: number;
  readonly partitions: string;
  readonly lease: string;
}

/** 2020-01-01, from which the tickets count 1,024 a millisecond. */
const EPOCH = 1_577_836_800_000;
const HOUR = 3_600_000;
export const ticketAt = (now: number): number => (now - EPOCH) * 1024;

/** The state of a space. A new one begins another history, and its tickets begin at a number made from the time. */
export class State {
  /** The name of the history: whoever finds another name knows that the state was lost. */
  readonly history: string;
  /** The last ticket that was given. */
  ticket = 0;
  /** Tickets up to this one may have been given in an earlier history. */
  leapt: Ticket = '';
  /** The last ticket that went to a request which has waited since an earlier history. */
  late = 0;
  /** The time of the last beat. */
  beaten = 0;
  agreed: Agreed | undefined;
  readonly objects = new Map<string, SharedObject>();
  readonly sessions = new Map<string, Session>();
  /** The names of objects of which grants are left. */
  readonly left = new Set<string>();
  /** Since when requests are held, by sid and rid: for those that a beat has named. */
  readonly since = new Map<string, number>();

  private constructor(history: string) {
    this.history = history;
  }

  /** topmost: the largest ticket of the histories before, if it is known. */
  static begin(history: string, now: number, topmost = 0): State {
    const state = new State(history);
    state.leap(now, topmost);
    return state;
  }

  /** If the tickets are more than an hour behind the time, they rise to that of a history that begins now. */
  rise(now: number): void {
    if (ticketAt(now - HOUR) > this.ticket) this.ticket = ticketAt(now);
  }

  /** Lets the tickets leap past `topmost`, and leaves room for those that wait. script/tickets.lua says why. */
  leap(now: number, topmost: number): void {
    const last = Math.max(this.ticket, topmost);
    const late = ticketAt(now);
    this.late = late <= last ? last + 2 ** 24 : late;
    this.ticket = this.late + this.left.size;
    for (const { queue } of this.objects.values()) this.ticket += queue.length;
    this.leapt = hex(this.ticket, 14);
  }

  /** The state as a text of one line, from which `load` makes it again. */
  dump(): string {
    const objects = [...this.objects.values()].map(({ queue, ...object }) => ({
      ...object,
      queue: Array.from(queue, ({ sid, rid }) => [sid, rid]),
    }));
    const sessions = [...this.sessions.values()].map(({ requests, ...session }) => ({
      ...session,
      requests: requests.range('', END, Number.POSITIVE_INFINITY),
    }));
    const { history, ticket, leapt, late, beaten, agreed } = this;
    const [left, since] = [[...this.left], [...this.since]];
    return JSON.stringify({ history, ticket, leapt, late, beaten, agreed, left, since, objects, sessions });
  }

  /** Throws if the text is no dump. */
  static load(text: string): State {
    const { history, left, since, objects, sessions, v: _, ...rest } = JSON.parse(text);
    const state = Object.assign(new State(history), rest);
    for (const name of left) state.left.add(name);
    for (const [key, ms] of since) state.since.set(key, ms);
    for (const { requests, ...session } of sessions) {
      const made: Session = { ...session, requests: new Requests() };
      for (const request of requests) made.requests.add(request);
      state.sessions.set(made.sid, made);
    }
    for (const { queue, ...object } of objects) {
      const made: SharedObject = { ...object, queue: new Queue() };
      for (const [sid, rid] of queue) made.queue.add(state.sessions.get(sid)?.requests.get(rid) as Request);
      state.objects.set(made.name, made);
    }
    return state;
  }
}

/** Behind the numbers of all requests. */
export const END = 'g';
