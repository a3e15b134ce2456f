/**
 * Compares what the compiled script does over the maps and lists of a broker (src/local/state.ts) with what the script does
 * on the model of a server: replies, messages, and the data after each call.
 */
import { faultIn } from '../src/local/grammar.js';
import { type Message, State } from '../src/local/state.js';
import { CallWriter, scriptedCalls, ticketIn } from './calls.js';
import { Data, type Surroundings } from './data-model.js';
import { leftOf, recordsOf } from './invariants.js';
import { fixedRateCalls, RateWriter } from './rate-calls.js';
import { KEYS, Server, type Turn, turnChunk } from './server.js';

export const HISTORY = '1'.padStart(40, '0');
const WATCHER = 'b000000000000000';
export const START = 1_700_000_000_000;
export const surroundings = (ms: number): Surroundings => ({ time: ms * 1000, history: HISTORY });

/** Other values of constants of the script: none, or so small that each call leaves something to do. */
export type Constants = Readonly<Record<string, number>>;
export const USUAL: Constants = {};
export const FEW: Constants = { WORK: 1, MOST_FOUND: 2 };

type Script = NonNullable<Parameters<typeof State.begin>[3]>;

type Pairs = readonly (readonly [string, unknown])[];

interface Dump {
  readonly ticket: number;
  readonly history: string;
  readonly meta: Pairs;
  readonly objects: Pairs;
  readonly sessions: Pairs;
  readonly leases: readonly (readonly [string, number])[];
  readonly seqs: Pairs;
  readonly queue: readonly string[];
  readonly records: readonly string[];
  readonly members: Pairs;
  readonly rates: Pairs;
  readonly ends: readonly (readonly [string, number])[];
}

/** The data of a server as a broker dumps them. Undefined: no call has been made. */
function dumpOf(data: Data): Dump | undefined {
  const history = data.hash('meta').get('history');
  if (history === undefined) return undefined;
  const meta = [...data.hash('meta')].filter(([field]) => field.length !== 26);
  const members = (key: string): string[] => data.sorted(key).map(({ member }) => member);
  const objects = [...data.hash('objects')].map(([name, text]) => [name, name.includes('\0') ? text : objectOf(text)]);
  const leases = data.sorted('leases').map(({ member, score }) => [member, score] as const);
  return {
    ...{ ticket: Number(data.hash('meta').get('ticket')), history },
    // A broker notes of each hold since when it is; a server notes it of those that a beat has named.
    meta: [...meta, ...heldIn(data).map((key) => [key, '0'] as const)],
    ...{ objects: objects as unknown as Pairs, sessions: [...data.hash('sessions')], leases },
    ...{ seqs: [...data.hash('seqs')], queue: members('queue'), records: members('records') },
    members: leases.map(([sid]) => [sid, sid]),
    rates: [...data.texts()].map(([key, { text }]) => [key.slice('rate:'.length), text]),
    ends: [...data.texts()].map(([key, { until }]) => [key.slice('rate:'.length), until]),
  };
}

/** sid and rid of the requests that hold. */
function heldIn(data: Data): string[] {
  const waiting = new Set(data.sorted('queue').map(({ member }) => member.slice(-59, -33)));
  // The dates of rates are listed behind an r.
  const requests = recordsOf(data).filter(({ rid }) => rid[0] !== 'r');
  return requests.flatMap(({ sid, rid }) => (waiting.has(sid + rid) ? [] : [sid + rid]));
}

/** An object as the script keeps it, from the text in which it keeps it on a server. */
function objectOf(text: string): object {
  const [kind, max, robust, ephemeral, born, free, waiting, deaths, bypass, passes, lent, noticed, holder] =
    text.split(' ');
  const fixed = [kind, max, robust, ephemeral, born].join(' ');
  const counts = { max: Number(max), free: Number(free), waiting: Number(waiting), deaths: Number(deaths) };
  const ofMutex = { passes: Number(passes), lent: Number(lent), noticed, holder };
  return {
    ...{ kind, robust, ephemeral, born, fixed, ...counts, bypass: Number(bypass ?? 0) },
    ...(kind === 'm' ? ofMutex : kind === 'r' ? { lent: counts.max } : {}),
  };
}

