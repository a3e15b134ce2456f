/** Searches models by name, one after another, and reports each: the work of one processor. */
import { parentPort } from 'node:worker_threads';
import { loadCore } from './core.js';
import { models } from './models/table.js';
import { Scene } from './scene/scene.js';
import { type SearchResult, search } from './search/search.js';

export interface Report {
  readonly name: string;
  readonly result: SearchResult;
}

const program = loadCore();
parentPort?.on('message', ({ name, milliseconds }: { name: string; milliseconds: number }) => {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model is called ${name}`);
  const result = search(() => new Scene(program, model), { milliseconds });
  parentPort?.postMessage({ name, result } satisfies Report);
});
