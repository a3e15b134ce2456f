/**
 * The reporter: a thread of its own that prints each new deadlock and each long wait, in report mode (report-mode.ts), and
 * answers those who ask (answers.ts). It belongs to no arena. It is the file dist/node/reporter.cjs.
 *
 * It looks at all arenas of the process once a second, so it also sees a deadlock over several of them. It tells
 *
 *     a deadlock that is certain    when its threads have waited for as long as a thread waits before it looks; where
 *                                   deadlocks throw, somewhat later, since the deadlock usually ends then
 *     one that is only likely       when it has lasted for `after` seconds: a burst of calls of `runExclusive` looks the
 *                                   same, and ends by itself
 *     a wait                        when it has lasted for `after` seconds, with the whole report
 *
 * It tells everything once as long as it lasts. If the clock is set meanwhile, this changes nothing (ages.ts). A look
 * costs a pass over the elements in use. The whole report, with all names, is made only when it is printed.
 */
import { writeSync } from 'node:fs';
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads';
import { type Look, lookAt, together, type Waiter } from '../look/look.js';
import { limiterOf } from '../look/names.js';
import { Ages } from './ages.js';
import { answerQuestions } from './answers.js';
import { type Deadlock, deadlocksIn } from './deadlocks.js';
import { dateText, rateWaitsIn } from './rate-waits.js';
import { objectRef, objectText, type ThreadRef, threadRef, threadText } from './refs.js';
import { formatReport, reportOf } from './report.js';
import type { Known, ReporterData, Stack } from './report-mode.js';
import { settingOf } from './settings.js';
import { linesOf, stackText, type ThreadStack } from './stacks.js';

const PERIOD = 1000;
/** How many waiters of each object it lists by itself, and how many in an answer. */
const MOST = 20;
const MOST_ASKED = 100;
/** So many milliseconds later it tells of a deadlock that should have ended by a DeadlockError. */
const LATER = 2000;

const { board, channel: name, after } = workerData as ReporterData;

interface KnownArena {
  readonly memory: WebAssembly.Memory;
  /** By the number of the thread. */
  readonly stacks: Map<number, Stack>;
  readonly ages: Ages;
}

/** By their ids. */
const arenas = new Map<bigint, KnownArena>();
/** What it has told of, and what still lasts. */
let told: ReadonlySet<string> = new Set();

function hear(message: Known | Stack): void {
  const { id } = message;
  if ('stack' in message) arenas.get(id)?.stacks.set(message.thread, message);
  else if (!arenas.has(id)) arenas.set(id, { memory: message.memory, stacks: new Map(), ages: new Ages() });
}

/** Returns the stacks of the threads that still wait as when they told it. `waits` are those that block a thread. */
function stacksIn({ stacks, ages }: KnownArena, threads: readonly ThreadRef[], waits: readonly Waits[]): ThreadStack[] {
  return threads.flatMap(({ thread, threadId, name }) => {
    const message = stacks.get(thread);
    // Each of the two times may be wrong by a millisecond.
    if (!message || !waits.some((wait) => wait.thread === thread && wait.waited + 2 >= ages.of(message.at | 0)))
      return [];
    return [{ thread, threadId, name, stack: linesOf(message.stack) }];
  });
}

type Waits = Pick<Waiter, 'thread' | 'waited'>;

function print(text: string): void {
  try {
    writeSync(2, `(node:${process.pid}) taketurns/report: ${text}\n`);
  } catch {
    // The standard error may be closed, or a full pipe.
  }
}

/** Begins a round: the arenas, and a function that looks at all of them. */
function begin(most: number): [readonly KnownArena[], () => readonly Look[]] {
  const all = [...arenas.values()];
  for (const { ages } of all) ages.begin();
  return [all, () => together(all.map(({ memory, ages }) => lookAt(memory, ages.of, most)))];
}

const settingIn = ({ memory }: KnownArena) => settingOf(new Int32Array(memory.buffer));

/** A wait in an arena. */
interface Wait extends Waiter {
  /** See RateWaiter. Only the waits for rates have it. */
  readonly left?: number | undefined;
  readonly look: Look;
  readonly object: number;
}

