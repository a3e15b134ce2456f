/**
 * The clocks and timers of the engine, also where a test has replaced the global ones by false ones that stand still
 * ("fake timers") before the library was loaded. Such a test would otherwise leave the library with timers that nobody
 * moves any more: the time-outs of all later tests would never end.
 *
 *     what is replaced                   what is used in its place
 *     setTimeout, clearTimeout           Atomics.waitAsync with a time-out
 *     Date.now, performance.now          the time at which a `File` was made
 *
 * No tool replaces what is used here. If nothing was replaced, nothing of this is used. If something was, and the
 * engine lacks what would take its place, a warning says so.
 */

/** What is listened at keeps the process alive. */
interface Port {
  onmessage: unknown;
  close(): void;
}

const engine = globalThis as unknown as {
  readonly Atomics?: { readonly waitAsync?: unknown; notify(words: Int32Array, index: number): number };
  readonly File?: new (parts: readonly never[], name: string) => { readonly lastModified: number };
  readonly MessageChannel?: new () => { readonly port1: Port };
  readonly SharedArrayBuffer?: new (bytes: number) => SharedArrayBuffer;
};
type WaitAsync = (words: Int32Array, index: number, value: number, timeout: number) => { value: Promise<unknown> };

/**
 * Returns whether a function of the engine was replaced by a test. Sinon, Jest, vitest and Bun leave the mark `clock`,
 * the old timers of Jest `_isMockFunction`, and node:test the mark `isMock` on the class, and on timers the name of a
 * private method. `bound setTimeout` is no fake: a program may bind the true one, as happy-dom does.
 */
export function isFake(given: unknown): boolean {
  if (typeof given !== 'function' && (typeof given !== 'object' || given === null)) return false;
  const name = `${(given as { name?: unknown }).name}`;
  return (
    'clock' in given ||
    '_isMockFunction' in given ||
    'isMock' in given ||
    name.startsWith('bound #') ||
    name.startsWith('Mock')
  );
}

let warned = false;

function warn(missing: string): void {
  if (warned) return;
  warned = true;
  console.warn(
    `taketurns: fake timers were there before the library was loaded, and this engine has no ${missing} to tell the ` +
      'real time by. Time-outs of the library end only when the test moves its clock. Import the library first',
  );
}

/** A timer that no test can replace. */
class Alarm {
  readonly #word: Int32Array;
  #isOver = false;
  #port: Port | undefined;

  constructor(waitAsync: WaitAsync, buffer: SharedArrayBuffer, run: () => void, milliseconds: number) {
    this.#word = new Int32Array(buffer);
    this.ref();
    // As for a timer, 0 is as good as 1.
    waitAsync.call(Atomics, this.#word, 0, 0, Math.max(1, milliseconds)).value.then(() => {
      const wasOver = this.#isOver;
      this.stop();
      if (!wasOver) run();
    });
  }

  /** The process stays alive until the timer has ended. */
  ref(): void {
    if (this.#isOver || this.#port || !engine.MessageChannel) return;
    this.#port = new engine.MessageChannel().port1;
    this.#port.onmessage = () => {};
  }

  unref(): void {
    this.#port?.close();
    this.#port = undefined;
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.unref();
    engine.Atomics?.notify(this.#word, 0);
  }
}

/** In Bun, a test stops the true clock and the true timers themselves. So the library asks at each call. */
const isBun = 'Bun' in globalThis;

/**
 * Returns whether a test has replaced the timers. Where only the class of dates has a mark, the timers are not trusted
 * either.
 */
const areFake = (start: unknown): boolean => isFake(start) || isFake(Date);

/** Returns these functions, `setTimeout` and `clearTimeout`, or, if a test has replaced them, others in their place. */
export function realTimers<Start, Stop>(start: Start, stop: Stop): { setTimeout: Start; clearTimeout: Stop } {
  const given = { setTimeout: start, clearTimeout: stop };
  const fake = areFake(start);
  if (!fake && !isBun) return given;
  const { SharedArrayBuffer: Memory } = engine;
  const waitAsync = engine.Atomics?.waitAsync as WaitAsync | undefined;
  if (!waitAsync || !Memory) {
    warn('Atomics.waitAsync or no shared memory');
    return given;
  }
  type Call = (run: (...rest: unknown[]) => void, milliseconds?: number, ...rest: unknown[]) => unknown;
  const call: Call = (run, milliseconds = 0, ...rest) =>
    fake || areFake(start)
      ? new Alarm(waitAsync, new Memory(4), () => run(...rest), milliseconds)
      : (start as Call)(run, milliseconds, ...rest);
  return {
    setTimeout: call as Start,
    clearTimeout: ((timer: unknown) =>
      timer instanceof Alarm ? timer.stop() : (stop as (timer: unknown) => void)(timer)) as Stop,
  };
}

/** Returns the milliseconds since 1970, by a clock that no test replaces; undefined if the engine has none. */
const fileTime = (): (() => number) | undefined => {
  const { File } = engine;
  if (File) return () => new File([], '').lastModified;
  warn('File');
  return undefined;
};

/**
 * Returns a function that returns the milliseconds since 1970, although a test has replaced `Date`.
 * @param start the `setTimeout` of the engine. In Bun only the timers have a mark.
 */
export function realEpoch(start: unknown): () => number {
  const { now } = Date;
  if (areFake(start)) return fileTime() ?? now;
  const real = isBun ? fileTime() : undefined;
  return real ? () => (isFake(start) ? real() : now()) : now;
}

/**
 * Returns a function that returns the milliseconds since a fixed moment, although a test has replaced `performance`.
 * Where there is no true `performance`, the function runs back when somebody sets the clock of the computer back.
 */
export function realNow(performance: { now(): number } | undefined, start: unknown): () => number {
  if (performance === undefined || isFake(performance) || isFake(start)) return realEpoch(start);
  // Sinon puts a false `now` into the object itself. In Bun the true one is there.
  const prototype = Object.getPrototypeOf(performance) as { now?: () => number } | null;
  const now = (prototype?.now ?? performance.now).bind(performance);
  const real = isBun ? fileTime() : undefined;
  if (!real) return now;
  const origin = real() - now();
  return () => (isFake(start) ? real() - origin : now());
}
