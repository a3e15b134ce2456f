/**
 * What threads write down of themselves, to tell whether the circle of a DeadlockError was there. No clock decides.
 *
 * Events have numbers in one order. Each thread keeps a log: from which event on it has held and wanted what. It writes
 * that it wants an object before it waits for it, that it holds the object after it has got it, and that it holds it no
 * more before it gives it back. A thread in a circle sleeps, so it has written down all that it holds and wants. It
 * writes on only when it has woken. So if a circle was there at a moment, then there is a number, not before the one at
 * which the thread with the error began to wait, such that the logs of all its threads say just this at this number. If
 * there is no such number, the error is wrong. It is wrong too if it does not name each of its threads: all have names,
 * and what an error tells was so while they slept.
 *
 * Objects have the numbers 0 to 30. A thread writes down only what it wants without a time limit.
 */

/** The words of a thread: how many entries its log has had, and the number of the event at which it was gone. */
const [LOGGED, GONE, WORDS] = [0, 1, 2];
/** Entries of a log: the event from which on it is true, the objects that are held, as bits, and the wanted one plus 1. */
const [SINCE, HOLDS, WANTS, ENTRY] = [0, 1, 2, 3];
/** The last so many entries are kept. Threads may have the memory of a log after one another: see `lend`. */
const [ENTRIES, LOGS] = [8192, 64];
/** Of a wrong error, the last so many entries of each log are told. */
const TOLD = 8;

export class Notes {
  /** Returns the memory of the notes of so many threads, one after another, for the constructor. */
  static memory(threads) {
    const make = (words) => new Int32Array(new SharedArrayBuffer(4 * words));
    return { words: make(threads * WORDS), logs: make(LOGS * ENTRIES * ENTRY), owners: make(LOGS), events: make(1) };
  }

  #words;
  #logs;
  /** Which thread has the memory of each log, plus 1. */
  #owners;
  /** The number of the last event. */
  #events;

  constructor({ words, logs, owners, events }) {
    this.#words = words;
    this.#logs = logs;
    this.#owners = owners;
    this.#events = events;
  }

  /** Gives the memory of a log to a thread, before it starts. Returns false if one of these threads has the memory. */
  lend(thread, others) {
    for (const other of others) if (other % LOGS === thread % LOGS) return false;
    Atomics.store(this.#owners, thread % LOGS, thread + 1);
    return true;
  }

  /** From now on the thread holds these objects, as bits, and wants this one. Returns the number of this event. */
  write(thread, holds, wanted) {
    const at = this.#load(thread, LOGGED);
    const entry = this.#entry(thread, at);
    const since = this.#next();
    Atomics.store(this.#logs, entry + SINCE, since);
    Atomics.store(this.#logs, entry + HOLDS, holds);
    Atomics.store(this.#logs, entry + WANTS, wanted === undefined ? 0 : wanted + 1);
    Atomics.store(this.#words, thread * WORDS + LOGGED, at + 1);
    return since;
  }

  /** The log of a thread ends: it was killed, and all that it held was given back before now. */
  end(thread) {
    Atomics.store(this.#words, thread * WORDS + GONE, this.#next());
  }

  /** Returns what a thread holds and wants now; undefined if it has written nothing. */
  now(thread) {
    const at = this.#load(thread, LOGGED);
    return at === 0 ? undefined : this.#read(thread, at - 1);
  }

  /**
   * Judges a circle. `edges` are the threads with what each of them holds (undefined: anything) and wants, and `begun` is
   * the number of the event at which the thread that tells of the circle has begun to wait. Returns `right`, `wrong`, or
   * `unsure` if the log of a thread does not go back so far, and a text that says why.
   */
  judge(edges, begun) {
    const isNamed = edges.every(([thread]) => Number.isInteger(thread));
    const spans = isNamed ? edges.map((edge) => this.#spans(...edge, begun)) : [[]];
    const isUnsure = spans.includes(undefined);
    const verdict = isUnsure ? 'unsure' : spans.reduce(both).length > 0 ? 'right' : 'wrong';
    const logs = edges.map(([thread]) => (Number.isInteger(thread) ? this.tell(thread) : 'a thread without a name'));
    return { verdict, why: `from ${begun} on ${JSON.stringify({ edges, spans })}; ${logs.join(' | ')}` };
  }

  /** Whether a thread holds and wants now what an edge says. */
  isNow([thread, held, wanted]) {
    const now = this.now(thread);
    return now !== undefined && matches(now, held, wanted);
  }

  /** Returns the last entries of a log in words: `12 [0] 1` if the thread holds object 0 and wants object 1 from 12 on. */
  tell(thread) {
    const count = this.#load(thread, LOGGED);
    const entries = Array.from({ length: Math.min(count, TOLD) }, (_, k) => this.#read(thread, count - 1 - k));
    const said = entries.reverse().map(({ since, holds, wanted }) => {
      const held = Array.from({ length: 31 }, (_, k) => k).filter((k) => (holds & (1 << k)) !== 0);
      return `${since} [${held}]${wanted === undefined ? '' : ` ${wanted}`}`;
    });
    const gone = this.#load(thread, GONE);
    return `thread ${thread}: ${said.join(', ')}${gone ? `, gone at ${gone}` : ''}`;
  }

  #load(thread, offset) {
    return Atomics.load(this.#words, thread * WORDS + offset);
  }

  #next() {
    return Atomics.add(this.#events, 0, 1) + 1;
  }

  #entry(thread, at) {
    return ((thread % LOGS) * ENTRIES + (at % ENTRIES)) * ENTRY;
  }

  #read(thread, at) {
    const [since, holds, wants] = [SINCE, HOLDS, WANTS].map((offset) =>
      Atomics.load(this.#logs, this.#entry(thread, at) + offset),
    );
    return { since, holds, wanted: wants === 0 ? undefined : wants - 1 };
  }

  /**
   * Returns the spans of events, from `begun` on, in which a thread has held one object and wanted another one: the first
   * number of each, and the one behind its last. Undefined if the log does not go back so far.
   */
  #spans(thread, held, wanted, begun) {
    const spans = [];
    let end = this.#load(thread, GONE) || Number.POSITIVE_INFINITY;
    const count = this.#load(thread, LOGGED);
    for (let at = count - 1; at >= 0 && end > begun; at--) {
      const entry = this.#read(thread, at);
      // The thread goes on to write, and may be at this entry again; and then another thread has its memory.
      if (at < this.#load(thread, LOGGED) - ENTRIES + 1) return undefined;
      if (Atomics.load(this.#owners, thread % LOGS) !== thread + 1) return undefined;
      if (matches(entry, held, wanted)) spans.push([Math.max(entry.since, begun), end]);
      end = Math.min(end, entry.since);
    }
    return spans;
  }
}

function matches(entry, held, wanted) {
  return (held === undefined || (entry.holds & (1 << held)) !== 0) && entry.wanted === wanted;
}

/** Returns the spans of numbers that lie in a span of each of two lists. */
function both(some, others) {
  return some.flatMap(([from, to]) =>
    others.map(([a, b]) => [Math.max(from, a), Math.min(to, b)]).filter(([first, end]) => first < end),
  );
}
