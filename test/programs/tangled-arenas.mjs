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
 * No clock decides what is wrong. A thread of a circle may have left it since the look, if it got an error of its own,
 * or was killed, and then those who waited for it may have gone on. So each event has a number, and a circle is excused
 * if one of its threads has left after the one with the error began to wait, or is killed. But a thread is not excused
 * that no report of either arena had any more when the other one began to wait.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, TimeoutError } from 'taketurns';
import { DeadlockError, deadlocks, nameThread, report, watchDeadlocks } from 'taketurns/report';

const THREADS = 6;
const MUTEXES = 6;
const MOST_THREADS = 20_000;
/** The words of a thread. */
const [HOLDS, WANTS, LEFT, KILLED, GONE, RUNS, WORDS] = [0, 1, 2, 3, 4, 5, 6];
/** The words of all, behind those of the threads: the last number of an event, and counts. */
const [EVENTS, OVER, ROUNDS, THROWN, ACROSS, TIMEOUTS] = [0, 1, 2, 3, 4, 5];
/** The program goes on until so many circles over both arenas were told. */
const ENOUGH = 3;
const random = (n) => Math.floor(Math.random() * n);
const word = (thread, offset) => thread * WORDS + offset;
const common = (offset) => MOST_THREADS * WORDS + offset;

/** Runs in a thread. It awaits nothing: Node 20 may crash if a worker is terminated while its module does. */
function work({ i, written, handles, wrong }) {
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
  const load = (thread, offset) => Atomics.load(written, word(thread, offset));
  const count = (what) => Atomics.add(written, common(what), 1) + 1;

  /** Whether a thread of the circle may have left it since this thread began to wait. Then others may have gone on. */
  const mayHaveLeft = ({ thread: { name } }, begun) =>
    load(Number(name), LEFT) >= begun || (load(Number(name), KILLED) !== 0 && !isGone(Number(name), begun));
  const isGone = (at, begun) => load(at, GONE) !== 0 && load(at, GONE) < begun;

  /** Returns what is wrong with an edge of a circle; undefined if it is right. */
  const faultOf = ({ thread, holds, waitsFor }, begun) => {
    const at = Number(thread.name);
    if (isGone(at, begun)) return 'is gone';
    if ((load(at, HOLDS) & (1 << Number(holds.name.slice(1)))) === 0) return 'does not hold';
    return load(at, WANTS) === Number(waitsFor.name.slice(1)) + 1 ? undefined : 'does not wait';
  };

  const check = ({ deadlock: { edges, arenas, text } }, begun) => {
    count(THROWN);
    if (arenas > 1) count(ACROSS);
    const faults = edges.map((edge) => faultOf(edge, begun));
    const isRing = edges.every(({ holds }, k) => holds.name === edges.at(k - 1).waitsFor.name);
    const others = edges.filter(({ thread }) => thread.name !== `${i}`);
    // The faults are looked for first: a thread says that it leaves before it writes anything else.
    const isExcused = others.some((edge) => mayHaveLeft(edge, begun)) && !faults.includes('is gone');
    if ((isExcused || faults.every((fault) => fault === undefined)) && isRing) return;
    const bytes = Buffer.from(`${isRing} ${faults}: ${text}\n`);
    new Uint8Array(wrong.buffer, 4).set(bytes.subarray(0, wrong.buffer.byteLength - 4));
    Atomics.add(wrong, 0, 1);
  };

  /** Locks a mutex, and writes that down. Returns whether it has. */
  const lock = (k) => {
    const options = random(4) === 0 ? { timeout: random(20) } : {};
    const begun = count(EVENTS);
    Atomics.store(written, word(i, WANTS), options.timeout === undefined ? k + 1 : 0);
    try {
      mutexes[k].lock(options);
      Atomics.or(written, word(i, HOLDS), 1 << k);
      return true;
    } catch (error) {
      Atomics.store(written, word(i, LEFT), count(EVENTS));
      if (error instanceof DeadlockError) check(error, begun);
      else if (error instanceof TimeoutError) count(TIMEOUTS);
      else throw error;
      return false;
    } finally {
      Atomics.store(written, word(i, WANTS), 0);
    }
  };

  const enter = ([k, ...others]) => {
    if (k === undefined) {
      if (random(4) === 0) Atomics.wait(nap, 0, 0, random(4));
    } else if (lock(k)) {
      enter(others);
      Atomics.and(written, word(i, HOLDS), ~(1 << k));
      mutexes[k].unlock();
    }
  };

  while (Atomics.load(written, common(OVER)) === 0) {
    enter([...mutexes.keys()].filter(() => random(2) === 0).sort(() => Math.random() - 0.5));
    Atomics.add(written, word(i, RUNS), 1);
    count(ROUNDS);
  }
}

async function main() {
  const [, , milliseconds = '1500', every = '200'] = process.argv;
  const arenas = [new Arena(), new Arena()];
  for (const arena of arenas) watchDeadlocks(arena, { deadlocks: 'throw', after: 5 });
  const written = new Int32Array(new SharedArrayBuffer(4 * (MOST_THREADS * WORDS + 8)));
  const wrong = new Int32Array(new SharedArrayBuffer(2048));
  const handles = arenas.map(({ handle }) => handle);
  // The main thread is no thread of the circles, and keeps the mutexes.
  const kept = Array.from({ length: MUTEXES }, (_, k) => Mutex.open(`m${k}`, { arena: arenas[k % 2] }));
  const workers = new Map();
  const dying = new Set();
  let [started, kills, looks, crashes] = [0, 0, 0, 0];
  const start = () => {
    const i = started++;
    const worker = new Worker(new URL(import.meta.url), { workerData: { i, written, handles, wrong } });
    workers.set(i, worker);
    worker.on('error', (error) => {
      crashes++;
      console.error(error);
    });
    worker.on('exit', () => workers.delete(i));
  };
  const kill = () => {
    const alive = [...workers.keys()].filter(
      (i) => i > 0 && written[word(i, KILLED)] === 0 && written[word(i, RUNS)] > 0,
    );
    const victim = alive[random(alive.length)];
    if (victim === undefined || started === MOST_THREADS) return;
    Atomics.store(written, word(victim, KILLED), 1);
    workers.get(victim).terminate();
    dying.add(victim);
    kills++;
    start();
  };
  start();
  Atomics.wait(written, word(0, RUNS), 0);
  for (let i = 0; i < THREADS; i++) start();
  const end = performance.now() + Number(milliseconds);
  let next = performance.now() + Number(every);
  while (workers.size > 0) {
    await new Promise((later) => setTimeout(later, 3));
    const isOver = performance.now() >= end && written[common(ACROSS)] >= ENOUGH;
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
      Atomics.store(written, word(i, GONE), Atomics.add(written, common(EVENTS), 1) + 1);
    }
  }
  const [rounds, thrown, across, timeouts] = [ROUNDS, THROWN, ACROSS, TIMEOUTS].map((what) => written[common(what)]);
  const text = Buffer.from(new Uint8Array(wrong.buffer, 4)).toString().split('\n')[0];
  console.log(
    JSON.stringify({
      ...{ rounds, thrown, across, timeouts, kills, looks, crashes },
      wrong: wrong[0] > 0 ? [text] : [],
      left: arenas.reduce((sum, arena) => sum + report(arena).waiting, 0),
      mutexes: kept.length,
    }),
  );
  process.exit();
}

if (isMainThread) main();
else work(workerData);
