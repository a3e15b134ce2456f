/** Measures models and tries mutants, one after another: the work of one processor. */
import { parentPort } from 'node:worker_threads';
import { models } from '../models/table.js';
import { PROGRAMS, programOf } from '../programs.js';
import type { Model } from '../scene/scene.js';
import { mutantsOf } from './mutate.js';
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

function perform(job: Job): Answer {
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

parentPort?.on('message', (job: Job) => parentPort?.postMessage(perform(job)));
