/**
 * The twin of the script on the server (script/*.lua): the same calls have the same replies and the same messages.
 *
 *     a call: sid conn channel, then operations --- turn ---> reply: an answer for each operation, then news
 *     the death of a session                    --- reap --->        for the caller
 *                                                       ---> messages: news for other sessions, with numbers
 *
 * The files in script/ say what each operation does, and why it is right. The functions here have the names that they
 * have there, and they stand in the order of those files: tickets, requests, queue and sessions in call.ts, operations
 * and call here. What differs:
 *
 * - Nobody watches leases. The broker knows deaths from the kernel and tells them by `reap`. So the ticket `seen` of `O`
 *   and `B` counts for nothing, and the answer Z never comes.
 * - There is one history, and one partition. No failover can lose a grant.
 * - `P` tells an object as it is after the operations before it in the same call, and lists the objects by their age.
 *   The script tells objects as they were before the call, in no order.
 * - No memory of a server is full.
 * - A broker does a little more (`Limits.isBroker`).
 *
 * A call decides by the state, its arguments and the time alone. So whoever runs the same calls with the same times
 * again comes to the same state: the journal of the broker is made of this.
 *
 * check/twin.ts compares the twin with the script: fixed, random and searched sequences.
 */

import { type Answer, Call, type Limits } from './call.js';
import {
  END,
  hex,
  NOBODY,
  Queue,
  type Request,
  Requests,
  type Session,
  type SharedObject,
  type State,
} from './state.js';

export type { Answer, Limits };

/** A message to a session, as the script publishes it: its number, a semicolon and news. */
export interface Message {
  readonly sid: string;
  readonly text: string;
}

export interface Outcome {
  readonly reply: readonly Answer[];
  readonly messages: readonly Message[];
  /** Whether the state may have changed. If not, the call need not be run again. */
  readonly changes: boolean;
  /** Of `reap`: whether the dead session still has requests. */
  readonly isLeft: boolean;
}

const LIMITS: Limits = { work: 128, found: 256, isBroker: true, rises: true };
const SEQS_OF_A_CONNECTION = 2 ** 32;

/** The operations that change nothing. */
const LOOKS = ['V', 'I', 'J', 'P'];

/** Runs a call. member: who sends it. now: Unix time in milliseconds. */
export function turn(state: State, args: readonly string[], member: string, now: number, limits = LIMITS): Outcome {
  return new Turn(state, args, member, now, limits).run();
}

/** Takes back what a dead session has, or a part of this; then `isLeft` asks for another call. */
export function reap(state: State, sid: string, now: number, limits = LIMITS): Outcome {
  return new Turn(state, ['', '', ''], '', now, limits).reap(sid);
}

/** Makes grants that earlier calls have left (`State.left`), or a part of them. */
export function goOn(state: State, now: number, limits = LIMITS): Outcome {
  return new Turn(state, ['', '', ''], '', now, limits).goOnAlone();
}

