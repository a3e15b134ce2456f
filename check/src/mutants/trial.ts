/**
 * Measures models and tries mutants. Measuring a model gives its size and the accesses that it makes. A mutant is then
 * tried with the models that make the changed access.
 */

import { PENDING } from '../engine/machine/machine.js';
import { CHOICES, STEP } from '../engine/search/choice.js';
import { search } from '../engine/search/search.js';
import type { Program } from '../engine/wasm/code.js';
import { loadProgram, type ProgramName } from '../programs.js';
import { Driver } from '../scene/driver.js';
import { nameOf, type Regions } from '../scene/layout.js';
import type { Model } from '../scene/model.js';
import { newMachine } from '../scene/set-up.js';

/** What a search of a model finds on the unchanged program. */
export interface Measure {
  readonly model: string;
  readonly program: ProgramName;
  /** The number of states; Infinity if there are more states than the limit. */
  readonly states: number;
  /** For each access that the model makes, by its offset in the file: the names of the words that it goes to. */
  readonly words: ReadonlyMap<number, ReadonlySet<string>>;
  /** The same for the accesses that the model makes before its threads start. */
  readonly before: ReadonlyMap<number, ReadonlySet<string>>;
}

/**
 * What becomes of a mutant. It is killed if a model, or the set-up of a model, finds the fault. It explodes if it has
 * many times more states than the unchanged program. Otherwise it survives.
 */
export type Outcome = 'killed' | 'explodes' | 'survived';

export interface Verdict {
  readonly outcome: Outcome;
  readonly model?: string;
  readonly message?: string;
}

/** A mutant explodes if it has this many times the states of the unchanged program. No harmless mutant has so many. */
const MOST_TIMES = 20;
const LEAST_STATES = 1000;

class Watched extends Driver {
  readonly words = new Map<number, Set<string>>();
  /** The constructor of the driver makes the objects, so it begins this map before any field has its value. */
  declare before: Map<number, Set<string>> | undefined;

  protected override stepNow(t: number): void {
    const { offset, address } = this.machine.describe(t);
    this.before ??= new Map();
    add(this.before, offset, fieldAt(address, this.regions));
    super.stepNow(t);
  }

  override apply(choice: number): void {
    const t = Math.floor(choice / CHOICES);
    if (choice % CHOICES === STEP && this.machine.status(t) === PENDING) {
      const { offset, address } = this.machine.describe(t);
      add(this.words, offset, fieldAt(address, this.regions));
    }
    super.apply(choice);
  }
}

function add(words: Map<number, Set<string>>, offset: number, word: string): void {
  words.set(offset, (words.get(offset) ?? new Set()).add(word));
}

/** Returns the name of a word, without the object or the line that the word is in. */
function fieldAt(address: number, regions: Regions): string {
  const [, field = ''] = /^(?:\w+\.)?(.*?)\d*$/.exec(nameOf(address, regions)) ?? [];
  return field.startsWith('+') ? 'bytes' : field;
}

export function measure(program: Program, model: Model, most = Infinity): Measure {
  const scenes: Watched[] = [];
  const { states, exhaustive, violation } = search(
    () => {
      const scene = new Watched(program, model);
      scenes.push(scene);
      return scene;
    },
    { states: most },
  );
  if (violation !== undefined)
    throw new Error(`${model.name} does not hold for the program itself: ${violation.message}`);
  return {
    model: model.name,
    program: model.program ?? 'core',
    states: exhaustive ? states : Infinity,
    words: scenes[0]?.words ?? new Map(),
    before: scenes[0]?.before ?? new Map(),
  };
}

/** Measures the accesses that the set-up of every model makes. */
export function measureSetUp(program: ProgramName): Measure {
  const seen: { offset: number; address: number }[] = [];
  const { regions } = newMachine(loadProgram(program), 1, {}, false, (machine, t) => seen.push(machine.describe(t)));
  const words = new Map<number, Set<string>>();
  for (const { offset, address } of seen) add(words, offset, fieldAt(address, regions));
  return { model: 'set-up', program, states: 0, words, before: words };
}

/** Returns a function that names the words to which an access went in the models: 'state', or 'grant/ticket'. */
export function wordsIn(measures: readonly Measure[]): (site: { readonly offset: number }) => string {
  const all = (from: 'words' | 'before', offset: number): string =>
    [...new Set(measures.flatMap((measure) => [...(measure[from].get(offset) ?? [])]))].sort().join('/');
  return ({ offset }) => all('words', offset) || all('before', offset);
}

/**
 * Tries candidates until one of them kills the mutant, or until the tried ones have `budget` states together. A model
 * that was not measured, because it has more states than the limit, counts nothing: if it kills the mutant no longer,
 * the others are tried.
 */
export function tryMutant(
  program: Program,
  candidates: readonly (readonly [model: Model, states: number])[],
  budget = Infinity,
): Verdict {
  let exploded: Verdict | undefined;
  let spent = 0;
  for (const [model, normal] of candidates) {
    if (spent >= budget) break;
    if (normal !== Infinity) spent += normal;
    const states = MOST_TIMES * normal + LEAST_STATES;
    try {
      const { violation, exhaustive } = search(() => new Driver(program, model), { states });
      if (violation !== undefined) return { outcome: 'killed', model: model.name, message: violation.message };
      if (!exhaustive) exploded ??= { outcome: 'explodes', model: model.name, message: `more than ${states} states` };
    } catch (error) {
      // The set-up of a mutant, or the machine, may throw a plain Error. Other errors are mistakes of the checker.
      if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) throw error;
      return { outcome: 'killed', model: model.name, message: error.message };
    }
  }
  return exploded ?? { outcome: 'survived' };
}
