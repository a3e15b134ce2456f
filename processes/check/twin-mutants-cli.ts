/**
 * `npm run mutants:twin -w processes`: makes the mutants of the twin (twin-mutants.ts), and says which of them another
 * reply, message or state tells, over sequences of calls (twin-sequences.ts) and over random calls and deaths, with the
 * limits of a broker and with small ones.
 *
 * What is recorded of the twin itself is what the script does: test/twin.test.ts compares the two over the same calls.
 * A mutant that nothing tells must be listed in twin-mutants-explained.ts with the reason. A reason that explains no
 * mutant is an error. `LINES=call.js:45` tries only the mutants of a line.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { State } from '../src/local/twin/state.js';
import { goOn, type Limits, type Outcome, reap, turn } from '../src/local/twin/turn.js';
import { CallWriter } from './calls.js';
import { Data } from './data-model.js';
import type { Mutant } from './mutant.js';
import { KEYS } from './server.js';
import { ComparingServer, FEW, LIMITS } from './twin.js';
import { mutantsOf } from './twin-mutants.js';
import { EXPLAINED } from './twin-mutants-explained.js';
import { SEQUENCES, type Writer } from './twin-sequences.js';

/** A call, or the death of `victim`, or a broker that goes on (`victim` is ''), and what the twin does: all it tells, and sometimes its state after it. */
interface Step {
  readonly args: readonly string[];
  readonly victim: string | undefined;
  readonly member: string;
  readonly now: number;
  readonly outcome: string;
  readonly dump: string | undefined;
}

export interface Recording {
  readonly limits: Limits;
  /** When its state begins. */
  readonly begun: number;
  readonly steps: readonly Step[];
}

const CALLS = 1500;
const START = 1_700_000_000_000;
const WATCHER = 'b000000000000000';
const BEAT = [WATCHER, '0', 'c:', 'W', '-'];
/** A mutant that has taken so many times the processor time of the twin itself does not end, however busy the machine is. */
const PATIENCE = 5;
/** The seconds of processor time of this process, of which the thread of a mutant takes nearly all. */
const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const textOf = ({ reply, messages, changes, isLeft }: Outcome): string =>
  JSON.stringify([reply, messages, changes, isLeft]);

/** What the twin does in random calls and deaths. The model of the server runs beside it, so that the calls make sense. */
function record(seed: number, limits: Limits): Recording {
  const writer = new CallWriter(seed, KEYS, true);
  const server = new ComparingServer({ ...limits, isBroker: false });
  const surroundings = (ms: number) => ({ time: ms * 1000, history: '0'.repeat(40) });
  const opening = [WATCHER, '0', 'c:', 'O', '2', '3', '3600000', 'watcher', '-', '0'];
  const state = State.begin('history', START);
  const steps: Step[] = [];
  const note = (args: readonly string[], victim: string | undefined, now: number): Outcome => {
    // In some recordings several sessions are of one member, as those that a process has given up.
    const member = (args[0] ?? '').slice(0, seed % 3 === 0 ? 1 : 16);
    const outcome = victim === undefined ? turn(state, args, member, now, limits) : reap(state, victim, now, limits);
    const dump = steps.length % 7 === 0 ? state.dump() : undefined;
    steps.push({ args, victim, member, now, outcome: textOf(outcome), dump });
    return outcome;
  };
  note(opening, undefined, START);
  let { data } = server.turn(new Data(), opening, surroundings(START));
  for (let call = 0; call < CALLS; call++) {
    const now = START + call * 7;
    if (writer.chance(2)) {
      const sids = [...data.hash('sessions').keys()].filter((sid) => sid !== WATCHER);
      const victim = sids[call % Math.max(1, sids.length)];
      if (!victim) continue;
      data = server.reap(data, victim, WATCHER, surroundings(now));
      // The same calls as in `ComparingServer.reap`.
      for (let isLeft = true; isLeft; ) {
        while (state.left.size > 0) note(BEAT, undefined, now);
        ({ isLeft } = note([], victim, now));
        note(BEAT, undefined, now);
      }
    } else {
      const args = writer.call(data);
      ({ data } = server.turn(data, args, surroundings(now)));
      note(args, undefined, now);
    }
  }
  return { limits, begun: START, steps };
}

/** What the twin does in a sequence. Its state is told after each step. */
function recordSequence(write: (writer: Writer) => void, limits: Limits): Recording {
  // More than an hour before the calls: tickets rise only then, if they do at all.
  const begun = START - 7_200_000;
  const state = State.begin('history', begun);
  const steps: Step[] = [];
  const note = (args: readonly string[], victim?: string): Outcome => {
    const [member = '', now] = [args[0], START + 7 * steps.length];
    const dies = (sid: string) => (sid === '' ? goOn(state, now, limits) : reap(state, sid, now, limits));
    const outcome = victim === undefined ? turn(state, args, member, now, limits) : dies(victim);
    steps.push({ args, victim, member, now, outcome: textOf(outcome), dump: state.dump() });
    return outcome;
  };
  write({
    run: (sid, ...operations) => void note([sid, '0', 'c:', ...operations]),
    die(sid) {
      while (note([], sid).isLeft);
      while (state.left.size > 0) note([], '');
    },
    born: (name) => state.objects.get(name)?.born ?? '0'.repeat(14),
    ticket: (sid, rid) =>
      state.sessions.get(sid)?.requests.get(rid.toString(16).padStart(10, '0'))?.ticket ?? '0'.repeat(14),
  });
  return { limits, begun, steps };
}

