/**
 * Mutants of what runs the script without a server: the state of a broker and its store (src/local/state.ts, store.ts), and
 * the compiler of the script (scripts/compile-lua.mjs) with the functions that it adds to the script.
 *
 * A mutant is told if something is seen that is not seen without the fault: in random calls and deaths, whose answers,
 * messages and data are those of a server (comparing.ts, and on real servers ../test/replay.test.ts), or in the scenes
 * below, which have what random calls seldom reach.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runInThisContext } from 'node:vm';
import type * as StateModule from '../src/local/state.js';
import type * as StoreModule from '../src/local/store.js';
import {
  type BrokerCall,
  ComparingServer,
  type Constants,
  compareFixedSequence,
  compareRandomCalls,
  FEW,
  HISTORY,
  START,
  USUAL,
} from './comparing.js';
import { mutantsOfJs } from './js-mutants.js';
import type { Mutant } from './mutant.js';
import { withConstants } from './server.js';

type State = StateModule.State;
type Script = NonNullable<Parameters<typeof StateModule.State.begin>[3]>;

// What is run -------------------------------------------------------------------------------------------------------

/** What is run: as it is, or with one fault. */
export interface Subject {
  readonly State: typeof StateModule.State;
  readonly SortedList: typeof StoreModule.SortedList;
  readonly ticketAt: typeof StateModule.ticketAt;
  script(constants: Constants): Script;
}

/** Where the built files of the broker lie, and where those of a subject are written. Both are below build/. */
const BUILT = fileURLToPath(new URL('../src/local/', import.meta.url));
const WRITTEN = fileURLToPath(new URL('../../mutants/', import.meta.url));
/** What is not built. */
const SCRIPTS = fileURLToPath(new URL('../../../scripts/', import.meta.url));

const COMPILER = 'compile-lua.mjs';
const FILES = ['state.js', 'store.js', 'script.js', 'grammar.js', COMPILER];
const ENTRY = `
  export * from './state.js';
  export { SortedList } from './store.js';
  export { scriptOn } from './script.js';
  export { functionOf } from './${COMPILER}';`;

const read = (file: string): string => readFileSync((file === COMPILER ? SCRIPTS : BUILT) + file, 'utf8');
const isOf = (mutant: Mutant | undefined, file: string): boolean => mutant?.place.startsWith(`${file}:`) ?? false;

/** The source of the script as the build gives it to the compiler. */
async function brokerSource(): Promise<string> {
  return ((await import(pathToFileURL(`${SCRIPTS}turn-parts.mjs`).href)) as { brokerScript(): string }).brokerScript();
}

let count = 0;

