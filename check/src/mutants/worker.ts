/** A worker of `npm run mutants -w check`: it measures a model, or tries a mutant. */
import { models } from '../models/all.js';
import { PROGRAMS, programOf } from '../programs.js';
import type { Model } from '../scene/model.js';
import { mutantsOf } from './modules.js';
import { type Measure, measure, tryMutant, type Verdict } from './trial.js';

export type Job =
  | { readonly measure: string; readonly states: number }
  | {
      readonly mutant: number;
      readonly candidates: readonly (readonly [name: string, states: number])[];
      readonly budget: number;
    };
export type Answer = Measure | Verdict;

const all = PROGRAMS.flatMap(mutantsOf);

function modelOf(name: string): Model {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model is called ${name}`);
  return model;
}

export default function perform(job: Job): Answer {
  if ('measure' in job) {
    const model = modelOf(job.measure);
    return measure(programOf(model), model, job.states);
  }
  const mutant = all[job.mutant];
  if (mutant === undefined) throw new Error(`there is no mutant ${job.mutant}`);
  return tryMutant(
    mutant.make(),
    job.candidates.map(([name, states]): [Model, number] => [modelOf(name), states]),
    job.budget,
  );
}
