/**
 * Who decides. Each question of the scheduler is a point, and has a number as its answer: 0 is the plainest, to go on, or the
 * first event. So a run is its program and its answers other than 0, and a shorter list of these is a simpler run.
 */
import type { Event, Thread } from './event.js';
import { Random } from './random.js';

export interface Choices {
  /** The priority of a new event. */
  priority(): number;
  /** Whether other threads may run before the next step of the running one. */
  interrupts(): boolean;
  /** Returns the place of the event to run. Below 0 the running thread goes on, if it may. */
  choose(ready: readonly Event[], mayGoOn: boolean, running?: Thread): number;
}

/** Each event is as likely as each other; a thread is preempted at one step of some, a few times in a run. */
export class Uniform implements Choices {
  readonly #random: Random;
  #preemptions: number;
  #isBegun = false;

  constructor(seed: number, preemptions: number) {
    this.#random = new Random(seed);
    this.#preemptions = preemptions;
  }

  priority(): number {
    return 0;
  }

  interrupts(): boolean {
    if (this.#preemptions === 0 || !this.#random.once(12)) return false;
    this.#preemptions--;
    this.#isBegun = true;
    return true;
  }

  choose(ready: readonly Event[], mayGoOn: boolean): number {
    if (mayGoOn && !this.#isBegun && this.#random.once(2)) return -1;
    this.#isBegun = false;
    return this.#random.below(ready.length);
  }
}

/**
 * Each event has a random priority, and the first of those that are ready runs. At `changes` random steps the running event
 * becomes the last of all. Source: Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs
 * (2010), with events in place of threads.
 */
export class Prioritized implements Choices {
  readonly #random: Random;
  readonly #changes = new Set<number>();
  #step = 0;
  #isLast = false;

  constructor(seed: number, changes: number, steps: number) {
    this.#random = new Random(seed);
    for (let i = 0; i < changes; i++) this.#changes.add(1 + this.#random.below(steps));
  }

  priority(): number {
    return this.#random.below(2 ** 30);
  }

  interrupts(): boolean {
    if (!this.#changes.has(++this.#step)) return false;
    this.#isLast = true;
    return true;
  }

  choose(ready: readonly Event[], mayGoOn: boolean): number {
    // Below a thread that has been put last, all that is ready runs first, or half of it: a lock may be free in between.
    if (mayGoOn && this.#isLast && this.#random.once(4)) return -1;
    let best = 0;
    for (let i = 1; i < ready.length; i++) if ((ready[i] as Event).priority > (ready[best] as Event).priority) best = i;
    return best;
  }
}

/** The answers other than 0, by the number of the point. */
export type Answers = ReadonlyMap<number, number>;

/** Asks others, and keeps their answers. */
export class Recorded implements Choices {
  readonly answers = new Map<number, number>();
  readonly #others: Choices;
  #point = 0;

  constructor(others: Choices) {
    this.#others = others;
  }

  priority(): number {
    return this.#others.priority();
  }

  interrupts(): boolean {
    const does = this.#others.interrupts();
    if (does) this.answers.set(this.#point, 1);
    this.#point++;
    return does;
  }

  choose(ready: readonly Event[], mayGoOn: boolean, running?: Thread): number {
    const choice = this.#others.choose(ready, mayGoOn, running);
    const answer = choice + Number(mayGoOn);
    if (answer > 0) this.answers.set(this.#point, answer);
    this.#point++;
    return choice;
  }
}

/** Gives answers that are given. One that is too large for its question, since the program has changed, is taken modulo. */
export class Listed implements Choices {
  readonly #answers: Answers;
  #point = 0;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  priority(): number {
    return 0;
  }

  interrupts(): boolean {
    return this.#answers.has(this.#point++);
  }

  choose(ready: readonly Event[], mayGoOn: boolean): number {
    const answer = this.#answers.get(this.#point++) ?? 0;
    return (answer % (ready.length + Number(mayGoOn))) - Number(mayGoOn);
  }
}

/**
 * All schedules of one program with so many preemptions at most: each run follows the answers of the one before up to the last
 * question that has another answer, and takes that. `more` says whether there is another run.
 */
export class Bounded implements Choices {
  readonly #most: number;
  #path: { answer: number; readonly count: number }[] = [];
  #point = 0;
  #preemptions = 0;
  #isBegun = false;

  constructor(preemptions: number) {
    this.#most = preemptions;
  }

  priority(): number {
    return 0;
  }

  interrupts(): boolean {
    if (this.#preemptions >= this.#most) return false;
    const does = this.#answer(2) === 1;
    this.#preemptions += Number(does);
    this.#isBegun = does;
    return does;
  }

  choose(ready: readonly Event[], mayGoOn: boolean): number {
    // A preemption of nothing would be a run that there is without it.
    const goesOn = Number(mayGoOn && !this.#isBegun);
    this.#isBegun = false;
    return this.#answer(ready.length + goesOn) - goesOn;
  }

  #answer(count: number): number {
    this.#path[this.#point] ??= { answer: 0, count };
    return (this.#path[this.#point++] as { answer: number }).answer;
  }

  /** Prepares the next run. Returns whether there is one. */
  more(): boolean {
    this.#point = this.#preemptions = 0;
    for (let last = this.#path.pop(); last; last = this.#path.pop()) {
      if (++last.answer >= last.count) continue;
      this.#path.push(last);
      return true;
    }
    return false;
  }
}
