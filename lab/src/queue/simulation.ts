/** Runs the published core.wasm in the interpreter of check/, step by step. A step is one access to shared memory. */

import { PARKED, PENDING } from '@taketurns/check/dist/engine/machine/status.js';
import { CHOICES, KILL, STEP, TIME_OUT } from '@taketurns/check/dist/engine/search/choice.js';
import { isFinding } from '@taketurns/check/dist/engine/search/violation.js';
import { type Line, modelOf } from '@taketurns/check/dist/models/parts/program.js';
import { loadProgram } from '@taketurns/check/dist/programs.js';
import { Driver } from '@taketurns/check/dist/scene/driver.js';
import { T_COLLISIONS } from '@taketurns/check/dist/scene/layout.js';
import { GIVING, GOT, OP } from '@taketurns/check/dist/scene/words.js';
import { Memory } from './memory.js';

export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly line: Line;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    id: 'turns',
    title: 'Three threads, one permit',
    about: 'Each wants the permit twice. Nobody overtakes, whatever the order of the steps.',
    line: { name: 'turns', program: 'A R A R | A R A R | A R A R', permits: [1], buckets: 4 },
  },
  {
    id: 'collisions',
    title: 'Four threads, one bucket',
    about: 'A waiting array of one bucket: the second waiter finds the first one there, and enters beside it.',
    line: { name: 'collisions', program: 'A R | A R | A R | A R', permits: [1], buckets: 1 },
  },
  {
    id: 'heavy',
    title: 'A heavy request',
    about: 'Two permits. One thread wants both at once; the lighter one behind it waits its turn.',
    line: { name: 'heavy', program: 'A R A R | A2 R | A R', permits: [2], buckets: 4 },
  },
  {
    id: 'cancel',
    title: 'Cancelling',
    about:
      'Two threads wait with a time-out. Let one run out: its element stays behind as a tombstone, and the thread that brings the grant there passes it on.',
    line: { name: 'cancel', program: 'A R | B R | B R | A R', permits: [1], buckets: 4 },
  },
  {
    id: 'overflow',
    title: 'A full bucket',
    about: 'One bucket with one free cell: the second waiter hangs an overflow line behind it.',
    line: { name: 'overflow', program: 'A R | A R | A R | A R', permits: [1], buckets: 1, cells: 1 },
  },
  {
    id: 'death',
    title: 'An owner dies',
    about: 'A robust semaphore. Kill a thread wherever you like: the last one reaps it, and the queue moves on.',
    line: {
      name: 'death',
      program: 'A R | A R | A R | S',
      permits: [1],
      buckets: 4,
      mortal: [0, 1],
      robust: true,
    },
  },
];

export interface Choice {
  readonly kind: 'step' | 'time out' | 'kill';
  readonly choice: number;
}

export interface Step {
  readonly thread: number;
  /** The names of the functions that the thread is in. */
  readonly where: string;
  readonly what: string;
  /** The search's name of the word that the step accessed. */
  readonly word: string;
}

export type ThreadState = 'runs' | 'sleeps' | 'done' | 'dead' | 'looks out';

/** The bit in GIVING that says that the thread held the permits that it gives back. */
const OWN = 9;

const KINDS = { [STEP]: 'step', [TIME_OUT]: 'time out', [KILL]: 'kill' } as const;

export class Simulation {
  readonly scenario: Scenario;
  readonly threads: number;
  readonly permits: number;
  readonly memory: Memory;
  /** The steps so far. */
  readonly steps: Step[] = [];
  /** The thread that has drawn each ticket. */
  readonly owners: number[] = [];
  collisions = 0;
  timeouts = 0;
  deaths = 0;
  /** The violation that the search would report. */
  violation: string | undefined;
  readonly #scene: Driver;
  readonly #choices: number[] = [];
  readonly #open = new Int32Array(64);

