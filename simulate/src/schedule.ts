/**
 * The scheduler. Everything that happens is an event of a thread: a call of the program, a reaction to a wake-up, a timer. An
 * event runs to its end on the one stack, with the microtasks after it; but each step of it, which is a call of the core or
 * of `Atomics`, may let whole events of other threads run first. A choice (choices.ts) says which.
 *
 *     run:    while there are events: choose one, run it
 *     step:   if the choice says so: run events of threads that are not on the stack; then go on
 *     sleep:  run events of other threads until one wakes this thread; or its time passes, or the call is cut short
 *
 * So one thread sleeps at a time, and it can go on when what runs above it has returned. The clock stands still but for
 * timers and time-outs: each moves it to its time when it is chosen, early or late.
 */
import type { Choices } from './choices.js';
import { type Event, Failure, KILLED, type Thread } from './event.js';

type How = Partial<Pick<Event, 'isDue' | 'at' | 'isEnabled'>>;

function isEnabled(event: Event): boolean {
  return event.isEnabled === undefined || event.isEnabled();
}

/** No event has so many steps, unless it waits for another in a loop. */
const PATIENCE = 1000;

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
  /** The thread whose event runs, if one does. */
  running: Thread | undefined;
  failure: unknown;
  /** What happens, if anybody wants to know. */
  trace: string[] | undefined;
  readonly #stack: (Thread | undefined)[] = [];
  #sleepers: Sleeper[] = [];
  #choices!: Choices;
  #rested!: () => void;
  /** How many steps there were since an event began. */
  #patience = 0;

  constructor(memory: WebAssembly.Memory) {
    this.words = new Int32Array(memory.buffer);
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

  /** Whether the present event came between two steps of another. */
  get isNested(): boolean {
    return this.#stack.length > 1;
  }

  /** The thread at the bottom of the stack, which alone may sleep. */
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

  /** Runs all events. `rested` is called whenever nothing is due, and no call is under way but one that sleeps. */
  run(rested: () => void): void {
    this.#rested = rested;
    for (let ready = this.#ready(); ready.length > 0; ready = this.#ready()) {
      this.#turn(ready[this.#choices.choose(ready, false)] as Event);
      if (this.failure !== undefined) throw this.failure;
      if (!this.isDue()) rested();
    }
  }

  /** Whether there is something that the library brings about now. */
  isDue(): boolean {
    return this.threads.some(({ events }) => events.some(({ isDue }) => isDue));
  }

  /** The events that may come now: of the threads that are not on the stack. */
  #ready(): Event[] {
    const ready: Event[] = [];
    for (const event of this.outside) if (isEnabled(event)) ready.push(event);
    for (const thread of this.threads)
      if (!thread.isDead && !this.#stack.includes(thread))
        for (const event of thread.events) if (isEnabled(event)) ready.push(event);
    return ready;
  }

  /** Whether there is one. */
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

  /** Runs microtasks, and what comes after them, until there are none. */
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

  /** The running thread is about to do something that others can see. */
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

  /** A thread goes round and round until another has done something: lets that do it. */
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

  /** Lets the running thread sleep on a word. Returns whether it has been woken, and not its time passed. */
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

  /** `memory.atomic.notify`: wakes as many who sleep on a word, the first first. */
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

  /** `Atomics.waitAsync` on a word: calls a function as an event when it is woken. Returns false if it is not as expected. */
  waitAsync(thread: Thread, index: number, expected: number, woken: () => void): boolean {
    this.step('waitAsync');
    if (Atomics.load(this.words, index) !== expected) return false;
    const wake = (): void => void this.add(thread, () => 'is woken', woken, { isDue: true });
    this.#sleepers.push({ index, thread, wake });
    return true;
  }

  /** Ends what is left of the calls of a dead thread: each is cut off at its next step. */
  bury(thread: Thread): void {
    this.running = thread;
    thread.drain();
    this.running = undefined;
  }

  /** The thread runs no more. */
  kill(thread: Thread): void {
    thread.isDead = true;
    thread.events.length = thread.soon.length = 0;
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.thread !== thread);
  }

  /** Ends the run. Code of the library may catch what it throws, so the first failure is kept. */
  fail(message: string): never {
    this.failure ??= new Failure(message);
    throw this.failure;
  }
}