/** Returns the waits that a look has found. */
function waitsIn(look: Look): Wait[] {
  return look.awaited().flatMap((awaited) => {
    const limiter = limiterOf(look.view, awaited);
    const rate = limiter && rateWaitsIn(look, limiter);
    const object = (rate && limiter) || awaited;
    const waiters: readonly Waiter[] = rate ? rate.waiters.slice(0, MOST) : look.waitersOf(object, MOST);
    return waiters.map((waiter) => ({ ...waiter, look, object }));
  });
}

/** Returns the deadlocks that have lasted for so long, each with a text that stays the same as long as it lasts. */
function newsOf(found: readonly Deadlock[], patienceOf: (index: number) => number): [string, string][] {
  return found.flatMap(({ edges, text }, i) => {
    if (edges.some(({ waited }) => waited < patienceOf(i))) return [];
    return [[String(edges.map(({ thread, waitsFor }) => [thread.thread, thread.threadId, waitsFor.number])), text]];
  });
}

/** Returns how long a deadlock must last in an arena until it is told. */
function patienceIn(arena: KnownArena): number {
  const { deadlocks, after } = settingIn(arena);
  return after + (deadlocks === 'throw' ? LATER : 0);
}

const keyOf = ({ look, thread, object, blocked }: Wait): string => `${look.view.id()} ${thread} ${object} ${blocked}`;

const waitText = ({ look, thread, object, waited, ...more }: Wait): string =>
  `${threadText(threadRef(look, thread))} has waited for ${objectText(objectRef(look, object))} for ` +
  `${Math.floor(waited / 1000)} s${'left' in more ? dateText(more.left) : ''}`;

function lookAtAll(): void {
  const [all, looker] = begin(MOST);
  const { looks, certain, arenas: where, suspected } = deadlocksIn(looker, after * 1000, undefined);
  const patienceOf = (i: number): number =>
    Math.max(...[...(where[i] as ReadonlySet<Look>)].map(({ index }) => patienceIn(all[index] as KnownArena)));
  const waits = looks.map(waitsIn);
  const stacks = looks.map((look, i) => {
    const threads = [...look.threads.keys()].map((thread) => threadRef(look, thread));
    return stacksIn(
      all[i] as KnownArena,
      threads,
      (waits[i] as Wait[]).filter(({ blocked }) => blocked),
    );
  });
  const news = new Map([...newsOf(certain, patienceOf), ...newsOf(suspected, () => after * 1000)]);
  const places = stacks.flat().map(stackText);
  for (const [key, text] of news) if (!told.has(key)) print([text, ...places].join('\n'));
  const still = new Set(news.keys());
  for (const [i, arena] of all.entries()) {
    const long = (waits[i] as Wait[]).filter(({ waited }) => waited >= after * 1000);
    const fresh = new Set(long.flatMap((wait) => (told.has(keyOf(wait)) ? [] : [waitText(wait)])));
    for (const wait of long) still.add(keyOf(wait));
    if (fresh.size === 0) continue;
    const lines = (stacks[i] as ThreadStack[]).map(stackText);
    print(
      [[...fresh].join('; '), formatReport(reportOf(looker, settingIn(arena).after, MOST, i)), ...lines].join('\n'),
    );
  }
  told = still;
  for (const [id, { memory }] of arenas) {
    const index = all.findIndex((one) => one.memory === memory);
    if (index >= 0 && looks[index]?.threads.size === 0) arenas.delete(id);
  }
}

function tryLook(): void {
  try {
    lookAtAll();
  } catch (error) {
    print(`the look has failed: ${error}`);
  }
}

parentPort?.on('message', hear);
const channel = new BroadcastChannel(name);
channel.onmessage = ({ data }: { data: unknown }) => hear(data as Known | Stack);
try {
  answerQuestions(() => {
    const [all, looker] = begin(MOST_ASKED);
    return all.map((arena, i) => {
      const report = reportOf(looker, settingIn(arena).after, MOST_ASKED, i);
      const waits = report.objects.flatMap(({ waiters }) => waiters.filter(({ blocked }) => blocked));
      return { ...report, stacks: stacksIn(arena, report.threads, waits) };
    });
  });
} catch (error) {
  print(`npx taketurns-report cannot ask this process: ${(error as Error).message}`);
}
Atomics.store(board, 0, 1);
Atomics.notify(board, 0);
setInterval(tryLook, PERIOD);
