/** Makes a machine with an arena in its memory and every thread registered. */
import { Machine, PENDING } from '../engine/machine/machine.js';
import type { Program } from '../engine/wasm/code.js';
import * as layout from './layout.js';

// V8 folds the values of these local constants into the code, but looks up imported names at each use.
const { E_REQUEST, OBJECT_SIZE, THREAD_SIZE } = layout;
const PAGE = 65536;
/** A call that runs alone makes at most this many accesses. */
const MOST_STEPS = 10_000;

export interface ArenaSizes {
  readonly objects?: number;
  readonly buckets?: number;
  /** By default there are as many chains as buckets. */
  readonly chains?: number;
  /** The elements besides those that attachments take. */
  readonly elements?: number;
  /** The number of threads attached to each object; by default only the first thread is attached. */
  readonly attached?: number;
}

export interface Arena {
  readonly machine: Machine;
  readonly regions: layout.Regions;
}

/** Returns the address of a thread's record. */
export function recordOf({ regions }: Arena, t: number): number {
  return regions.threads + (t + 1) * THREAD_SIZE;
}

/** Returns the address of the object in the request of an element. */
export function objectIn({ machine, regions }: Arena, element: number): number {
  const request = (element + E_REQUEST) >> 2;
  const { words } = machine;
  return regions.objects + ((words[request] >>> 31) | ((words[request + 1] & 0x7ffff) << 1)) * OBJECT_SIZE;
}

/** Returns the number of a global of the program, or -1 if the compiler has removed it. */
export function globalIndex(program: Program, name: string): number {
  return program.globals.findIndex((global) => global.name === name);
}

/** Runs the call of a thread to its end while the other threads stand still. */
export function finish(machine: Machine, t: number, step = (): void => machine.step(t)): void {
  for (let steps = 0; machine.status(t) === PENDING; steps++) {
    if (steps === MOST_STEPS) throw new Error(`${machine.describe(t).fn} comes to no end`);
    step();
  }
}

/** Makes a machine with an arena in its memory. `note` is called before each access that this takes. */
export function newMachine(
  program: Program,
  threads: number,
  sizes: ArenaSizes,
  kills: boolean,
  note: (machine: Machine, t: number) => void = () => {},
): Arena {
  const { objects = 2, buckets = 2, chains = buckets, elements = 8 } = sizes;
  // Behind the arena is room for metrics, which no model touches.
  const bytes = PAGE + layout.constant('METRICS_SIZE');
  const machine = new Machine(program, { bytes, used: PAGE, threads, kills });
  // Besides the elements that the model asks for, each object takes one element for each attached thread.
  const pool = elements + objects * (sizes.attached ?? 1);
  const call = (t: number, name: string, ...args: number[]): number => {
    const index = program.exports.get(name);
    if (index === undefined) throw new Error(`the program exports no ${name}`);
    machine.call(t, index, ...args);
    finish(machine, t, () => {
      note(machine, t);
      machine.step(t);
    });
    return machine.resultLo(t);
  };
  call(0, 'create', 1, 0, objects, threads, buckets, chains, pool);
  const end = machine.words[layout.constant('H_END') >> 2];
  if (end > PAGE) throw new Error(`an arena of a model must fit ${PAGE} bytes, got ${end}`);
  for (let t = 0; t < threads; t++) {
    enrol(program, t, (name, ...args) => call(t, name, ...args));
  }
  return { machine, regions: regionsOf(machine, program, end) };
}

/** Registers a thread in the arena. If the program has no registry, the thread only gets its number. */
export function enrol(program: Program, t: number, call: (name: string, ...args: number[]) => number): void {
  if (program.exports.has('register')) {
    if (call('open') !== 1) throw new Error('the arena does not open');
    if (call('register', t + 1) !== t + 1) throw new Error(`thread ${t} does not register`);
  } else if (call('adopt', t + 1) !== 1) throw new Error('the arena does not open');
}

/** Returns where the regions of an arena of `end` bytes lie, as the program's globals say. */
export function regionsOf(machine: Machine, program: Program, end: number): layout.Regions {
  const base = (name: string): number => machine.get(0, globalIndex(program, `arena/${name}`));
  return {
    objects: base('objects'),
    names: base('names'),
    threads: base('threads'),
    chains: base('chains'),
    buckets: base('buckets'),
    lines: base('buckets') + (base('bucketMask') + 1) * layout.LINE,
    common: base('common'),
    elements: base('elements'),
    end,
  };
}
