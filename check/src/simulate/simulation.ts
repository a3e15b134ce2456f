/**
 * Simulates processors that each have a cache and run one thread. The threads pass one permit or lock around for ever.
 *
 *     enter ──► turns of work inside ──► leave ──► turns of work outside ──┐
 *       ▲                                                                  │
 *       └──────────────────────────────────────────────────────────────────┘
 *
 * Time goes in rounds. With the schedule `round robin`, each processor has one turn in a round. With the schedule
 * `random`, a round has as many turns as there are processors, and each turn goes to a processor at random. In a turn a
 * thread performs one access to shared memory, whatever the access costs, or one turn of work. A parked thread does
 * nothing. So a waiter polls once a turn. Some waiters make several pauses between two polls. Each pause after the
 * first is a turn without an access.
 *
 * A wait counts as a read of its word. A notify counts as no access, since it does not look at the word. A
 * compare-and-swap always counts as a write, because processors ask for the line first. A sleep with a time-out ends
 * after DOZE rounds.
 */

import { Caches, MISS, UPGRADE } from '../engine/caches.js';
import { LOAD, Machine, IDLE as NO_CALL, NOTIFY, PARKED, PENDING, WAIT } from '../engine/machine/machine.js';
import { generator } from '../engine/search/walk.js';
import type { Program } from '../engine/wasm/code.js';
import { constant, nameOf } from '../scene/layout.js';
import { newObject } from '../scene/new-object.js';
import { enrol, globalIndex, regionsOf } from '../scene/set-up.js';
import { type Call, type Contender, UNLIMITED, type Visitor, WITHOUT_END } from './contender.js';
import { contenderOf } from './contenders.js';
import { PAUSE_SINK, pausesBetween } from './pauses.js';

export type Schedule = 'round robin' | 'random';

export interface Configuration {
  /** The name of the contender. */
  readonly contender: string;
  readonly processors: number;
  readonly schedule: Schedule;
  readonly seed: number;
  /** How many hand-overs come before the count begins: enough to touch every bucket, so no first touch is counted. */
  readonly warmUp: number;
  readonly handOvers: number;
  /** The turns of work that each thread does while it holds the permit. */
  readonly inside: number;
  /** The turns of work that each thread does between two acquisitions. */
  readonly outside: number;
  /** The bytes that travel together, 64 or 128. */
  readonly line: number;
}

/** The costs of one hand-over. */
export interface Costs {
  misses: number;
  upgrades: number;
}

export interface Counted extends Costs {
  readonly configuration: Configuration;
  /** The costs by the name of the word ('object.grant', 'bucket.cell0' and so on), dearest first. */
  readonly words: ReadonlyMap<string, Costs>;
}

const BYTES = 12 * 65536;
// These are the library's defaults, except the number of elements. Here a thread needs only one element, one attachment
// and queue nodes.
const BUCKETS = 2048;
const CHAINS = 4096;
const ELEMENTS = 640;
/** The rounds after which a sleep with a time-out ends. */
const DOZE = 2000;
/** How often an adaptive waiter polls: a poll takes 12 ns, and the waiter polls for 50 microseconds (poll-time.ts). */
const PAUSES = 4167;
const NEAREST = 2;
const FARTHEST = 32;

const NOTHING = -1;
/** A thread that performs the same load this often in a row is polling. No thread repeats a call so often in a row. */
const LOOP = 8;

// The phases of a thread.
const OUTSIDE = 0;
const ENTERING = 1;
const INSIDE = 2;
const LEAVING = 3;

export function simulate(program: Program, configuration: Configuration): Counted {
  const simulation = new Simulation(program, configuration);
  simulation.run(configuration.warmUp);
  simulation.count();
  simulation.run(configuration.handOvers);
  return simulation.counted();
}

class Simulation {
  readonly #configuration: Configuration;
  readonly #contender: Contender;
  readonly #program: Program;
  readonly #machine: Machine;
  readonly #caches: Caches;
  readonly #objects: number[] = [];
  readonly #visitors: readonly Visitor[];
  readonly #random: () => number;
  readonly #phases: Uint8Array;
  /** The turns of work that each thread has yet to do. */
  readonly #work: Int32Array;
  /** The rounds for which each thread has slept. */
  readonly #slept: Int32Array;
  /** Whether waiters poll without end. Then it does not matter how often a waiter has polled. */
  readonly #endless: boolean;
  /**
   * The word that each thread polls, if the loop of the thread has no other load. While the cache of the thread's
   * processor has the line of this word, the load would find the same value again. So the turn of the thread ends
   * without the load.
   */
  readonly #polls: Int32Array;
  /** The global that counts pauses, if waiters have a delay. */
  readonly #sink: number;
  readonly #pausing: Int32Array;
  /** How often in a row each thread has performed the same load. */
  readonly #repeats: Int32Array;
  /** The calls that each thread has yet to make, with the call under way first. */
  readonly #calls: Call[][];
  #handOvers = 0;
  /** The counts by word of the memory. */
  #misses = new Int32Array(BYTES / 4);
  #upgrades = new Int32Array(BYTES / 4);