/** Loads what is run from files of its own, one of which may have a fault. */
export async function subjectOf(mutant?: Mutant): Promise<Subject> {
  const folder = `${WRITTEN}${process.pid}.${count++}/`;
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) writeFileSync(folder + file, mutant && isOf(mutant, file) ? mutant.source : read(file));
  writeFileSync(`${folder}entry.js`, ENTRY);
  try {
    const { scriptOn, functionOf, ...loaded } = (await import(pathToFileURL(`${folder}entry.js`).href)) as Subject & {
      scriptOn: Script;
      functionOf(source: string): Script;
    };
    const source = await brokerSource();
    const made = new Map<Constants, Script>();
    const compiled = (constants: Constants): Script => {
      const script = made.get(constants) ?? functionOf(withConstants(source, constants));
      made.set(constants, script);
      return script;
    };
    return { ...loaded, script: isOf(mutant, 'script.js') ? () => scriptOn : compiled };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** All mutants: of script.js only those of what the compiler adds, for mutants.ts makes those of the script. */
export function brokerMutants(): Mutant[] {
  const script = read('script.js');
  const end = script.indexOf('export function scriptOn');
  return [
    ...mutantsOfJs(read('state.js'), 'state.js'),
    ...mutantsOfJs(read('store.js'), 'store.js'),
    ...mutantsOfJs(script, 'script.js', (start) => start < end),
    ...mutantsOfJs(read(COMPILER), COMPILER),
  ];
}

// What is seen ------------------------------------------------------------------------------------------------------

/** What is seen, one after the other. */
type Scene = (subject: Subject) => Generator<unknown, void>;

const [ONE, TWO, THREE, FOUR] = ['p000000000000001', 'p000000000000002', 'p000000000000003', 'yffffffffffffff4'];
const rid = (number: number): string => number.toString(16).padStart(10, '0');
const permits = (number: number): string => number.toString(16).padStart(8, '0');
const ask = (name: string, number: number, n = 1): string[] => ['A', name, '-', rid(number), permits(n)];
const make = (name: string, kind: string, max: number): string[] => ['N', name, kind, `${max}`, '0', '0', '0'];
const enter = ['O', '2', '1', '1000', 'label', '-', '0'];

/** What a state tells of itself, and of these requests. */
function* looks(state: State, requests: Iterable<readonly [sid: string, rid: string]>) {
  yield [state.ticket, state.hasLeft, state.agreed, [...state.members]];
  for (const [sid, of] of requests) yield [state.request(sid, of), state.needs(sid), state.hasRequests(sid)];
}

/** The same calls as on a server. */
const replayed = (constants: Constants, calls: readonly BrokerCall[]): Scene =>
  function* ({ State, script }) {
    let state = State.begin(HISTORY, START, 0, script(constants));
    const requests = new Map<string, [string, string]>();
    for (const [at, [kind, ...args]] of calls.entries()) {
      if (kind === 'turn') {
        const [sid = '', , , ...words] = args[0] as string[];
        for (const word of words) if (/^[0-9a-f]{10}$/.test(word)) requests.set(sid + word, [sid, word]);
        yield state.turn(...(args as Parameters<State['turn']>));
      } else yield state.reap(...(args as Parameters<State['reap']>));
      if (at % 10 === 0) yield* looks(state, [...requests.values()].slice(-20));
      if (at % 50 > 0) continue;
      yield state.dump();
      state = State.load(state.dump(), script(constants));
    }
  };

/** A member has several sessions, and calls that are refused or only look. */
function* sessions({ State, script }: Subject): Generator<unknown, void> {
  const state = State.begin(HISTORY, START, 5, script(USUAL));
  const run = (member: string, sid: string, conn: string, ...operations: string[]) => [
    state.turn([sid, conn, 'c:', ...operations], member, START),
    state.dump(),
  ];
  yield run('m', ONE, '0', ...ask('x', 1));
  yield run('m', ONE, '1', ...enter);
  yield run('m', ONE, '0', ...enter);
  yield run('m', TWO, '0', ...enter);
  yield run('m', TWO, '0', ...make('x', 's', 2), ...ask('x', 1), ...ask('x', 2), ...ask('x', 3));
  yield run('m', THREE, '0', ...enter);
  yield run('n', FOUR, '0', ...enter);
  yield run('m', TWO, '1', ...enter);
  yield run('m', TWO, '0', 'B', '-');
  yield run('m', TWO, '1', 'I', 'x', '9', '', '');
  yield run('m', TWO, '1', 'I', 'x', '9', '', '', 'C', rid(3));
  yield run('m', TWO, '1', 'I', 'x', '9', '', '', 'I', 'x', '1', '', '');
  yield run('m', TWO, '1', 'J', '0');
  yield run('m', TWO, '1', 'C', rid(2), 'I', 'x', '9', '', '');
  yield* looks(state, [
    [TWO, rid(1)],
    [TWO, rid(2)],
    [THREE, rid(1)],
  ]);
  yield [state.object('x'), state.object('y')];
  yield run('n', FOUR, '0', ...ask('x', 4));
  yield* looks(state, [[FOUR, rid(4)]]);
  // The sessions behind each sign of life.
  const { leases } = JSON.parse(state.dump()) as { leases: [string, number][] };
  for (const [, score] of leases) yield run('m', TWO, '1', 'J', `(${score}`);
  yield run('m', TWO, '1', 'X');
  yield run('m', TWO, '1', 'X');
  yield state.reap(THREE, START);
  yield* looks(state, [[FOUR, rid(1)]]);
  yield state.dump();
}

/** Grants that the end of a process has left, and deaths that take several calls. */
function* left({ State, script }: Subject): Generator<unknown, void> {
  const state = State.begin(HISTORY, START, 0, script(USUAL));
  const run = (sid: string, ...operations: string[]) => state.turn([sid, '0', 'c:', ...operations], sid, START);
  for (const sid of [ONE, TWO]) yield run(sid, ...enter);
  yield run(ONE, ...make('l', 'w', 1_048_576), ...ask('l', 0, 0x0010_0000));
  for (let at = 1; at <= 400; at++) yield run(TWO, ...ask('l', at));
  yield* looks(state, [[TWO, rid(3)]]);
  for (let isLeft = true, calls = 0; isLeft && calls < 9; calls++) {
    const outcome = state.reap(ONE, START);
    yield outcome;
    ({ isLeft } = outcome);
  }
  for (let calls = 0; state.hasLeft && calls < 9; calls++) yield state.goOn(START);
  yield* looks(state, [[TWO, rid(3)]]);
  for (let calls = 0; calls < 9; calls++) yield state.reap(TWO, START + calls);
  yield state.dump();
}

/** More objects than one call tells. */
function* objects({ State, script }: Subject): Generator<unknown, void> {
  const state = State.begin(HISTORY, START, 0, script(USUAL));
  const run = (...operations: string[]) => state.turn([ONE, '0', 'c:', ...operations], ONE, START);
  yield run(...enter);
  for (let at = 0; at < 600; at++) yield run(...make(`${(at * 7) % 600}`, 's', 1));
  for (let cursor = '0', calls = 0; calls < 4; calls++) {
    const { reply } = run('P', cursor);
    yield reply;
    cursor = `${(reply[0] as string[])[0]}`;
  }
}

/** A list that grows over many chunks, and shrinks to nothing. */
function* lists({ SortedList }: Subject): Generator<unknown, void> {
  const list = new SortedList();
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const text = (): string => `${random(3)} ${random(4000).toString(16).padStart(4, '0')}`;
  const all = () => list.range('', undefined, Number.POSITIVE_INFINITY);
  for (let step = 0; step < 12_000; step++) {
    const one = text();
    if (random(12_000) > step) list.add(one);
    else for (const each of [one, ...list.range(one, undefined, 2)]) yield list.delete(each);
    yield list.size;
    if (step % 20 > 0) continue;
    const [from, end] = [text(), text()];
    yield [
      list.range(from, end, random(1000)),
      list.first(from, end),
      list.first(one, `${one}~`),
      list.first(one, one),
    ];
  }
  for (const each of all().reverse()) yield [list.delete(each), list.first('', '~')];
  yield [list.size, all()];
}

/** Where the tickets of a history begin. */
function* beginnings({ State, script, ticketAt }: Subject): Generator<unknown, void> {
  for (const now of [START, START + 1, 1_577_836_800_000, 0]) {
    yield [ticketAt(now), State.begin(HISTORY, now, undefined, script(USUAL)).ticket];
    for (const topmost of [0, 1, ticketAt(START - 3_600_000), ticketAt(START), ticketAt(START) + 7]) {
      const state = State.begin(HISTORY, now, topmost, script(USUAL));
      yield [state.ticket, state.turn([ONE, '0', 'c:', ...enter], ONE, now), state.ticket];
    }
  }
}

/** Calls of each kind, the fixed ones and random ones with deaths, of a server with which the compiled script agrees. */
function recorded({ script }: Subject): Scene[] {
  return [USUAL, USUAL, USUAL, FEW, FEW].map((constants, seed) => {
    const calls: BrokerCall[] = [];
    const server = new ComparingServer(script(constants), constants, calls);
    if (seed === 0) compareFixedSequence(server);
    else compareRandomCalls(server, seed, CALLS);
    if (server.difference) throw new Error(server.difference);
    return replayed(constants, calls);
  });
}

const CALLS = 1000;

// Which are told ----------------------------------------------------------------------------------------------------

export type ToldOfBroker = 'is the same' | 'answer' | 'does not end' | 'nothing';

/** A scene with a fault has so many times as long as without, in case it does not end, and this time besides, in milliseconds. */
const TIMES = 10;
const LEAST = 1000;

const textOf = (seen: unknown): string => JSON.stringify(seen) ?? 'undefined';

/** Says of mutants whether anything shows their fault. */
export class BrokerCheck {
  readonly #scenes: { readonly scene: Scene; readonly seen: readonly string[]; readonly ms: number }[];
  readonly #script: string;

  constructor(subject: Subject) {
    const scenes = [lists, sessions, objects, left, beginnings, ...recorded(subject)];
    this.#scenes = scenes.map((scene) => {
      const began = performance.now();
      // What a scene tells may change later.
      const seen: string[] = [];
      for (const each of scene(subject)) seen.push(textOf(each));
      const ms = performance.now() - began;
      if (differs(scene(subject), seen)) throw new Error(`the scene ${scene.name} is another one the second time`);
      return { scene, seen, ms };
    });
    this.#script = `${subject.script(USUAL)}`;
  }

  async tell(mutant: Mutant): Promise<ToldOfBroker> {
    try {
      const subject = await subjectOf(mutant);
      if (isOf(mutant, COMPILER) && within(LEAST, () => `${subject.script(USUAL)}`) === this.#script)
        return 'is the same';
      for (const { scene, seen, ms } of this.#scenes)
        if (within(LEAST + TIMES * ms, () => differs(scene(subject), seen))) return 'answer';
      return 'nothing';
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? 'does not end' : 'answer';
    }
  }
}

/** Calls a function, and throws if it does not end within so many milliseconds. */
function within<T>(ms: number, act: () => T): T {
  const name = Symbol.for('taketurns:within');
  const box = globalThis as { [name]?: () => T };
  box[name] = act;
  return runInThisContext(`globalThis[Symbol.for('taketurns:within')]()`, { timeout: Math.ceil(ms) });
}

function differs(scene: Generator<unknown, void>, seen: readonly string[]): boolean {
  let at = 0;
  for (const each of scene) if (textOf(each) !== seen[at++]) return true;
  return at !== seen.length;
}