const sequences = [LIMITS, FEW].flatMap((limits) =>
  [false, true].flatMap((isBroker) =>
    Object.values(SEQUENCES).map((write) => recordSequence(write, { ...limits, isBroker, rises: isBroker })),
  ),
);
// The script has the same tickets as the twin only if they do not rise.
const random = [LIMITS, FEW].flatMap((limits, at) =>
  [false, true].flatMap((isBroker) => [1, 2, 3, 4].map((seed) => record(10 * at + seed, { ...limits, isBroker }))),
);
const recordings = [...sequences, ...random];

const COMPILED = new URL('../src/local/twin/', import.meta.url);
const FILES = ['call.js', 'state.js', 'turn.js'];
const folder = fileURLToPath(new URL('../../mutant/', import.meta.url));

/** Runs one mutant after the other. Each has modules of its own. A mutant that does not end takes its thread with it. */
class Trial {
  #thread = Trial.#begin();
  /** The most seconds of processor time of a mutant. */
  #most = Infinity;

  static #begin(): Worker {
    return new Worker(new URL('./twin-mutant.js', import.meta.url), { workerData: recordings });
  }

  /** Whether a mutant does something else, or does not end. */
  async isTold({ place, source }: Pick<Mutant, 'place' | 'source'>, number: number): Promise<boolean> {
    const own = `${folder}${number}`;
    mkdirSync(own, { recursive: true });
    writeFileSync(`${own}/package.json`, '{ "type": "module" }');
    for (const each of FILES) {
      if (place.startsWith(`${each}:`)) writeFileSync(`${own}/${each}`, source);
      else copyFileSync(new URL(each, COMPILED), `${own}/${each}`);
    }
    const thread = this.#thread;
    const told = await new Promise<boolean | undefined>((resolve) => {
      const begun = processorTime();
      const late = setInterval(() => processorTime() - begun > this.#most && over(undefined), 500);
      const over = (is: boolean | undefined): void => {
        clearInterval(late);
        thread.off('message', over).off('error', fails);
        resolve(is);
      };
      const fails = (): void => over(undefined);
      thread.on('message', over).on('error', fails);
      thread.postMessage(own);
    });
    if (told === undefined) {
      await thread.terminate();
      this.#thread = Trial.#begin();
    }
    rmSync(own, { recursive: true });
    return told ?? true;
  }

  /** Tries the twin itself. */
  async begin(): Promise<void> {
    const begun = processorTime();
    if (await this.isTold({ place: '', source: '' }, -1)) throw new Error('the twin does not do the same twice');
    this.#most = PATIENCE * (processorTime() - begun);
  }

  end(): Promise<number> {
    return this.#thread.terminate();
  }
}

const reasonOf = ({ text, from, to }: Mutant): number =>
  EXPLAINED.findIndex(
    (each) =>
      text.includes(each.text) &&
      (each.from === undefined || from === each.from) &&
      (each.to === undefined || to === each.to),
  );

const lines = process.env.LINES?.split(',');
const started = performance.now();
const mutants = FILES.flatMap((file) => mutantsOf(COMPILED, file)).filter(
  ({ place }) => lines?.includes(place) ?? true,
);
const used = new Set<number>();
const counts = { told: 0, explained: 0, open: 0 };
const trial = new Trial();
await trial.begin();
for (const [at, mutant] of mutants.entries()) {
  if ((at + 1) % 100 === 0) console.log(`${at + 1} of ${mutants.length}`);
  if (await trial.isTold(mutant, at)) {
    counts.told++;
    continue;
  }
  const reason = reasonOf(mutant);
  if (reason >= 0) {
    counts.explained++;
    used.add(reason);
    continue;
  }
  counts.open++;
  console.log(`NOT TOLD ${mutant.place}: ${mutant.from} -> ${mutant.to}    in: ${mutant.text}`);
}
await trial.end();
rmSync(folder, { recursive: true, force: true });
console.log('| mutants of the twin | |\n| --- | ---: |');
console.log(`| made | ${mutants.length} |\n| told by another reply, message or state | ${counts.told} |`);

console.log(`| not told, explained | ${counts.explained} |\n| not told, not explained | ${counts.open} |`);
console.log(`reasons that were of use: ${used.size} of ${EXPLAINED.length}`);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s, ${cpus()[0]?.model}`);
const useless = lines ? [] : EXPLAINED.filter((_, at) => !used.has(at));
for (const { text, reason } of useless) console.log(`a reason is of no use: ${text}: ${reason}`);
if (counts.open > 0 || useless.length > 0) process.exitCode = 1;