  constructor(program: Program, configuration: Configuration) {
    const { processors, seed } = configuration;
    const contender = contenderOf(configuration.contender);
    this.#contender = contender;
    this.#configuration = configuration;
    this.#program = program;
    this.#machine = new Machine(program, { bytes: BYTES, threads: processors });
    this.#caches = new Caches(BYTES, processors, configuration.line);
    this.#random = generator(seed);
    this.#phases = new Uint8Array(processors);
    this.#work = new Int32Array(processors);
    this.#slept = new Int32Array(processors);
    this.#calls = Array.from({ length: processors }, () => []);
    this.#polls = new Int32Array(processors).fill(NOTHING);
    this.#repeats = new Int32Array(processors);
    const { objects } = contender;
    this.#sink = objects.some(({ delay }) => delay !== undefined) ? globalIndex(program, PAUSE_SINK) : NOTHING;
    this.#endless = this.#sink === NOTHING && objects.every(({ spin }) => spin === WITHOUT_END);
    this.#pausing = new Int32Array(processors);
    this.#callNow(0, 'create', 1, 0, objects.length, processors, BUCKETS, CHAINS, ELEMENTS);
    for (let t = 0; t < processors; t++) {
      enrol(program, t, (name, ...args) => this.#callNow(t, name, ...args));
    }
    for (let t = 0; t < processors && program.exports.has('setAwake'); t++) {
      // If there is only one processor, its thread does not poll.
      this.#callNow(t, 'setAwake', processors > 1 ? PAUSES : 0, Math.min(Math.max(processors, NEAREST), FARTHEST));
    }
    /** The threads' attachments to a robust object. */
    const attachments: number[] = [];
    for (const {
      kind,
      permits = 1,
      most = UNLIMITED,
      spin,
      threshold = 0,
      delay = 0,
      wake = delay,
      lazy = 0,
      robust = false,
    } of objects) {
      const number = constant(kind);
      const knobs = { spin, threshold, robust: Number(robust), variant: [wake, lazy] } as const;
      const attachment = this.#callNow(0, 'createObject', ...newObject({ kind: number, permits, max: most, ...knobs }));
      const at = this.#callNow(0, 'attachedTo', attachment);
      this.#objects.push(at);
      if (!robust) continue;
      attachments[0] = attachment;
      for (let t = 1; t < processors; t++) attachments[t] = this.#callNow(t, 'attach', at, 0, number);
    }
    for (let t = 0; t < processors && program.exports.has('prepare'); t++) this.#callNow(t, 'prepare');
    const dice = generator(seed + 1);
    this.#visitors = Array.from({ length: processors }, (_, t) => ({
      attachment: attachments[t] ?? 0,
      objects: this.#objects,
      dice: () => (dice() >>> 0) / 2 ** 32,
      past: false,
      lane: 0,
    }));
  }

  /** Runs until the threads have made `handOvers` hand-overs. */
  run(handOvers: number): void {
    const end = this.#handOvers + handOvers;
    const { processors, schedule } = this.#configuration;
    while (this.#handOvers < end) {
      let turns = 0;
      for (let i = 0; i < processors; i++) {
        const t = schedule === 'random' ? this.#random() % processors : i;
        if (this.#sleeps(t)) continue;
        this.#turn(t);
        turns++;
      }
      if (turns === 0) this.#expectSomebodyAwake();
    }
  }

  /** Sets the counts to 0. */
  count(): void {
    this.#handOvers = 0;
    this.#misses.fill(0);
    this.#upgrades.fill(0);
  }

  counted(): Counted {
    const regions = regionsOf(this.#machine, this.#program, BYTES);
    const words = new Map<string, Costs>();
    const total: Costs = { misses: 0, upgrades: 0 };
    for (const [i, misses] of this.#misses.entries()) {
      const upgrades = this.#upgrades[i];
      if (misses + upgrades === 0) continue;
      // Words of the same kind are counted together, whatever bucket or element they are in.
      const name = nameOf(4 * i, regions).replace(/\d+\./, '.');
      const word = words.get(name) ?? { misses: 0, upgrades: 0 };
      words.set(name, word);
      for (const costs of [word, total]) {
        costs.misses += misses;
        costs.upgrades += upgrades;
      }
    }
    for (const costs of [total, ...words.values()]) {
      costs.misses /= this.#handOvers;
      costs.upgrades /= this.#handOvers;
    }
    const cost = ([, { misses, upgrades }]: [string, Costs]) => misses + upgrades;
    const sorted = new Map([...words].sort((a, b) => cost(b) - cost(a)));
    return { configuration: this.#configuration, ...total, words: sorted };
  }

  #turn(t: number): void {
    const machine = this.#machine;
    if (this.#pausing[t] > 0) {
      this.#pausing[t]--;
      return;
    }
    if (this.#polls[t] !== NOTHING) {
      if (this.#caches.has(t, this.#polls[t])) return;
      this.#polls[t] = NOTHING;
      this.#repeats[t] = 0;
    }
    if (machine.status(t) === NO_CALL && !this.#advance(t)) return;
    const kind = machine.pendingKind(t);
    const address = machine.pendingAddress(t);
    const instruction = machine.instruction(t);
    if (kind !== NOTIFY) {
      const outcome = kind === LOAD || kind === WAIT ? this.#caches.read(t, address) : this.#caches.write(t, address);
      if (outcome === MISS) this.#misses[address >>> 2]++;
      else if (outcome === UPGRADE) this.#upgrades[address >>> 2]++;
    }
    const sink = this.#sink === NOTHING ? 0 : machine.get(t, this.#sink);
    machine.step(t);
    machine.forget();
    // The first pause of each poll takes no turn. Each further pause takes one turn.
    if (this.#sink !== NOTHING) this.#pausing[t] = Math.max(pausesBetween(sink, machine.get(t, this.#sink)) - 1, 0);
    if (!this.#endless || kind !== LOAD || machine.status(t) !== PENDING) return;
    const again = machine.instruction(t) === instruction && machine.pendingAddress(t) === address;
    this.#repeats[t] = again ? this.#repeats[t] + 1 : 0;
    if (this.#repeats[t] >= LOOP) this.#polls[t] = address;
  }

  /** Begins the thread's next call, as the library's TypeScript would; returns false if the thread works instead. */
  #advance(t: number): boolean {
    const { inside, outside } = this.#configuration;
    if (this.#work[t] > 0) {
      this.#work[t]--;
      return false;
    }
    const calls = this.#calls[t] as Call[];
    const visitor = this.#visitors[t] as Visitor;
    switch (this.#phases[t]) {
      case OUTSIDE:
        this.#phases[t] = ENTERING;
        calls.push(...this.#contender.enter(visitor));
        break;
      case INSIDE:
        this.#phases[t] = LEAVING;
        calls.push(...this.#contender.leave(visitor));
        break;
      default: {
        const done = calls.shift();
        calls.unshift(...(done?.next?.(this.#machine.resultLo(t), visitor) ?? []));
      }
    }
    const [call] = calls;
    if (call !== undefined) {
      this.#call(t, call);
      // A call may return without an access.
      return this.#machine.status(t) !== NO_CALL || this.#advance(t);
    }
    if (this.#phases[t] === ENTERING) {
      this.#phases[t] = INSIDE;
      this.#handOvers++;
      this.#work[t] = inside - 1;
    } else {
      this.#phases[t] = OUTSIDE;
      this.#work[t] = outside - 1;
    }
    return false;
  }

  #call(t: number, { name, on = 0, args }: Call): void {
    const object = on === 'nothing' ? [] : [this.#objects[on] as number];
    const rest = args?.(this.#visitors[t] as Visitor) ?? [];
    this.#machine.call(t, this.#function(name), ...object, ...rest);
  }

  /** Says whether the thread is parked and stays parked for this round. */
  #sleeps(t: number): boolean {
    if (this.#machine.status(t) !== PARKED) {
      this.#slept[t] = 0;
      return false;
    }
    if (!this.#machine.canTimeOut(t) || ++this.#slept[t] < DOZE) return true;
    this.#machine.timeOut(t);
    return false;
  }

  #function(name: string): number {
    const index = this.#program.exports.get(name);
    if (index === undefined) throw new Error(`the program exports no ${name}`);
    return index;
  }

  /** Runs a call to its end, before time begins. */
  #callNow(t: number, name: string, ...args: number[]): number {
    this.#machine.call(t, this.#function(name), ...args);
    while (this.#machine.status(t) === PENDING) this.#machine.step(t);
    return this.#machine.resultLo(t);
  }

  #expectSomebodyAwake(): void {
    for (let t = 0; t < this.#configuration.processors; t++) {
      if (this.#machine.status(t) !== PARKED || this.#machine.canTimeOut(t)) return;
    }
    throw new Error(`${this.#contender.name}: every thread sleeps`);
  }
}
