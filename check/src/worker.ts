/** A worker of `npm run check`: it searches the model of a given name. */
import { boundsOf, type SearchResult, search } from './engine/search/search.js';
import { models } from './models/all.js';
import { programOf } from './programs.js';
import { Driver } from './scene/driver.js';

export interface Job {
  readonly name: string;
  readonly milliseconds: number;
}

export default function perform({ name, milliseconds }: Job): SearchResult {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model is called ${name}`);
  return search(() => new Driver(programOf(model), model), boundsOf(model, milliseconds));
}