/** What a dump says, in an order that does not depend on how it came about, without what only one side notes. */
function linesOf(dump: Dump | undefined): string[] {
  if (!dump) return [];
  const { ticket, history, meta, objects, sessions, leases, seqs, queue, records } = dump;
  const isDead = ([sid]: readonly [string, unknown]): boolean => !sessions.some(([other]) => other === sid);
  const texts = (pairs: Pairs): string[] => pairs.map(([key, value]) => `${key}=${value}`).sort();
  // `first` and `since` are for leases. For each hold there is one time.
  const times = meta.map(([field, value]) =>
    field.length === 26 ? ([field, ''] as const) : ([field, value] as const),
  );
  const fields = texts(times.filter(([field]) => field !== 'first' && field !== 'since'));
  const told = objects.map(([name, value]): readonly [string, unknown] => {
    if (typeof value !== 'object') return [name, value];
    return [name, JSON.stringify(Object.entries({ ...value, changed: false }).sort())];
  });
  return [
    ...[`${ticket}`, history, ...fields, ...texts(told), ...texts(sessions), ...texts(seqs), ...records],
    // A server does not tell when a request came, but when the last beat before came.
    ...queue.map((entry) => (entry.startsWith('\0') ? entry : entry.slice(0, -11))),
    ...texts(leases.map((each) => (isDead(each) ? [each[0], 0] : each))),
  ];
}

const dumped = (state: State): Dump => JSON.parse(state.dump());

/** The reply without what only one side knows: the times in `I`; and with the objects of `P` in one order. */
function comparable(reply: unknown, letter = ''): unknown[] {
  const answers = reply as unknown[];
  if (letter === 'P' && Array.isArray(answers[0])) return answers[0].slice(1).sort();
  return answers.map((answer) => {
    if (!Array.isArray(answer) || !`${answer[0]}`.startsWith('I ')) return answer;
    const [text, queue, holders, behind, sessions] = answer as [string, string[], string[], string, string[]];
    return [text, queue.map((entry) => entry.slice(0, -11)), holders, behind, sessions];
  });
}

/** A call of the state of a broker. */
export type BrokerCall =
  | readonly ['turn', ...Parameters<State['turn']>]
  | readonly ['reap', ...Parameters<State['reap']>];

/** The state, which notes its calls. */
function noting(state: State, noted: BrokerCall[]): State {
  return new Proxy(state, {
    get(_, key) {
      const value: unknown = Reflect.get(state, key, state);
      if (typeof value !== 'function') return value;
      return (...args: never[]) => {
        if (key === 'turn' || key === 'reap') noted.push([key, ...args] as unknown as BrokerCall);
        return value.apply(state, args);
      };
    },
  });
}

/** A server that compares each of its calls with the compiled script. */
export class ComparingServer extends Server {
  readonly #script: Script;
  /** How many calls were compared. */
  compared = 0;
  difference: string | undefined;
  /** The state of a broker that runs all calls; without it, each call begins with the data of the server. */
  state: State | undefined;

  /**
   * script: the compiled script. constants: its constants. noted: gets the calls of the state of a broker, which runs all
   * calls then.
   */
  constructor(script: Script, constants = USUAL, noted?: BrokerCall[]) {
    super(turnChunk(constants));
    this.#script = script;
    if (noted) this.state = noting(State.begin(HISTORY, START, 0, script), noted);
  }

  #stateOf(data: Data, now: number): State {
    if (this.state) return this.state;
    const dump = dumpOf(data);
    return dump ? State.load(JSON.stringify(dump), this.#script) : State.begin(HISTORY, now, 0, this.#script);
  }

