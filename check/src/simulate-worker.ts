/** A processor of `npm run simulate`: simulates the configurations it is sent, by their place in the list. */
import { parentPort, workerData } from 'node:worker_threads';
import { programOf } from './programs.js';
import { contenderOf } from './simulate/contenders.js';
import { type Configuration, type Counted, simulate } from './simulate/simulation.js';

export interface Report {
  readonly index: number;
  readonly counted: Counted;
}

const configurations = workerData as readonly Configuration[];

parentPort?.on('message', (index: number) => {
  const configuration = configurations[index];
  if (configuration === undefined) throw new Error(`there is no configuration ${index}`);
  parentPort?.postMessage({
    index,
    counted: simulate(programOf(contenderOf(configuration.contender)), configuration),
  } satisfies Report);
});
