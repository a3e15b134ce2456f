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
 * What is wrong. No clock decides. Events have numbers in one order. Each thread keeps a log: from which event on it has
 * held and wanted what. A thread in a circle sleeps, and has written down all that it holds and wants before. It writes
 * on only when it has woken. So if a circle was there at a moment, then there is a number, not before the one at which
 * the thread with the error began to wait, such that the logs of all its threads say just this at this number. If there
 * is no such number, the error is wrong. It is wrong too if it does not name each of its threads: all have names, and
 * what an error tells was so while they slept. The log of a killed thread ends when a report of both arenas does not have it
 * any more. A circle that is no longer there when it is told counts as `late`: one of its threads has got an error of
 * its own or was killed, and others may have gone on.
 *
 * What is missed. A kill could break a circle that nobody tells. So no thread is killed of a circle that was there in
 * the same sleeps at the last kill.
 */
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex, TimeoutError } from 'taketurns';
import { DeadlockError, deadlocks, formatReport, nameThread, report, watchDeadlocks } from 'taketurns/report';

const THREADS = 6;
const MUTEXES = 6;
const MOST_THREADS = 20_000;
/** The words of a thread: how many entries its log has had, and numbers of events. */
const [LOGGED, KILLED, GONE, RUNS, WORDS] = [0, 1, 2, 3, 4];
/** The words of all, behind those of the threads: the last number of an event, counts, and which thread has each log. */
const [EVENTS, OVER, ROUNDS, THROWN, ACROSS, TIMEOUTS, LATE, UNSURE, OWNERS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
/** Entries of a log: the event from which on it is true, the mutexes that are held, as bits, and the wanted one plus 1. */
const [SINCE, HOLDS, WANTS, ENTRY] = [0, 1, 2, 3];
/** The last so many entries are kept. A log has the memory of a thread that is gone, if their numbers differ by LOGS. */
const [ENTRIES, LOGS] = [8192, 64];
/** Of a wrong error, the program tells the last so many entries of each log. */
const TOLD = 8;
/** The program goes on until so many circles over both arenas were told. */
const ENOUGH = 3;
const random = (n) => Math.floor(Math.random() * n);
const word = (thread, offset) => thread * WORDS + offset;
const common = (offset) => MOST_THREADS * WORDS + offset;

/** What threads have written down. */
class Notes {
  constructor({ written, logs }) {
    this.written = written;
    this.logs = logs;
  }

  count(what) {
    return Atomics.add(this.written, common(what), 1) + 1;
  }

  load(thread, offset) {
    return Atomics.load(this.written, word(thread, offset));
  }

  /** From now on the thread holds and wants this. Returns the number of this event. */
  write(thread, holds, wants) {
    const at = this.load(thread, LOGGED);
    const entry = this.#entry(thread, at);
    const since = this.count(EVENTS);
    Atomics.store(this.logs, entry + SINCE, since);
    Atomics.store(this.logs, entry + HOLDS, holds);
    Atomics.store(this.logs, entry + WANTS, wants);
    Atomics.store(this.written, word(thread, LOGGED), at + 1);
    return since;
  }

  #entry(thread, at) {
    return ((thread % LOGS) * ENTRIES + (at % ENTRIES)) * ENTRY;
  }

  /** Returns what a thread holds and wants now; undefined if it has written nothing. */
  now(thread) {
    const at = this.load(thread, LOGGED);
    return at === 0 ? undefined : this.#read(thread, at - 1);
  }

  #read(thread, at) {
    const [since, holds, wants] = [SINCE, HOLDS, WANTS].map((offset) =>
      Atomics.load(this.logs, this.#entry(thread, at) + offset),
    );
    return { since, holds, wants };
  }

  /**
   * Returns the spans of events, from `begun` on, in which a thread has held one mutex and wanted another one: the first
   * number of each, and the one behind its last. Undefined if the log does not go back so far.
   */
  spans(thread, held, wanted, begun) {
    const spans = [];
    let end = this.load(thread, GONE) || Number.POSITIVE_INFINITY;
    const count = this.load(thread, LOGGED);
    for (let at = count - 1; at >= 0 && end > begun; at--) {
      const { since, holds, wants } = this.#read(thread, at);
      // The thread goes on to write, and may be at this entry again; and then other threads have its memory.
      if (at < this.load(thread, LOGGED) - ENTRIES + 1 || this.#isLent(thread)) return undefined;
      if ((holds & (1 << held)) !== 0 && wants === wanted + 1) spans.push([Math.max(since, begun), end]);
      end = Math.min(end, since);
    }
    return spans;
  }

  #isLent(thread) {
    return Atomics.load(this.written, common(OWNERS + (thread % LOGS))) !== thread;
  }

  /** Returns the last entries of a thread in words: for example, `12 [m0] m1` if it holds m0 and wants m1 from 12 on. */
  tell(thread) {
    const count = this.load(thread, LOGGED);
    const entries = Array.from({ length: Math.min(count, TOLD) }, (_, k) => this.#read(thread, count - 1 - k));
    const said = entries.reverse().map(({ since, holds, wants }) => {
      const held = Array.from({ length: MUTEXES }, (_, k) => (holds & (1 << k) ? `m${k}` : '')).filter(Boolean);
      return `${since} [${held}]${wants > 0 ? ` m${wants - 1}` : ''}`;
    });
    const [killed, gone] = [this.load(thread, KILLED), this.load(thread, GONE)];
    return `thread ${thread}: ${said.join(', ')}${killed ? '; killed' : ''}${gone ? `; gone at ${gone}` : ''}`;
  }
}

/** Returns the spans of numbers that lie in a span of each of two lists. */
function both(some, others) {
  return some.flatMap(([from, to]) =>
    others.map(([a, b]) => [Math.max(from, a), Math.min(to, b)]).filter(([first, end]) => first < end),
  );
}

/** Runs in a thread. It awaits nothing: Node 20 may crash if a worker is terminated while its module does. */
function work({ i, handles, wrong, ...shared }) {
  const notes = new Notes(shared);
  const { written } = notes;
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
    notes.count(THROWN);
    if (arenas > 1) notes.count(ACROSS);
    const isRing = edges.every(({ holds }, k) => holds.name === edges.at(k - 1).waitsFor.name);
    const numberOf = ({ name }) => Number(name.slice(1));
    const all = edges.map(({ thread, holds, waitsFor }) => [Number(thread.name), numberOf(holds), numberOf(waitsFor)]);
    const isNamed = all.every(([thread]) => thread > 0);
    const spans = isNamed ? all.map((edge) => notes.spans(...edge, begun)) : [[]];
    const isUnsure = spans.includes(undefined);
    const there = isUnsure ? [] : spans.reduce(both);
    if (isUnsure) notes.count(UNSURE);
    // The thread has left its own wait just now.
    const isThere = ([thread, held, wanted]) => {
      const { holds, wants } = notes.now(thread);
      return thread === i || ((holds & (1 << held)) !== 0 && wants === wanted + 1);
    };
    if (there.length > 0 && !all.every(isThere)) notes.count(LATE);
    if (isRing && edges.some(({ thread }) => thread.name === `${i}`) && (isUnsure || there.length > 0)) return;
    const logs = all.map(([thread]) => (thread > 0 ? notes.tell(thread) : 'no name')).join(' | ');
    const bytes = Buffer.from(`${isRing} ${begun} ${JSON.stringify({ all, spans })}: ${text}. Logs: ${logs}\n`);
    new Uint8Array(wrong.buffer, 4).set(bytes.subarray(0, wrong.buffer.byteLength - 4));
    Atomics.add(wrong, 0, 1);
  };

  /** Locks a mutex, and writes that down. Returns whether it has. */
  const lock = (k) => {
    const options = random(4) === 0 ? { timeout: random(20) } : {};
    const begun = notes.write(i, holds, options.timeout === undefined ? k + 1 : 0);
    try {
      mutexes[k].lock(options);
      holds |= 1 << k;
      notes.write(i, holds, 0);
      return true;
    } catch (error) {
      notes.write(i, holds, 0);
      if (error instanceof DeadlockError) check(error, begun);
      else if (error instanceof TimeoutError) notes.count(TIMEOUTS);
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
      notes.write(i, holds, 0);
      mutexes[k].unlock();
    }
  };

  while (Atomics.load(written, common(OVER)) === 0) {
    enter([...mutexes.keys()].filter(() => random(2) === 0).sort(() => Math.random() - 0.5));
    Atomics.add(written, word(i, RUNS), 1);
    notes.count(ROUNDS);
  }
}

