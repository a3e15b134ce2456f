/**
 * The scheduler. Everything that happens is an event of a thread: a call of the program, a reaction to a wake-up, a
 * timer. An event consists of steps: each call of the core or of `Atomics` is one step. All events run on one stack. An
 * event runs to its end, with the microtasks after it. But before each of its steps, whole events of other threads may
 * run. A strategy (choices.ts) decides which events run.
 *
 *     run:    while there are events: choose one, run it
 *     step:   if the choice says so: run events of threads that are not on the stack; then go on
 *     sleep:  run events of other threads until one wakes this thread; or its time passes, or the call is cut short
 *
 * A thread that blocks stays on the stack, and the events of other threads run above it. These events may not block. So
 * at most one thread blocks at a time, the thread at the bottom of the stack. It goes on when the event above it has
 * ended. (A thread that waits by `Atomics.waitAsync` is not on the stack.) The clock stands still until a timer or a
 * time-out is chosen. Then the clock moves on to the time of this timer or time-out, unless the clock is later already:
 * timers may be chosen in any order, so a timer may come after others that are set for later.
 */
import type { Choices } from './choices.js';
import { type Event, Failure, KILLED, type Thread } from './event.js';

type How = Partial<Pick<Event, 'isDue' | 'at' | 'isEnabled'>>;

function isEnabled(event: Event): boolean {
  return event.isEnabled === undefined || event.isEnabled();
}

/** The most steps of an event. An event that takes more steps waits in a loop for another event. */
const PATIENCE = 5000;

interface Sleeper {
  /** The index of the word; -1 if nobody can wake it. */
  readonly index: number;
  readonly thread: Thread;
  wake(): void;
}

export class Scheduler {
  readonly words: Int32Array;
  threads: readonly Thread[] = [];
  /** Events that happen to the program from outside. */
  outside: Event[] = [];
  steps = 0;
  clock = 0;
  /** The thread whose event runs, if an event runs. */
  running: Thread | undefined;
  failure: unknown;
  /** What has happened in the run, a line for each event and step. Undefined if no trace is wanted. */
  trace: string[] | undefined;
  readonly #longs: BigInt64Array;
  readonly #stack: (Thread | undefined)[] = [];
  #sleepers: Sleeper[] = [];
  #choices!: Choices;
  #rested!: () => void;
  /** How many steps there were since an event began. */
  #patience = 0;

  constructor(memory: WebAssembly.Memory) {
    this.words = new Int32Array(memory.buffer);
    this.#longs = new BigInt64Array(memory.buffer);
  }

  /** Begins a run. */
  begin(threads: readonly Thread[], choices: Choices, trace: boolean): void {
    this.threads = threads;
    this.outside = [];
    this.clock = 0;
    this.failure = this.running = undefined;
    this.#patience = 0;
    this.trace = trace ? [] : undefined;
    this.#stack.length = 0;
    this.#sleepers = [];
    this.#choices = choices;
  }

  get isIdle(): boolean {
    return this.#stack.length === 0;
  }

  /** Whether the thread at the bottom of the stack sleeps, and no other event runs. */
  get isAsleep(): boolean {
    return this.#stack.length === 1 && this.#sleepers.some(({ thread }) => thread === this.#stack[0]);
  }

  /** Whether the present event runs between two steps of another event. */
  get isNested(): boolean {
    return this.#stack.length > 1;
  }

  /** The thread at the bottom of the stack. No other thread may sleep. */
  get first(): Thread | undefined {
    return this.#stack[0];
  }

  /** Whether a call of a thread is under way. */
  isOn(thread: Thread): boolean {
    return this.#stack.includes(thread);
  }

  /** How many `Atomics.waitAsync` of a thread are pending. */
  pendingOf(thread: Thread): number {
    return this.#sleepers.filter((sleeper) => sleeper.thread === thread).length;
  }

  /** Adds an event. */
  add(thread: Thread | undefined, label: () => string, run: () => void, how: How = {}): Event {
    const event = { thread, label, run, isDue: false, ...how, priority: this.#choices.priority() };
    this.#list(thread).push(event);
    return event;
  }

  remove(event: Event): void {
    const list = this.#list(event.thread);
    const at = list.indexOf(event);
    if (at >= 0) list.splice(at, 1);
  }

  #list(thread: Thread | undefined): Event[] {
    return thread === undefined ? this.outside : thread.events;
  }