  #compare(what: string, server: readonly unknown[], broker: readonly unknown[]): void {
    const [ones, others] = [server, broker].map((all) => all.map((each) => JSON.stringify(each))) as [
      string[],
      string[],
    ];
    if (ones.join() === others.join()) return;
    const [one, other] = [ones.filter((each) => !others.includes(each)), others.filter((each) => !ones.includes(each))];
    this.difference ??= `${what}: only the server ${one.join()}, only the broker ${other.join()}`;
  }

  override turn(before: Data, args: readonly string[], where: Surroundings): Turn {
    const turn = super.turn(before, args, where);
    // What a beat does for dead sessions, a broker does by a call of its own.
    const isDeath = /[BWO]/.test(args[3] as string) && before.sorted('leases').some(({ score }) => score === 0);
    if (isDeath || this.difference) return turn;
    this.compared++;
    const now = Math.floor(where.time / 1000);
    const state = this.#stateOf(before, now);
    const was = linesOf(dumped(state));
    const what = args.join(' ');
    const { reply, messages, changes } = state.turn(args, args[0] as string, now);
    const all = args[3] === 'P' ? this.#allObjects(state, args, now, reply) : reply;
    this.#compare(`${what}: replies`, comparable(turn.reply, args[3]), comparable(all, args[3]));
    this.#compareData(what, turn, messages, state);
    if (!changes) this.#compare(`${what}: changes the state, and denies`, was, linesOf(dumped(state)));
    return turn;
  }

  #compareData(what: string, { data, published }: Turn, messages: readonly Message[], state: State): void {
    const told = published.map(({ channel, text }) => ({ sid: channel.slice(-16), text }));
    this.#compare(`${what}: messages`, told, messages);
    this.#compare(`${what}: data`, linesOf(dumpOf(data)), linesOf(dumped(state)));
    if (this.compared % 7 === 0)
      this.#compare(`${what}: loaded`, linesOf(dumped(state)), linesOf(dumped(State.load(state.dump()))));
  }

  /** All parts of the answer to `P`: the model of a server tells all objects at once. */
  #allObjects(state: State, args: readonly string[], now: number, first: readonly unknown[]): unknown[] {
    if (!Array.isArray(first[0])) return [...first];
    const lines: unknown[] = [];
    for (let part = first[0] as string[]; ; ) {
      const [cursor, ...more] = part;
      lines.push(...more);
      if (cursor === '0') return [['0', ...lines]];
      part = state.turn([...args.slice(0, 4), cursor as string], WATCHER, now).reply[0] as string[];
    }
  }

  /** The process of the session dies. `watcher` is a session without requests, to which nothing is told. */
  reap(before: Data, victim: string, where: Surroundings): Data {
    const now = Math.floor(where.time / 1000);
    let data = before.clone();
    data.command(['ZADD', 'leases', '0', victim], where, []);
    const place = `${data.hash('meta').get('epoch')}.${data.hash('meta').get('history')}`;
    for (let isLeft = true; isLeft && !this.difference; ) {
      // Grants that are left would go into the same messages as those that the death makes possible.
      while (leftOf(data).length > 0 && !this.difference) {
        const args = [WATCHER, '0', 'c:', 'W', '-'];
        const turn = super.turn(data, args, where);
        const { messages } = this.#stateOf(data, now).turn(args, WATCHER, now);
        this.#compareData(`${victim} has died, W`, turn, messages, this.#stateOf(turn.data, now));
        data = turn.data;
      }
      const state = this.#stateOf(data, now);
      const args = [WATCHER, '0', 'c:', 'W', `${'0'.repeat(14)} ${place}`];
      const turn = super.turn(data, args, where);
      state.turn([...args.slice(0, 4), '-'], WATCHER, now);
      const dead = state.reap(victim, now);
      this.compared++;
      this.#compare(`${victim} dies: reply`, (turn.reply as string[]).slice(1), dead.reply);
      this.#compareData(`${victim} dies`, turn, dead.messages, state);
      ({ isLeft } = dead);
      ({ data } = turn);
    }
    return data;
  }
}

