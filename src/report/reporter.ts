/**
 * The reporter: a thread of its own that prints each new deadlock and each long wait, in report mode (report-mode.ts), and
 * answers those who ask (answers.ts). It belongs to no arena. It is the file dist/node/reporter.cjs.
 *
 * It looks at each arena once a second. It tells of a deadlock when its threads have waited for as long as a thread waits
 * before it looks; where deadlocks throw, somewhat later, since the deadlock usually ends then. It tells of a wait when
 * it has lasted for `after` seconds, with the whole report. It tells everything once as long as it lasts. If the clock
 * is set meanwhile, this changes nothing (ages.ts).
 */
import { writeSync } from 'node:fs';
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads';
import { Ages } from './ages.js';
import { answerQuestions } from './answers.js';
import { attachmentsOf, lookAt } from './look.js';
import { objectText, threadText } from './refs.js';
import { type ArenaReport, formatReport, reportOf } from './report.js';
import type { Known, ReporterData, Stack } from './report-mode.js';
import { settingOf } from './settings.js';
import { linesOf, placeText, type ThreadStack } from './stacks.js';

const PERIOD = 1000;
/** How many waiters of each object it lists by itself, and how many in an answer. */
const MOST = 20;
const MOST_ASKED = 100;
/** So many milliseconds later it tells of a deadlock that should have ended by a DeadlockError. */
const LATER = 2000;

const { board, channel: name, after } = workerData as ReporterData;

interface Watched {
  readonly memory: WebAssembly.Memory;
  /** By the number of the thread. */
  readonly stacks: Map<number, Stack>;
  readonly ages: Ages;
  /** What it has told of, and what still lasts. */
  told: ReadonlySet<string>;
}

const arenas = new Map<bigint, Watched>();

function hear(message: Known | Stack): void {
  const { id } = message;
  if ('stack' in message) arenas.get(id)?.stacks.set(message.thread, message);
  else if (!arenas.has(id))
    arenas.set(id, { memory: message.memory, stacks: new Map(), ages: new Ages(), told: new Set() });
}

/** Returns the stacks of the threads that still wait as when they told it. */
function stacksIn({ stacks, ages }: Watched, { threads }: ArenaReport): ThreadStack[] {
  return threads.flatMap(({ thread, threadId, name, waits }) => {
    const told = stacks.get(thread);
    // Each of the two times may be wrong by a millisecond.
    if (!told || !waits.some(({ blocked, waited }) => blocked && waited + 2 >= ages.of(told.at | 0))) return [];
    return [{ thread, threadId, name, stack: linesOf(told.stack) }];
  });
}

function print(text: string): void {
  try {
    writeSync(2, `(node:${process.pid}) taketurns/report: ${text}\n`);
  } catch {
    // The standard error may be closed, or a full pipe.
  }
}

/** Begins a round, and looks at an arena. */
function describe({ memory, ages }: Watched, most: number): ArenaReport {
  ages.begin();
  return reportOf(memory, settingOf(new Int32Array(memory.buffer)).after, most, ages.of);
}

/** Returns what there is to tell of, each with a text that stays the same as long as it lasts. */
function newsIn(report: ArenaReport, patience: number): Map<string, string> {
  const news = new Map<string, string>();
  for (const { edges, text } of [...report.deadlocks, ...report.suspected]) {
    if (edges.some(({ waited }) => waited < patience)) continue;
    news.set(String(edges.map(({ thread, waitsFor }) => [thread.thread, waitsFor.number])), text);
  }
  return news;
}

/** Returns the waits that have lasted for long, in the same form. */
function longWaitsIn({ objects }: ArenaReport): Map<string, string> {
  const waits = new Map<string, string>();
  for (const object of objects)
    for (const waiter of object.waiters)
      if (waiter.waited >= after * 1000)
        waits.set(
          `${waiter.thread} ${object.number} ${waiter.blocked}`,
          `${threadText(waiter)} has waited for ${objectText(object)} for ${Math.floor(waiter.waited / 1000)} s`,
        );
  return waits;
}

function lookAtArena(id: bigint, arena: Watched): void {
  const { memory, told } = arena;
  const look = lookAt(memory, Date.now() | 0, 0);
  if (look.threads.size === 0) {
    arenas.delete(id);
    return;
  }
  const waits =
    look.queues.size > 0 ||
    look.objects.some((object) => attachmentsOf(look, object).some((one) => one.waits > 0 || one.held > 0));
  if (!waits) {
    // A round that sees nothing counts as well.
    arena.ages.begin();
    arena.told = new Set();
    return;
  }
  const setting = settingOf(new Int32Array(memory.buffer));
  const report = describe(arena, MOST);
  const news = newsIn(report, setting.after + (setting.deadlocks === 'throw' ? LATER : 0));
  const long = longWaitsIn(report);
  const stacks = stacksIn(arena, report);
  for (const [key, text] of news) if (!told.has(key)) print([text, ...stacks.map(placeText)].join('\n'));
  const isNew = [...long].filter(([key]) => !told.has(key)).map(([, text]) => text);
  if (isNew.length > 0) print([isNew.join('; '), formatReport(report), ...stacks.map(placeText)].join('\n'));
  arena.told = new Set([...news.keys(), ...long.keys()]);
}

function lookAtAll(): void {
  for (const [id, arena] of arenas) {
    try {
      lookAtArena(id, arena);
    } catch (error) {
      print(`the look has failed: ${error}`);
    }
  }
}

parentPort?.on('message', hear);
const channel = new BroadcastChannel(name);
channel.onmessage = ({ data }: { data: unknown }) => hear(data as Known | Stack);
try {
  answerQuestions(() =>
    [...arenas.values()].map((arena) => {
      const report = describe(arena, MOST_ASKED);
      return { ...report, stacks: stacksIn(arena, report) };
    }),
  );
} catch (error) {
  print(`npx taketurns-report cannot ask this process: ${(error as Error).message}`);
}
Atomics.store(board, 0, 1);
Atomics.notify(board, 0);
setInterval(lookAtAll, PERIOD);