  /** Runs a function in a thread while nothing else can happen. */
  as<T>(thread: Thread, run: () => T): T {
    const result = run();
    this.#settle(thread);
    return result;
  }

  /**
   * Runs all events. Calls `rested` whenever the library has nothing left to do, and no call runs, except one that
   * sleeps.
   */
  run(rested: () => void): void {
    this.#rested = rested;
    for (let ready = this.#ready(); ready.length > 0; ready = this.#ready()) {
      this.#turn(ready[this.#choices.choose(ready, false)] as Event);
      if (this.failure !== undefined) throw this.failure;
      if (!this.isDue()) rested();
    }
  }

  /** Whether the library has something left to do: an event that comes without delay. */
  isDue(): boolean {
    return this.threads.some(({ events }) => events.some(({ isDue }) => isDue));
  }

  /** Returns the events that may come now. Threads on the stack have none. */
  #ready(): Event[] {
    const ready: Event[] = [];
    for (const event of this.outside) if (isEnabled(event)) ready.push(event);
    for (const thread of this.threads)
      if (!thread.isDead && !this.#stack.includes(thread))
        for (const event of thread.events) if (isEnabled(event)) ready.push(event);
    return ready;
  }

  /** Whether an event may come now. */
  #mayPreempt(): boolean {
    return this.outside.some(isEnabled) || this.threads.some((thread) => this.#isReady(thread));
  }

