/**
 * The state of a space, and the calls on it: the script of the server in JavaScript, over maps and lists.
 *
 *     a call: sid conn channel, then operations --- turn ---> reply: an answer for each operation, then news
 *     the death of a session                    --- reap --->        for the caller
 *     grants that are left                      --- goOn ---> messages: news for other sessions, with numbers
 *
 * The files in ../script/ say what each operation does, and why it is right; turn.lua there says in what a broker differs
 * from a server. Besides, a broker forgets a session that its member has given up, because the answer to its `O` was
 * lost: no lease ends such a session here.
 *
 * A call decides by the state, its arguments and the time alone. So whoever runs the same calls with the same times
 * again comes to the same state: the journal of the broker is made of this.
 */
import { operations } from './grammar.js';
import { scriptOn } from './script.js';
import { type Answer, type Message, type SharedObject, Store } from './store.js';

export type { Message };

export interface Outcome {
  readonly reply: readonly Answer[];
  readonly messages: readonly Message[];
  /** Whether the state may have changed. If not, the call need not be run again. */
  readonly changes: boolean;
  /** Of `reap`: whether the dead session still has requests. */
  readonly isLeft: boolean;
}

/** The operations that change nothing. */
const LOOKS = ['V', 'I', 'J', 'P'];

/** Behind all texts that begin with a hexadecimal number. */
const END = 'g';

/** Behind all texts that begin with a session: a small letter, but no z (grammar.ts). */
const SESSION_END = 'z';

/** 2020-01-01, from which the tickets count 1,024 a millisecond. */
const EPOCH = 1_577_836_800_000;
export const ticketAt = (now: number): number => (now - EPOCH) * 1024;

export class State {
  readonly #store: Store;
  readonly #run: (args: readonly string[]) => Answer[];
  /** The sessions that exist, and the member of each: of the space that the journal names. */
  readonly #members = new Map<string, string>();

  private constructor(history: string, script: typeof scriptOn) {
    this.#store = new Store(history);
    this.#run = script(this.#store);
  }

  /** A new history. Its tickets begin at a number made from the time. topmost: the largest ticket of those before. */
  static begin(history: string, now: number, topmost = 0, script = scriptOn): State {
    const state = new State(history, script);
    state.#store.META.set('ticket', topmost);
    state.goOn(now);
    return state;
  }

  // Calls -------------------------------------------------------------------------------------------------------------

  /** Runs a call. member: who sends it. now: Unix time in milliseconds. */
  turn(args: readonly string[], member: string, now: number): Outcome {
    const reply = this.#call(args, now);
    const { messages, LEASES } = this.#store;
    const [sid = '', conn, , letter] = args;
    const isOver = reply[0] === 'DEAD' || reply[0] === 'STALE';
    if (letter === 'O' && !isOver && LEASES.has(sid)) {
      this.#members.set(sid, member);
      if (conn === '0') this.#forgetOthers(sid, member, now);
    }
    if (args.at(-1) === 'X' && !LEASES.has(sid)) this.#members.delete(sid);
    return { reply, messages, changes: !isOver && !onlyLooks(args), isLeft: false };
  }

