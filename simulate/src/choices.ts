/**
 * The strategies, which make the choices of the scheduler. The scheduler asks one question after another. Each question
 * is called a point, and has a number. The answer to a question is a number too. The simplest answer is 0: the thread
 * goes on, or the first event comes next. So the program and the answers other than 0 determine a run. The fewer
 * answers other than 0 a run has, the simpler it is.
 */
import type { Event, Thread } from './event.js';
import { Random } from './random.js';

export interface Choices {
  /** The priority of a new event. */
  priority(): number;
  /** Says whether other threads may run before the next step of the running thread. */
  interrupts(): boolean;
  /** Returns the index of the event to run. If `mayGoOn`, a number below 0 lets the running thread go on instead. */
  choose(ready: readonly Event[], mayGoOn: boolean, running?: Thread): number;
}

/** Chooses each event with the same probability. A few times in a run, it preempts a thread before a step. */
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
 * Gives each event a random priority, and runs the event with the highest priority that is ready. At `changes` random
 * steps the running event gets the lowest priority of all. Source: Burckhardt and others, A Randomized Scheduler with
 * Probabilistic Guarantees of Finding Bugs (2010). In the paper threads have priorities, and here events have them.
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
    // A thread that has got the lowest priority goes on when nothing else is ready, or earlier by chance: a lock may be
    // free after some of the events.
    if (mayGoOn && this.#isLast && this.#random.once(4)) return -1;
    let best = 0;
    for (let i = 1; i < ready.length; i++) if ((ready[i] as Event).priority > (ready[best] as Event).priority) best = i;
    return best;
  }
}

/** The answers other than 0, by the number of the point. */
export type Answers = ReadonlyMap<number, number>;

/** Passes each question on to another strategy, and keeps the answers. */
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

/**
 * Gives the answers of a list. If the program has changed since, an answer may be too large for its question. Then it
 * is taken modulo the number of possible answers.
 */
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
 * Goes through all schedules of a program with a limited number of preemptions, one schedule in each run. A run repeats
 * the answers of the run before, up to the last question for which not every answer has been tried. To this question it
 * gives the next answer.
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
    // After a preemption, another event must come first. Otherwise the run would be the same as without the preemption.
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