/** Returns the threads of the circles among these, by what they have written; each with a text that tells its circle. */
function circlesAmong(threads, notes) {
  const waits = new Map(threads.map((thread) => [thread, notes.now(thread)]).filter(([, now]) => now?.wants > 0));
  const ownerOf = ({ wants }) => [...waits].find(([, { holds }]) => (holds & (1 << (wants - 1))) !== 0)?.[0];
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
  const written = new Int32Array(new SharedArrayBuffer(4 * (MOST_THREADS * WORDS + OWNERS + LOGS)));
  const logs = new Int32Array(new SharedArrayBuffer(4 * LOGS * ENTRIES * ENTRY));
  const notes = new Notes({ written, logs });
  const wrong = new Int32Array(new SharedArrayBuffer(16384));
  const handles = arenas.map(({ handle }) => handle);
  // The main thread is no thread of the circles, and keeps the mutexes.
  const kept = Array.from({ length: MUTEXES }, (_, k) => Mutex.open(`m${k}`, { arena: arenas[k % 2] }));
  const workers = new Map();
  const dying = new Set();
  let [started, kills, looks, crashes] = [0, 0, 0, 0];
  const start = () => {
    // While a thread runs that has the memory of a log, no other thread gets it.
    const taken = new Set([...workers.keys(), ...dying].map((i) => i % LOGS));
    while (taken.has(started % LOGS)) started++;
    const i = started++;
    Atomics.store(written, common(OWNERS + (i % LOGS)), i);
    const worker = new Worker(new URL(import.meta.url), { workerData: { i, written, logs, handles, wrong } });
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
    const alive = [...workers.keys()].filter(
      (i) => i > 0 && written[word(i, KILLED)] === 0 && written[word(i, RUNS)] > 0 && !stands(i),
    );
    const victim = alive[random(alive.length)];
    if (victim === undefined || started + LOGS > MOST_THREADS) return;
    Atomics.store(written, word(victim, KILLED), 1);
    workers.get(victim).terminate();
    dying.add(victim);
    kills++;
    start();
  };
  // A run that hangs is ended by a signal. Then it tells what it hangs in.
  process.once('SIGTERM', () => {
    const counts = [...written.subarray(common(0), common(OWNERS))];
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
