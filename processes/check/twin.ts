/**
 * Compares the twin of the script (src/local/twin/) with the script: each call is run by both, in the same state.
 *
 *     data of the server --- the script ---> reply, messages, data ---- stateOf ---> state
 *            | stateOf                                                                 = ?
 *            +-------------> state ------- the twin ---> reply, messages, state ------>
 *
 * `ComparingServer` takes the place of the server in a search (search.ts), so each call of each state that the search
 * reaches is compared. A difference ends the search.
 */

import { State } from '../src/local/twin/state.js';
import { type Limits, type Message, type Outcome, reap, turn } from '../src/local/twin/turn.js';
import { hex } from './client.js';
import type { Data, Surroundings } from './data-model.js';
import { leftOf, objectsOf, queueOf, recordsOf } from './invariants.js';
import { Server, type Turn, turnChunk } from './server.js';

/** The limits as the script has them, or so small that each call leaves something to do. */
export const LIMITS: Limits = { work: 128, found: 256, isBroker: false, rises: false };
export const FEW: Limits = { ...LIMITS, work: 1, found: 2 };

const scriptWith = (limits: Limits) =>
  turnChunk(
    Object.fromEntries(
      Object.entries({ WORK: limits.work, MOST_FOUND: limits.found }).filter(([, value]) => value < 100),
    ),
  );

const MEMBER = 'member';

/** The state of the twin for the same data; undefined if no call has been made. */
export function stateOf(data: Data): State | undefined {
  const meta = data.hash('meta');
  const history = meta.get('history');
  if (history === undefined) return undefined;
  const queue = queueOf(data);
  const notes = new Map([...data.hash('objects')].filter(([field]) => field.includes('\0')));
  const waiting = new Map(queue.map((entry) => [entry.sid + entry.rid + entry.ticket, entry]));
  const requests = recordsOf(data).map(({ sid, rid, name, ticket, n }) => {
    const entry = waiting.get(sid + rid + ticket);
    return {
      ...{ sid, rid, name, ticket, n, waits: entry !== undefined },
      ...{ base: entry?.p0 ?? 0, beaten: entry?.beaten ?? 0, deaths: Number(notes.get(`${name}\0${ticket}`) ?? 0) },
    };
  });
  const sessions = data.sorted('leases').map(({ member: sid, score }) => {
    const told = data.hash('sessions').get(sid);
    const [conn = '0', reads = '0'] = told?.split(' ') ?? [];
    const label = told?.slice(conn.length + reads.length + 2) ?? '';
    return {
      ...{ sid, conn: Number(conn), reads: Number(reads), label, isDead: told === undefined },
      ...{ seq: Number(data.hash('seqs').get(sid)), sign: hex(score, 14), member: MEMBER },
      requests: requests.filter((request) => request.sid === sid),
    };
  });
  const objects = [...objectsOf(data).values()].map(({ waiting: _, ...object }) => ({
    ...object,
    lent: object.kind === 'r' ? object.max : object.lent,
    queue: queue.filter(({ name }) => name === object.name).map(({ sid, rid }) => [sid, rid]),
  }));
  const version = meta.get('v');
  const agreed = { version: Number(version), partitions: meta.get('p'), lease: meta.get('lease') };
  return State.load(
    JSON.stringify({
      ...{ history, objects, sessions, left: leftOf(data) },
      ...{ ticket: Number(meta.get('ticket')), leapt: meta.get('leapt'), late: Number(meta.get('late')) },
      beaten: Number.parseInt(meta.get('beaten') ?? '0', 16),
      agreed: version === undefined ? undefined : agreed,
      since: [...meta].filter(([field]) => field.length === 26).map(([field, ms]) => [field, Number(ms)]),
    }),
  );
}

/**
 * A text of all that decides what the state does next. A request that holds needs no `base` and no `beaten`, and a dead
 * session needs no connection, no format and no label: the script forgets them.
 */
export function textOf(state: State | undefined): string {
  if (!state) return '';
  const { objects, sessions, left, since, ...rest } = JSON.parse(state.dump());
  for (const session of sessions) {
    if (session.isDead) Object.assign(session, { conn: 0, reads: 0, label: '' });
    for (const request of session.requests) if (!request.waits) Object.assign(request, { base: 0, beaten: 0 });
  }
  const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
  const bySid = (a: { sid: string }, b: { sid: string }): number => (a.sid < b.sid ? -1 : 1);
  return JSON.stringify([rest, objects.sort(byName), sessions.sort(bySid), left.sort(), since.sort()], inOrder);
}

