/**
 * Threads that lock mutexes of two arenas in no order at all, some with time-outs, while some of the threads are
 * killed. So they wait in circles again and again, in one arena or over both. The youngest waiter of each circle gets a
 * DeadlockError, and gives back what it holds. Each thread writes down what it holds and what it waits for without a
 * time limit. The thread with the error compares the error with that. Prints the counts.
 *
 * If a circle is missed, the program hangs. For a long run, name the milliseconds, and those between two kills:
 *
 *     node test/programs/tangled-arenas.mjs 1200000 100
 *
 * What is wrong, says workers/notes.mjs. The log of a killed thread ends when a report of both arenas does not have the
 * thread any more. A circle that is no longer there when it is told counts as `late`: one of its threads has got an error
 * of its own or was killed, and others may have gone on.
 *
 * What is missed. A kill could break a circle that nobody tells. So no thread is killed of a circle that was there in
 * the same sleeps at the last kill. And no thread is killed while many others are still to begin, or else there are too
 * few for a circle.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, TimeoutError } from 'taketurns';
import { DeadlockError, deadlocks, formatReport, nameThread, report, watchDeadlocks } from 'taketurns/report';
import { Notes } from './workers/notes.mjs';

const THREADS = 6;
/** No thread is killed unless so many have ended their first round. */
const LEAST = 4;
const MUTEXES = 6;
const MOST_THREADS = 20_000;
/** The words of a thread. */
const [KILLED, RUNS, WORDS] = [0, 1, 2];
/** The words of all, behind those of the threads. */
const [OVER, ROUNDS, THROWN, ACROSS, TIMEOUTS, LATE, UNSURE, COUNTS] = [0, 1, 2, 3, 4, 5, 6, 7];
/** The program goes on until so many circles over both arenas were told. */
const ENOUGH = 3;
const random = (n) => Math.floor(Math.random() * n);
const word = (thread, offset) => thread * WORDS + offset;
const common = (offset) => MOST_THREADS * WORDS + offset;

/** Runs in a thread. It awaits nothing: Node 20 may crash if a worker is terminated while its module does. */
function work({ i, handles, wrong, written, memory }) {
  const notes = new Notes(memory);
  const count = (what) => Atomics.add(written, common(what), 1);
  nameThread(`${i}`);
  if (i === 0) {
    // A thread of one arena alone. So all others have another number in each arena.
    Arena.from(handles[1]);
    Atomics.store(written, word(i, RUNS), 1);
    Atomics.notify(written, word(i, RUNS));
    Atomics.wait(written, common(OVER), 0);
    return;
  }
  const arenas = handles.map((handle) => Arena.from(handle));
  const mutexes = Array.from({ length: MUTEXES }, (_, k) => Mutex.open(`m${k}`, { arena: arenas[k % 2] }));
  const nap = new Int32Array(new SharedArrayBuffer(4));
  let holds = 0;

  const check = ({ deadlock: { edges, arenas, text } }, begun) => {
    count(THROWN);
    if (arenas > 1) count(ACROSS);
    const isRing = edges.every(({ holds }, k) => holds.name === edges.at(k - 1).waitsFor.name);
    const isOwn = edges.some(({ thread }) => thread.name === `${i}`);
    const numberOf = ({ name }) => Number(name.slice(1));
    const all = edges.map(({ thread, holds, waitsFor }) => [Number(thread.name), numberOf(holds), numberOf(waitsFor)]);
    const { verdict, why } = notes.judge(all, begun);
    if (verdict === 'unsure') count(UNSURE);
    // The thread has left its own wait just now.
    if (verdict === 'right' && !all.every((edge) => edge[0] === i || notes.isNow(edge))) count(LATE);
    if (isRing && isOwn && verdict !== 'wrong') return;
    const bytes = Buffer.from(`ring ${isRing}, own ${isOwn}, ${verdict} ${why}: ${text}\n`);
    new Uint8Array(wrong.buffer, 4).set(bytes.subarray(0, wrong.buffer.byteLength - 4));
    Atomics.add(wrong, 0, 1);
  };

  /** Locks a mutex, and writes that down. Returns whether it has. */
  const lock = (k) => {
    const options = random(4) === 0 ? { timeout: random(20) } : {};
    const begun = notes.write(i, holds, options.timeout === undefined ? k : undefined);
    try {
      mutexes[k].lock(options);
      holds |= 1 << k;
      notes.write(i, holds);
      return true;
    } catch (error) {
      notes.write(i, holds);
      if (error instanceof DeadlockError) check(error, begun);
      else if (error instanceof TimeoutError) count(TIMEOUTS);
      else throw error;
      return false;
    }
  };

  const enter = ([k, ...others]) => {
    if (k === undefined) {
      if (random(4) === 0) Atomics.wait(nap, 0, 0, random(4));
    } else if (lock(k)) {
      enter(others);
      holds &= ~(1 << k);
      notes.write(i, holds);
      mutexes[k].unlock();
    }
  };

  while (Atomics.load(written, common(OVER)) === 0) {
    enter([...mutexes.keys()].filter(() => random(2) === 0).sort(() => Math.random() - 0.5));
    Atomics.add(written, word(i, RUNS), 1);
    count(ROUNDS);
  }
}

