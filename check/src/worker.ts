/** Searches models by name, one after another, and reports each: the work of one processor. */
import { parentPort } from 'node:worker_threads';
import { models } from './models/table.js';
import { programOf } from './programs.js';
import { Scene } from './scene/scene.js';
import { boundsOf, type SearchResult, search } from './search/search.js';

export interface Report {
  readonly name: string;
  readonly result: SearchResult;
}

parentPort?.on('message', ({ name, milliseconds }: { name: string; milliseconds: number }) => {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model is called ${name}`);
  const result = search(() => new Scene(programOf(model), model), boundsOf(model, milliseconds));
  parentPort?.postMessage({ name, result } satisfies Report);
});