  #isReady(thread: Thread): boolean {
    return !thread.isDead && thread.events.some(isEnabled) && !this.#stack.includes(thread);
  }

  #turn(event: Event): void {
    this.#patience = 0;
    this.remove(event);
    if (this.trace) this.note(event.thread, event.label());
    if (event.at !== undefined) this.clock = Math.max(this.clock, event.at);
    this.#run(event);
  }

  #run(event: Event): void {
    const { thread } = event;
    const before = this.running;
    this.#stack.push(thread);
    this.running = thread;
    try {
      event.run();
      if (thread) this.#settle(thread);
    } catch (error) {
      if (error !== KILLED) this.failure ??= error;
    }
    this.running = before;
    this.#stack.pop();
  }

  /** Runs the microtasks of a thread, and what the library has put off until after them, until nothing is left. */
  #settle(thread: Thread): void {
    if (!thread.isDead) thread.drain();
    for (let next = thread.soon.shift(); next && !thread.isDead; next = thread.soon.shift()) {
      next();
      thread.drain();
    }
  }

  note(thread: Thread | undefined, what: string): void {
    this.trace?.push(`${'  '.repeat(this.#stack.length)}${thread ? `thread ${thread.index}: ` : ''}${what}`);
  }

  /** Is called when the running thread is about to do something that other threads can see. They may run before it. */
  step(what: string): void {
    const thread = this.running;
    if (thread === undefined) return;
    this.steps++;
    if (thread.isDead) throw KILLED;
    if (this.failure !== undefined) throw this.failure;
    if (this.#mayPreempt() && this.#choices.interrupts()) this.#preempt(thread, what);
    else if (++this.#patience > PATIENCE) this.#yield();
    if (this.trace) this.note(thread, `  ${what}`);
  }

  /** Lets another event run, because the running thread goes round a loop until another thread has done something. */
  #yield(): void {
    const [next] = this.#ready();
    if (next === undefined) this.fail('a thread goes round and round, and nobody else can run');
    this.#turn(next);
    if (this.failure !== undefined) throw this.failure;
    if (this.running?.isDead) throw KILLED;
  }

  #preempt(thread: Thread, what: string): void {
    for (let isFirst = true; ; isFirst = false) {
      const ready = this.#ready();
      const choice = ready.length > 0 ? this.#choices.choose(ready, true, thread) : -1;
      if (choice < 0) return;
      if (this.trace && isFirst) this.note(thread, `  (before ${what})`);
      this.#turn(ready[choice] as Event);
      if (thread.isDead) throw KILLED;
      if (this.failure !== undefined) throw this.failure;
    }
  }

  /** `memory.atomic.wait32`: returns 0 when woken, 1 if the word is not as expected, 2 when the time has passed. */
  wait(address: number, expected: number, nanoseconds: bigint): number {
    this.step('wait');
    const index = address >>> 2;
    if (Atomics.load(this.words, index) !== expected) return 1;
    return this.sleep(index, nanoseconds < 0n ? Infinity : Number(nanoseconds) / 1e6) ? 0 : 2;
  }

  /** `memory.atomic.wait64`: does what `wait` does, for a word of 64 bits. */
  wait64(address: number, expected: bigint, nanoseconds: bigint): number {
    this.step('wait');
    if (Atomics.load(this.#longs, address >>> 3) !== expected) return 1;
    return this.sleep(address >>> 2, nanoseconds < 0n ? Infinity : Number(nanoseconds) / 1e6) ? 0 : 2;
  }

  /** Lets the running thread sleep on a word. Returns true if it was woken, and false if its time has passed. */
  sleep(index: number, milliseconds: number): boolean {
    const thread = this.running;
    if (thread === undefined || this.#stack.length > 1) throw new Failure('a thread blocks where it must not');
    let isAwake = false;
    const wake = (): void => {
      isAwake = true;
    };
    const sleeper = { index, thread, wake };
    this.#sleepers.push(sleeper);
    const own = (what: string): Event => {
      return { thread, label: () => what, run: () => {}, isDue: false, priority: this.#choices.priority() };
    };
    const end = this.clock + milliseconds;
    const timeOut = own('its time has passed');
    const cut = own('an exception ends its call');
    while (!isAwake) {
      const ready = this.#ready();
      if (milliseconds < Infinity) ready.push(timeOut);
      if (thread.mayBeCut) ready.push(cut);
      const event = ready.length > 0 ? (ready[this.#choices.choose(ready, false)] as Event) : undefined;
      if (event !== undefined && event !== timeOut && event !== cut) {
        this.#turn(event);
        if (thread.isDead) throw KILLED;
        if (this.failure !== undefined) throw this.failure;
        if (!isAwake && !this.isDue()) this.#rested();
        continue;
      }
      this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
      if (event === undefined) this.fail(`thread ${thread.index} sleeps for ever`);
      this.note(thread, event.label());
      if (event === cut) throw thread.cut();
      this.clock = Math.max(this.clock, end);
      return false;
    }
    this.step('wakes');
    return true;
  }

  /**
   * `memory.atomic.notify`: wakes up to `count` threads that sleep on a word, in the order in which they began to
   * sleep.
   */
  notify(address: number, count: number): number {
    const thread = this.running;
    if (thread) {
      // No engine stops a thread between a change and the wake-up that belongs to it (R9).
      thread.isSafe = true;
      this.step('notify');
      thread.isSafe = false;
    }
    const index = address >>> 2;
    let woken = 0;
    this.#sleepers = this.#sleepers.filter((sleeper) => {
      if (sleeper.index !== index || woken >= count >>> 0) return true;
      woken++;
      sleeper.wake();
      return false;
    });
    return woken;
  }

  /**
   * `Atomics.waitAsync` on a word. A notify of the word, or the time-out, adds an event that calls `woken`. Returns false
   * if the word is not as expected.
   */
  waitAsync(
    thread: Thread,
    address: number,
    isAsExpected: () => boolean,
    milliseconds: number,
    woken: (how: 'ok' | 'timed-out') => void,
  ): boolean {
    this.step('waitAsync');
    if (!isAsExpected()) return false;
    let timer: Event | undefined;
    const wake = (): void => {
      if (timer !== undefined) this.remove(timer);
      this.add(
        thread,
        () => 'is woken',
        () => woken('ok'),
        { isDue: true },
      );
    };
    const sleeper = { index: address >>> 2, thread, wake };
    this.#sleepers.push(sleeper);
    const end = (): void => {
      this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
      woken('timed-out');
    };
    if (milliseconds < Infinity)
      timer = this.add(thread, () => 'its time has passed', end, { at: this.clock + milliseconds });
    return true;
  }

  /** Ends the calls that a dead thread has left. Each call ends at its next step, with KILLED. */
  bury(thread: Thread): void {
    this.running = thread;
    thread.drain();
    this.running = undefined;
  }

  /** Makes a thread dead: it gets no more events. */
  kill(thread: Thread): void {
    thread.isDead = true;
    thread.events.length = thread.soon.length = 0;
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.thread !== thread);
  }

  /** Ends the run with a failure. The library may catch the error that this throws, so the first failure is kept. */
  fail(message: string): never {
    this.failure ??= new Failure(message);
    throw this.failure;
  }
}