/** The first call: a session that only watches. */
const OPENING = [WATCHER, '0', 'c:', 'O', '2', '3', '3600000', 'watcher', '-', '0'];

/** Random calls and deaths. Returns the letters of the operations that have come. A broker refuses none of the calls. */
export function compareRandomCalls(server: ComparingServer, seed: number, calls: number): ReadonlySet<string> {
  const writer = new CallWriter(seed, KEYS, true);
  let { data } = server.turn(new Data(), OPENING, surroundings(START));
  const letters = new Set<string>();
  for (let call = 0; call < calls && !server.difference; call++) {
    const where = surroundings(START + call * 7);
    if (writer.chance(2)) {
      const sids = [...data.hash('sessions').keys()].filter((sid) => sid !== WATCHER);
      const victim = sids[call % Math.max(1, sids.length)];
      if (victim) data = server.reap(data, victim, where);
      continue;
    }
    const args = writer.call(data);
    const fault = faultIn(args);
    if (fault) server.difference = `the broker refuses ${args.join(' ')}: ${fault}`;
    for (const each of args.slice(3)) if (/^[A-Z]$/.test(each)) letters.add(each);
    ({ data } = server.turn(data, args, where));
  }
  return letters;
}

/** All dates that lie ahead are listed, and a beat is as long, as without a server. */
export const AS_BROKER: Constants = { FAR: 0, BEATS: 3600 };

/** Random calls on rates. Returns the letters of what they did. */
export function compareRateCalls(server: ComparingServer, seed: number, calls: number): ReadonlySet<string> {
  const writer = new RateWriter(seed, KEYS);
  let { data } = server.turn(new Data(), OPENING, surroundings(START));
  let [time, offset, latest] = [0, 0, 0];
  const letters = new Set<string>();
  const watching = new Server(turnChunk(AS_BROKER));
  for (let call = 0; call < calls && !server.difference; call++) {
    time += writer.rest();
    const next = writer.jumped(offset);
    latest = Math.max(latest, START + time + offset);
    // A broker drops what has expired, and the model does not: so the clock does not go back before the end of a state.
    const goesBehind = [...data.texts().values()].some(({ until }) => until < latest && until >= START + time + next);
    if (!goesBehind) offset = next;
    const args = writer.call(data, time * 1000);
    const fault = faultIn(args);
    if (fault) server.difference = `the broker refuses ${args.join(' ')}: ${fault}`;
    const where = surroundings(START + time + offset);
    // After a jump a server makes those wait who enter.
    if (args[3] === 'O' && String(watching.turn(data, args, where).reply).startsWith('Z')) continue;
    const turn = server.turn(data, args, where);
    writer.heard(turn.reply, time * 1000);
    ({ data } = turn);
    for (const each of args.slice(3)) if (/^[A-Z]$/.test(each)) letters.add(each);
  }
  return letters;
}

/** The fixed sequence of calls on rates. A broker knows the time in milliseconds. */
export function compareFixedRates(server: ComparingServer): void {
  let { data } = server.turn(new Data(), OPENING, surroundings(START));
  for (const { time, args } of fixedRateCalls())
    ({ data } = server.turn(data, args, surroundings(Math.floor(time / 1000))));
}

/**
 * The fixed sequence of calls, but for those that a broker cannot refuse: its memory is never full, all is allowed, and
 * it watches no leases.
 */
export function compareFixedSequence(server: ComparingServer): void {
  let data = new Data();
  for (const next of scriptedCalls('c:')) {
    const { args, isFull, forbidden, isWatched, time } = next(ticketIn(data));
    if (isFull || forbidden || isWatched) continue;
    ({ data } = server.turn(data, args, time === undefined ? surroundings(START) : { time, history: HISTORY }));
  }
}