/** For `JSON.stringify`: the fields of each object in the order of their names. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The messages of a call of the script, as the twin tells them. */
const messagesOf = ({ published }: Turn): Message[] =>
  published.map(({ channel, text }) => ({ sid: channel.slice(-16), text }));

/** All parts of the answer to `P`. The model of the server tells all objects at once, and both in any order. */
function allObjects(state: State, args: readonly string[], now: number): Outcome {
  const objects: string[] = [];
  for (let cursor = '0'; ; ) {
    const outcome = turn(state, [...args.slice(0, 4), cursor], MEMBER, now, FEW);
    if (!Array.isArray(outcome.reply[0])) return outcome;
    const [next, ...lines] = outcome.reply[0] as string[];
    objects.push(...lines);
    if (next === '0') return { ...outcome, reply: [['0', ...objects]] };
    cursor = next as string;
  }
}

const comparable = (reply: unknown, args: readonly string[]): string =>
  JSON.stringify(
    args[3] === 'P' && Array.isArray((reply as unknown[])[0])
      ? [[...((reply as unknown[])[0] as string[])].sort()]
      : reply,
  );

/** Says how the outcome of a call differs from what the script does; undefined if it does not. */
export function differenceOf(script: Turn, twin: Outcome, after: State, args: readonly string[]): string | undefined {
  const [said, says] = [comparable(script.reply, args), comparable(twin.reply, args)];
  if (said !== says) return `replies: the script ${said}, the twin ${says}`;
  const [told, tells] = [JSON.stringify(messagesOf(script)), JSON.stringify(twin.messages)];
  if (told !== tells) return `messages: the script ${told}, the twin ${tells}`;
  const [has, is] = [textOf(stateOf(script.data)), textOf(after)];
  return has === is ? undefined : `states: the script ${has}, the twin ${is}`;
}

/** A server that compares each of its calls with the twin. */
export class ComparingServer extends Server {
  readonly #limits: Limits;
  /** How many calls were compared. */
  compared = 0;
  difference: string | undefined;

  constructor(limits = LIMITS) {
    super(scriptWith(limits));
    this.#limits = limits;
  }

  override turn(before: Data, args: readonly string[], surroundings: Surroundings): Turn {
    const script = super.turn(before, args, surroundings);
    // A beat after a death also takes back what the dead session has. `reap` of the twin is a call of its own.
    const isDeath = /[BWO]/.test(args[3] as string) && before.sorted('leases').some(({ score }) => score === 0);
    if (isDeath || this.difference) return script;
    const now = Math.floor(surroundings.time / 1000);
    const state = stateOf(before) ?? State.begin(surroundings.history as string, now);
    const was = textOf(state);
    const twin = args[3] === 'P' ? allObjects(state, args, now) : turn(state, args, MEMBER, now, this.#limits);
    this.compared++;
    const difference = differenceOf(script, twin, state, args);
    if (difference) this.difference = `${args.join(' ')}: ${difference}`;
    else if (textOf(State.load(state.dump())) !== textOf(state)) this.difference = 'a dump that is loaded differs';
    else if (!twin.changes && textOf(state) !== was)
      this.difference = `${args.join(' ')}: changes the state, and denies`;
    return script;
  }

  /**
   * Ends the session by the script, and by the twin. `watcher` is a session without requests, to which nothing is told.
   * Returns the data after the death.
   */
  reap(before: Data, victim: string, watcher: string, surroundings: Surroundings): Data {
    const now = Math.floor(surroundings.time / 1000);
    let data = before.clone();
    data.command(['ZADD', 'leases', '0', victim], surroundings, []);
    const place = `${data.hash('meta').get('epoch')}.${data.hash('meta').get('history')}`;
    for (let isLeft = true; isLeft && !this.difference; ) {
      // Grants that are left would go into the same messages as those that the death makes possible.
      while (leftOf(data).length > 0) data = this.turn(data, [watcher, '0', 'c:', 'W', '-'], surroundings).data;
      const state = stateOf(data) as State;
      const args = [watcher, '0', 'c:', 'W', `${hex(0, 14)} ${place}`];
      const script = super.turn(data, args, surroundings);
      const dead = reap(state, victim, now, this.#limits);
      const beat = turn(state, [...args.slice(0, 4), '-'], MEMBER, now, this.#limits);
      this.compared++;
      const told = { ...script, reply: (script.reply as string[]).slice(1) };
      this.difference = differenceOf(told, { ...beat, reply: dead.reply, messages: dead.messages }, state, args);
      isLeft = dead.isLeft;
      data = script.data;
    }
    return data;
  }
}