/** Returns the threads of the circles among these, by what they have written; each with a text that tells its circle. */
function circlesAmong(threads, notes) {
  const waits = new Map(
    threads.map((thread) => [thread, notes.now(thread)]).filter(([, now]) => now?.wanted !== undefined),
  );
  const ownerOf = ({ wanted }) => [...waits].find(([, { holds }]) => (holds & (1 << wanted)) !== 0)?.[0];
  const circles = new Map();
  for (const first of waits.keys()) {
    const circle = [];
    for (let thread = first; thread !== undefined && !circle.includes(thread); thread = ownerOf(waits.get(thread)))
      circle.push(thread);
    const last = ownerOf(waits.get(circle.at(-1)));
    if (last === first)
      circles.set(
        first,
        circle
          .sort()
          .map((thread) => `${thread} since ${waits.get(thread).since}`)
          .join(),
      );
  }
  return circles;
}

async function main() {
  const [, , milliseconds = '1500', every = '200'] = process.argv;
  const arenas = [new Arena(), new Arena()];
  for (const arena of arenas) watchDeadlocks(arena, { deadlocks: 'throw', after: 5 });
  const written = new Int32Array(new SharedArrayBuffer(4 * (MOST_THREADS * WORDS + COUNTS)));
  const memory = Notes.memory(MOST_THREADS);
  const notes = new Notes(memory);
  const wrong = new Int32Array(new SharedArrayBuffer(16384));
  const handles = arenas.map(({ handle }) => handle);
  // The main thread is no thread of the circles, and keeps the mutexes.
  const kept = Array.from({ length: MUTEXES }, (_, k) => Mutex.open(`m${k}`, { arena: arenas[k % 2] }));
  const workers = new Map();
  const dying = new Set();
  let [started, kills, looks, crashes] = [0, 0, 0, 0];
  const start = () => {
    // While a thread runs that has the memory of a log, no other thread gets it.
    while (!notes.lend(started, [...workers.keys(), ...dying])) started++;
    const i = started++;
    const worker = new Worker(new URL(import.meta.url), { workerData: { i, written, memory, handles, wrong } });
    workers.set(i, worker);
    worker.on('error', (error) => {
      crashes++;
      console.error(error);
    });
    worker.on('exit', () => workers.delete(i));
  };
  let circles = new Map();
  const kill = () => {
    const before = circles;
    circles = circlesAmong([...workers.keys()], notes);
    const stands = (i) => circles.has(i) && circles.get(i) === before.get(i);
    const alive = [...workers.keys()].filter((i) => i > 0 && written[word(i, KILLED)] === 0);
    // On a busy machine a thread may take longer to start than the time between two kills.
    const begun = alive.filter((i) => written[word(i, RUNS)] > 0);
    if (begun.length < LEAST) return;
    const victims = begun.filter((i) => !stands(i));
    const victim = victims[random(victims.length)];
    if (victim === undefined || started > MOST_THREADS / 2) return;
    Atomics.store(written, word(victim, KILLED), 1);
    workers.get(victim).terminate();
    dying.add(victim);
    kills++;
    start();
  };
  // A run that hangs is ended by a signal. Then it tells what it hangs in.
  process.once('SIGTERM', () => {
    const counts = [...written.subarray(common(0), common(COUNTS))];
    console.error(
      `counts ${counts}, kills ${kills}, looks ${looks}, workers ${[...workers.keys()]}, dying ${[...dying]}`,
    );
    for (const arena of arenas) console.error(formatReport(report(arena)));
    for (const thread of workers.keys()) console.error(notes.tell(thread));
    process.exit(1);
  });
  start();
  Atomics.wait(written, word(0, RUNS), 0);
  for (let i = 0; i < THREADS; i++) start();
  const end = performance.now() + Number(milliseconds);
  let next = performance.now() + Number(every);
  while (workers.size > 0) {
    await new Promise((later) => setTimeout(later, 3));
    const isEnough = written[common(ACROSS)] >= ENOUGH && (kills > 0 || Number(every) === 0);
    const isOver = performance.now() >= end && isEnough;
    if (isOver || wrong[0] > 0) {
      Atomics.store(written, common(OVER), 1);
      Atomics.notify(written, common(OVER));
    } else if (Number(every) > 0 && performance.now() >= next) {
      kill();
      next = performance.now() + Number(every);
    }
    for (const arena of arenas) deadlocks(arena);
    looks++;
    const there = new Set(arenas.flatMap((arena) => report(arena).threads.map(({ name }) => name)));
    for (const i of dying) {
      if (workers.has(i) || there.has(`${i}`)) continue;
      dying.delete(i);
      notes.end(i);
    }
  }
  const [rounds, thrown, across, timeouts, late, unsure] = [ROUNDS, THROWN, ACROSS, TIMEOUTS, LATE, UNSURE].map(
    (what) => written[common(what)],
  );
  const text = Buffer.from(new Uint8Array(wrong.buffer, 4)).toString().split('\n')[0];
  console.log(
    JSON.stringify({
      ...{ rounds, thrown, across, timeouts, late, unsure, kills, looks, crashes },
      wrong: wrong[0] > 0 ? [text] : [],
      left: arenas.reduce((sum, arena) => sum + report(arena).waiting, 0),
      mutexes: kept.length,
    }),
  );
  process.exit();
}

if (isMainThread) main();
else work(workerData);