  constructor(scenario: Scenario, choices: readonly number[] = []) {
    this.scenario = scenario;
    this.permits = scenario.line.permits[0] as number;
    this.#scene = new Driver(loadProgram('core'), modelOf(scenario.line));
    this.threads = this.#scene.threads;
    this.memory = new Memory(this.#scene.machine.words, this.#scene.regions);
    for (const choice of choices) this.apply(choice);
  }

  /** Returns the steps, time-outs and deaths that are possible now. */
  open(thread?: number): Choice[] {
    const n = thread === undefined ? this.#scene.choices(this.#open) : this.#scene.choicesOf(thread, this.#open, 0);
    return Array.from(this.#open.subarray(0, n), (choice) => ({
      choice,
      kind: KINDS[(choice % CHOICES) as keyof typeof KINDS],
    }));
  }

  threadOf(choice: number): number {
    return Math.floor(choice / CHOICES);
  }

  apply(choice: number): void {
    const scene = this.#scene;
    const { thread, where, what } = scene.describe(choice);
    const isStep = choice % CHOICES === STEP;
    // The search does not keep the counts that only diagnostics read. So the simulation keeps them.
    if (isStep && scene.silent(thread)) {
      const counted = scene.machine.pendingAddress(thread);
      if (scene.isCount(T_COLLISIONS, counted)) this.collisions++;
      // Of the silent words, an object has only the count of its time-outs.
      else if (counted < scene.regions.names) this.timeouts++;
    }
    if (choice % CHOICES === KILL) this.deaths++;
    const before = this.ticket;
    const { machine } = scene;
    const accesses = isStep && machine.status(thread) === PENDING;
    const address = accesses ? machine.pendingAddress(thread) : 0;
    const bytes = accesses ? machine.pendingBytes(thread) : 0;
    const was = accesses ? scene.value(address, bytes) : '';
    try {
      scene.apply(choice);
    } catch (error) {
      if (!isFinding(error)) throw error;
      this.violation = error.message;
    }
    for (let ticket = before; ticket < this.ticket; ticket++) this.owners[ticket] = thread;
    if (this.ticket < before) this.owners.length = this.ticket;
    this.#choices.push(choice);
    const is = accesses ? scene.value(address, bytes) : '';
    this.steps.push({
      thread,
      where,
      what: is === was ? what : `${what} → ${is}`,
      word: isStep ? (/ (\S+?)(?::| =|$)/.exec(what)?.[1] ?? '') : '',
    });
    if (this.violation === undefined && this.isOver) this.#checkEnd();
  }

  #checkEnd(): void {
    try {
      this.#scene.checkEnd();
    } catch (error) {
      if (!isFinding(error)) throw error;
      this.violation = error.message;
    }
  }

  /** Returns the same scenario without its last step. */
  back(): Simulation {
    return new Simulation(this.scenario, this.#choices.slice(0, -1));
  }

  get isOver(): boolean {
    return this.open().every(({ kind }) => kind === 'kill');
  }

  get object(): number {
    return this.#scene.semaphores[0] as number;
  }

  get ticket(): number {
    return this.memory.ticket(this.object);
  }

  get grant(): number {
    return this.memory.grant(this.object);
  }

  /** Returns the number of permits that the thread has. */
  held(thread: number): number {
    if (this.#scene.dead(thread)) return 0;
    // The thread still has the permits that it gives back with its next access.
    const giving = this.#scene.get(thread, GIVING);
    return this.#scene.get(thread, GOT) + (giving >> OWN ? giving & 0xff : 0);
  }

  state(thread: number): ThreadState {
    const scene = this.#scene;
    if (scene.dead(thread)) return 'dead';
    if (scene.finished(thread)) return 'done';
    if (scene.machine.status(thread) === PARKED) return 'sleeps';
    return this.open(thread).some(({ kind }) => kind === 'step') ? 'runs' : 'looks out';
  }

  /** Returns the texts of the calls of a thread's program, and the index of the present call. */
  program(thread: number): { texts: string[]; at: number } {
    const ops = this.#scene.model.programs[thread] ?? [];
    return { texts: ops.map(({ text }) => text), at: this.#scene.get(thread, OP) };
  }

  /** Returns whether the thread acquires now, or acquires with its next call. */
  wants(thread: number): boolean {
    const { texts, at } = this.program(thread);
    return /^(?:try)?acquire/i.test(texts[at] ?? '');
  }

  /** Returns a thread's next step, if it can take one. */
  next(thread: number): Step | undefined {
    const step = this.open(thread).find(({ kind }) => kind === 'step');
    if (step === undefined) return undefined;
    const { where, what } = this.#scene.describe(step.choice);
    return { thread, where, what, word: '' };
  }

  /** Returns the address on which a sleeping thread sleeps. */
  bed(thread: number): number {
    return this.#scene.machine.pendingAddress(thread);
  }
}