class Turn extends Call {
  #beat(): Answer {
    this.next();
    const session = this.state.sessions.get(this.sid) as Session;
    session.sign = this.renewSign();
    const isLeft = this.goOn();
    return `B ${session.seq} ${isLeft ? 1 : 0} ${session.sign} ${this.place}`;
  }

  reap(sid: string): Outcome {
    const session = this.state.sessions.get(sid);
    let isLeft = false;
    if (session) {
      session.isDead = true;
      session.sign = hex(0, 14);
      isLeft = !this.clear(session, true);
      if (!isLeft) this.forget(session);
    }
    return { ...this.#finish([], true), isLeft };
  }

  goOnAlone(): Outcome {
    this.goOn();
    return this.#finish([], true);
  }

  // Operations --------------------------------------------------------------------------------------------------------

  /** The answer, or DEAD or STALE, which end the call. */
  #open(): Answer {
    const state = this.state;
    const [formats, partitions, lease, label] = [this.next(), this.next(), this.next(), this.next()];
    const format = formats.split('-');
    const [writes, reads] = [Number(format[0]), Number(format.at(-1))];
    this.next();
    const topmost = this.nextNumber(16);
    const known = state.sessions.get(this.sid);
    if (this.conn !== 0) {
      if (!known || known.isDead) return 'DEAD';
      if (known.conn > this.conn) return 'STALE';
    }
    const { agreed } = state;
    const others = [...state.sessions.values()];
    const refuse = (): Answer => {
      this.at = this.args.length;
      return `V ${agreed?.version} ${agreed?.partitions} ${agreed?.lease}`;
    };
    if (this.conn === 0 && writes > 1 && agreed?.version === 1 && others.length > 0) return refuse();
    if (topmost > state.ticket) state.leap(this.now, topmost);
    if (this.conn === 0) {
      const isUnread = (): boolean => others.some((other) => !other.isDead && other.reads < writes);
      if (
        agreed &&
        (partitions !== agreed.partitions ||
          reads < agreed.version ||
          (others.length > 0 && (lease !== agreed.lease || isUnread())))
      ) {
        return refuse();
      }
      state.agreed = { version: Math.max(agreed?.version ?? writes, writes), partitions, lease };
      if (this.isBroker) {
        for (const other of others) {
          if (other.member === this.member && other.requests.size === 0) this.forget(other);
        }
      }
    }
    const sign = this.renewSign();
    state.sessions.set(this.sid, {
      ...{ sid: this.sid, conn: this.conn, reads, label, sign, isDead: false, member: this.member },
      ...{ seq: this.conn * SEQS_OF_A_CONNECTION, requests: known?.requests ?? new Requests() },
    });
    return `O ${sign} ${this.place}`;
  }

  #make(): Answer {
    const { objects } = this.state;
    const [name, kind, max] = [this.next(), this.next(), this.nextNumber()];
    const [robust, ephemeral, bypass] = [this.next() === '1', this.next() === '1', this.nextNumber()];
    let object = objects.get(name);
    if (object) {
      const both = object.kind + kind;
      const isResized = both === 'rs' || both === 'sr' || both === 'rr';
      const differs = !isResized && (object.kind !== kind || object.max !== max);
      if (differs || object.robust !== robust || object.ephemeral !== ephemeral || object.bypass !== bypass) {
        return `E ${object.kind} ${object.max} ${flag(object.robust)} ${flag(object.ephemeral)} ${object.bypass}`;
      }
      if (both === 'sr') this.resize(object, max);
    } else {
      object = {
        ...{ name, kind, max, robust, ephemeral, born: this.nextTicket(), free: max, deaths: 0 },
        ...{ bypass: kind === 'm' ? bypass : 0, passes: 0, lent: 0, noticed: false, holder: NOBODY },
        queue: new Queue(),
      };
      objects.set(name, object);
      this.changed.add(object);
    }
    return `N ${object.born}${object.kind === 'r' ? ` ${object.max}` : ''}`;
  }

  #changeMax(): Answer {
    const [object, max] = [this.object(this.next(), this.next()), this.nextNumber()];
    if (object?.kind !== 's' && object?.kind !== 'r') return 'X';
    this.resize(object, max);
    return 'R';
  }

  #cancel(): Answer {
    const request = this.request(this.sid, this.next());
    if (!request?.waits) return this.stateOf(request);
    this.drop(request, false);
    return 'C';
  }

  #list(): Answer {
    const [from, upTo, listed] = [this.next(), this.next(), this.nextList()];
    const { requests, seq } = this.state.sessions.get(this.sid) as Session;
    const wanted = new Set(listed);
    const found = requests.range(from, upTo, this.found);
    for (const request of found) if (!wanted.has(request.rid)) this.drop(request, false);
    const isWhole = found.length < this.found;
    return [`${isWhole ? 'S' : 's'} ${seq} ${this.place}`, ...listed.map((rid) => this.stateOf(requests.get(rid)))];
  }

  #mark(): Answer {
    const { since } = this.state;
    for (const rid of this.nextList()) {
      const key = this.sid + rid;
      const request = this.request(this.sid, rid);
      if (!request || request.waits) since.delete(key);
      else if (!since.has(key)) since.set(key, this.now);
    }
    return 'U';
  }

  #leave(): Answer {
    const session = this.state.sessions.get(this.sid) as Session;
    if (!this.clear(session, false)) return '+';
    this.forget(session);
    return 'X';
  }

  #revoke(): Answer {
    const request = this.heldBy();
    if (!request) return '0';
    this.tell(request.sid, `${request.rid}:r`);
    this.drop(request, true);
    return '1';
  }

  #tellObjects(): Answer {
    const behind = this.next();
    const lines: string[] = [];
    for (const object of this.state.objects.values()) {
      const { name, born, kind, free, queue, deaths, bypass, passes, lent, noticed, holder } = object;
      if (born <= behind) continue;
      const ofMutex = kind === 'm' ? ` ${bypass} ${passes} ${lent} ${flag(noticed)} ${holder}` : '';
      lines.push(`${name}\0${settingsOf(object)} ${free} ${queue.length} ${deaths}${ofMutex}`);
      if (lines.length === this.found) return [born, ...lines];
    }
    return ['0', ...lines];
  }

  #cancelAll(): Answer {
    const [name, born, upTo] = [this.next(), this.next(), this.next()];
    const object = this.object(name, born);
    if (!object) return 'X';
    const last = upTo === '-' ? hex(this.state.ticket, 14) : upTo;
    return this.expel(object, 'c', last) ? `L ${last}` : 'L';
  }

  #dispose(): Answer {
    const object = this.object(this.next(), this.next());
    if (!object) return 'X';
    if (this.expel(object, 'x', END)) return '+';
    this.state.objects.delete(object.name);
    return 'K';
  }

  #inspect(): Answer {
    const [name, limit, place, from] = [this.next(), this.nextNumber(), this.next(), this.next()];
    const object = this.object(name);
    if (!object) return 'X';
    const { sessions, since } = this.state;
    const sids = new Set<string>();
    const entries: string[] = [];
    for (const { ticket, sid, rid, n, base, beaten } of object.queue) {
      if (entries.length >= limit) break;
      const entry = ticket + sid + rid + hex(n, 8) + hex(base, 14) + hex(beaten, 11);
      if (entry < place) continue;
      entries.push(`${name}\0${entry}`);
      sids.add(sid);
    }
    const isSearched = limit > 0 && object.free < object.max;
    const looked = !isSearched ? [] : object.kind === 'm' ? this.#holderOf(object, from) : this.#requestsFrom(from);
    const holders = looked.filter((each) => each.name === name && this.objectOf(each) && !each.waits);
    for (const { sid } of holders) sids.add(sid);
    const last = looked.at(-1);
    return [
      `I ${settingsOf(object)} ${object.free} ${object.queue.length} ${object.deaths} ${object.bypass}`,
      entries,
      holders.map(({ sid, rid, ticket, n }) => sid + rid + ticket + hex(n, 8) + name),
      last && looked.length === this.found ? last.sid + last.rid + END : '',
      Array.from(sids, (sid) => `${sid} ${labelOf(sessions.get(sid), '')}`),
      holders.map(({ sid, rid, grantedAt }) => `${since.get(sid + rid) ?? grantedAt ?? ''}`),
      `${this.now}`,
    ];
  }

  #holderOf({ holder }: SharedObject, from: string): Request[] {
    const request = from === '' ? this.request(holder.slice(0, 16), holder.slice(16)) : undefined;
    return request ? [request] : [];
  }

  /** The first requests of all sessions, from a place on, in the order of sid and rid. */
  #requestsFrom(from: string): Request[] {
    const { sessions } = this.state;
    const found: Request[] = [];
    const at = from.slice(0, 16);
    for (const sid of [...sessions.keys()].filter((each) => each >= at).sort()) {
      const first = sid === at ? from.slice(16) : '';
      found.push(...(sessions.get(sid) as Session).requests.range(first, END, this.found - found.length));
      if (found.length >= this.found) break;
    }
    return found;
  }

  #tellSessions(): Answer {
    const from = this.next();
    const { ticket, history, sessions } = this.state;
    const behind = from.startsWith('(') ? hex(Number(from.slice(1)), 14) : '';
    const all = [...sessions.values()].filter(({ sign }) => sign > behind).sort((a, b) => (a.sign < b.sign ? -1 : 1));
    const told = all.slice(0, this.found);
    const last = told.length === this.found ? `(${Number.parseInt((told.at(-1) as Session).sign, 16)}` : '-';
    const lines = told.map((session) => `${session.sid} ${labelOf(session, 'dead')}`);
    return [`J 1 ${history} ${ticket} ${last}`, ...lines];
  }

  // The call ----------------------------------------------------------------------------------------------------------

  #operate(letter: string): Answer {
    switch (letter) {
      case 'A':
        return this.ask(true);
      case 'T':
        return this.ask(false);
      case 'D':
        return this.giveBack();
      case 'O':
        return this.#open();
      case 'N':
        return this.#make();
      case 'R':
        return this.#changeMax();
      case 'C':
        return this.#cancel();
      case 'S':
        return this.#list();
      case 'W':
        this.caller = '';
        return this.#beat();
      case 'B':
        return this.#beat();
      case 'U':
        return this.#mark();
      case 'X':
        return this.#leave();
      case 'V':
        return this.heldBy() ? '1' : '0';
      case 'F':
        return this.#revoke();
      case 'P':
        return this.#tellObjects();
      case 'L':
        return this.#cancelAll();
      case 'K':
        return this.#dispose();
      case 'I':
        return this.#inspect();
      case 'J':
        return this.#tellSessions();
      default:
        throw new RangeError(`there is no operation ${JSON.stringify(letter)}`);
    }
  }

  run(): Outcome {
    const [, , , opening] = this.args;
    if (opening !== 'O') {
      const known = this.state.sessions.get(this.sid);
      if (!known || known.isDead) return ended('DEAD');
      if (known.conn !== this.conn) return ended('STALE');
    }
    const answers: Answer[] = [];
    let changes = false;
    while (this.at < this.args.length) {
      const letter = this.next();
      const answer = this.#operate(letter);
      if (letter === 'O' && (answer === 'DEAD' || answer === 'STALE')) return ended(answer);
      answers.push(answer);
      changes ||= !LOOKS.includes(letter);
    }
    return this.#finish(answers, changes);
  }

  #finish(answers: Answer[], changes: boolean): Outcome {
    const { objects, sessions } = this.state;
    for (const object of this.changed) {
      const { name, kind, max, ephemeral, free, queue, deaths } = object;
      if (kind === 'r') object.lent = max;
      const isIdle = free === max && queue.length === 0 && deaths === 0;
      if (ephemeral && isIdle && objects.get(name) === object) objects.delete(name);
    }
    const messages: Message[] = [];
    for (const [sid, news] of this.told) {
      const session = sessions.get(sid);
      if (session) messages.push({ sid, text: `${++session.seq};${news.join(',')}` });
    }
    return { reply: [...answers, ...this.own], messages, changes, isLeft: false };
  }
}

const ended = (answer: string): Outcome => ({ reply: [answer], messages: [], changes: false, isLeft: false });

const flag = (is: boolean): string => (is ? '1' : '0');

const settingsOf = ({ kind, max, robust, ephemeral, born }: SharedObject): string =>
  `${kind} ${max} ${flag(robust)} ${flag(ephemeral)} ${born}`;

/** What is told of a session besides its sid. otherwise: what is told of one that has ended. */
const labelOf = (session: Session | undefined, otherwise: string): string =>
  session && !session.isDead ? `${session.conn} ${session.reads} ${session.label}` : otherwise;