  /** Takes back what a dead session has, or a part of this; then `isLeft` asks for another call. */
  reap(sid: string, now: number): Outcome {
    const [answer, ...reply] = this.#call(['', '', '', 'Z', sid], now);
    const isLeft = answer === '+';
    if (!isLeft) this.#members.delete(sid);
    return { reply, messages: this.#store.messages, changes: true, isLeft };
  }

  /** Makes grants that earlier calls have left (`hasLeft`), or a part of them. */
  goOn(now: number): Outcome {
    const [, ...reply] = this.#call(['', '', '', 'Y'], now);
    return { reply, messages: this.#store.messages, changes: true, isLeft: false };
  }

  #call(args: readonly string[], now: number): readonly Answer[] {
    this.#store.now = now;
    this.#store.messages = [];
    return this.#run(args);
  }

  /** Forgets the sessions of a member that have no requests, but for this one. */
  #forgetOthers(sid: string, member: string, now: number): void {
    for (const [other, of] of this.#members)
      if (of === member && other !== sid && !this.hasRequests(other)) this.reap(other, now);
  }

  // Looks -------------------------------------------------------------------------------------------------------------

  /** The last ticket that was given. */
  get ticket(): number {
    return Number(this.#store.META.get('ticket'));
  }

  /** The sessions that exist, and their members. */
  get members(): ReadonlyMap<string, string> {
    return this.#members;
  }

  /** Whether grants are left. */
  get hasLeft(): boolean {
    return this.#store.QUEUE.first('\0', '\x01') !== undefined;
  }

  /** What all sessions agree on: the format of the data, the number of partitions and the lease. */
  get agreed(): readonly (string | undefined)[] {
    return ['v', 'p', 'lease'].map((field) => this.#store.META.get(field) as string | undefined);
  }

  object(name: string): SharedObject | undefined {
    return this.#store.OBJECTS.get(name) as SharedObject | undefined;
  }

  /** Whether a request waits or holds. Undefined: there is none. */
  request(sid: string, rid: string): 'waits' | 'holds' | undefined {
    const record = this.#store.RECORDS.first(sid + rid, sid + rid + END);
    return record === undefined ? undefined : this.#fate(record);
  }

  hasRequests(sid: string): boolean {
    return this.#store.RECORDS.first(sid, sid + END) !== undefined;
  }

  /** Whether a session holds something, or only waits for something. Undefined: neither. */
  needs(sid: string): 'waits' | 'holds' | undefined {
    const records = this.#store.RECORDS.range(sid, sid + END, Number.POSITIVE_INFINITY);
    if (records.length === 0) return undefined;
    return records.some((record) => this.#fate(record) === 'holds') ? 'holds' : 'waits';
  }

  #fate(record: string): 'waits' | 'holds' {
    // A record is sid(16) rid(10) ticket(14) n(8) name.
    const entry = `${record.slice(48)}\0${record.slice(26, 40)}`;
    return this.#store.QUEUE.first(entry, entry + SESSION_END) === undefined ? 'holds' : 'waits';
  }

  // Texts -------------------------------------------------------------------------------------------------------------

  /** The state as a text of one line, from which `load` makes it again. */
  dump(): string {
    const { META, OBJECTS, QUEUE, RECORDS, SESSIONS, LEASES, SEQS, RATES, ends, history } = this.#store;
    return JSON.stringify({
      ...{ ticket: this.ticket, history },
      ...{ meta: [...META], objects: [...OBJECTS], sessions: [...SESSIONS], leases: [...LEASES], seqs: [...SEQS] },
      ...{ rates: [...RATES], ends: [...ends] },
      ...{ queue: all(QUEUE), records: all(RECORDS), members: [...this.#members] },
    });
  }

  /** Throws if the text is no dump. */
  static load(text: string, script = scriptOn): State {
    const { history, meta, objects, sessions, leases, seqs, rates, ends, queue, records, members } = JSON.parse(text);
    const state = new State(history, script);
    const { META, OBJECTS, QUEUE, RECORDS, SESSIONS, LEASES, SEQS, RATES } = state.#store;
    const pairs = [
      [META, meta],
      [OBJECTS, objects],
      [SESSIONS, sessions],
      [LEASES, leases],
      [SEQS, seqs],
      // A dump of an earlier version has none.
      [RATES, rates ?? []],
      [state.#store.ends, ends ?? []],
    ] as const;
    for (const [map, entries] of [...pairs, [state.#members, members] as const])
      for (const [key, value] of entries) (map as Map<string, unknown>).set(key, value);
    for (const entry of queue) QUEUE.add(entry);
    for (const record of records) RECORDS.add(record);
    return state;
  }
}

const isLook = (letter: string | undefined): boolean => LOOKS.includes(letter as string);
const onlyLooks = (args: readonly string[]): boolean =>
  isLook(args[3]) && [...operations(args)].every((at) => isLook(args[at]));

const all = (list: Store['QUEUE']): string[] => list.range('', undefined, Number.POSITIVE_INFINITY);
