/**
 * What the models tell of a program: each model as it is first, which gives its size and the accesses that it
 * comes to; then mutants, against the models that come to what was changed, the smallest first.
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

/** A model on its program as that is. */
export interface Measure {
  readonly model: string;
  readonly program: ProgramName;
  /** Infinity if there are more than were to be counted. */
  readonly states: number;
  /** Of each access that it performs, by its place in the file: the kinds of words that it goes to. */
  readonly words: ReadonlyMap<number, ReadonlySet<string>>;
}

/** 'killed' by a model, or by its set-up; 'explodes' when it has many times more states; or nobody can tell. */
export type Outcome = 'killed' | 'explodes' | 'survived';

export interface Verdict {
  readonly outcome: Outcome;
  readonly model?: string;
  readonly message?: string;
}

/** So many times a model's own states are more than any that is as good as the core would have. */
const MOST_TIMES = 20;
const LEAST_STATES = 1000;

class Watched extends Driver {
  readonly words = new Map<number, Set<string>>();

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

/** The name of a word, without which object or line it is of. */
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
  };
}

/** The accesses of the set-up of every model, as those of a model. */
export function measureSetUp(program: ProgramName): Measure {
  const seen: { offset: number; address: number }[] = [];
  const { regions } = newMachine(loadProgram(program), 1, {}, false, (machine, t) =>
    seen.push(machine.describe(t)),
  );
  const words = new Map<number, Set<string>>();
  for (const { offset, address } of seen) add(words, offset, fieldAt(address, regions));
  return { model: 'set-up', program, states: 0, words };
}

/** What accesses go to, by what was seen in models: 'state', or 'grant/ticket'. */
export function wordsIn(measures: readonly Measure[]): (site: { readonly offset: number }) => string {
  return ({ offset }) =>
    [...new Set(measures.flatMap(({ words }) => [...(words.get(offset) ?? [])]))].sort().join('/');
}

/** Tries the candidates one after the other, until one tells or they have taken so many states together. */
export function tryMutant(
  program: Program,
  candidates: readonly (readonly [model: Model, states: number])[],
  budget = Infinity,
): Verdict {
  let exploded: Verdict | undefined;
  let spent = 0;
  for (const [model, normal] of candidates) {
    if (spent >= budget) break;
    spent += normal;
    const states = MOST_TIMES * normal + LEAST_STATES;
    try {
      const { violation, exhaustive } = search(() => new Driver(program, model), { states });
      if (violation !== undefined)
        return { outcome: 'killed', model: model.name, message: violation.message };
      if (!exhaustive)
        exploded ??= { outcome: 'explodes', model: model.name, message: `more than ${states} states` };
    } catch (error) {
      // Plain errors are what the set-up runs into, or the machine cannot go on with.
      if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) throw error;
      return { outcome: 'killed', model: model.name, message: error.message };
    }
  }
  return exploded ?? { outcome: 'survived' };
}
