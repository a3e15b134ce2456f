/** A thread that runs mutants of the twin over what was recorded of the twin, and tells of each whether it differs. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Outcome } from '../src/local/twin/turn.js';
import type { Recording } from './twin-mutants-cli.js';

type Twin = typeof import('../src/local/twin/turn.js');
type States = typeof import('../src/local/twin/state.js');

const recordings = workerData as readonly Recording[];

const textOf = ({ reply, messages, changes, isLeft }: Outcome): string =>
  JSON.stringify([reply, messages, changes, isLeft]);

async function differs(folder: string): Promise<boolean> {
  const { turn, reap, goOn }: Twin = await import(`${folder}/turn.js`);
  const { State }: States = await import(`${folder}/state.js`);
  return recordings.some(({ limits, begun, steps }) => {
    let state = State.begin('history', begun);
    return steps.some(({ args, victim, member, now, outcome, dump }, at) => {
      const dies = (sid: string) => (sid === '' ? goOn(state, now, limits) : reap(state, sid, now, limits));
      const done = victim === undefined ? turn(state, args, member, now, limits) : dies(victim);
      if (textOf(done) !== outcome) return true;
      if (dump === undefined) return false;
      const text = state.dump();
      if (at % 2 === 0) state = State.load(text);
      return text !== dump || state.dump() !== dump;
    });
  });
}

parentPort?.on('message', (folder: string) => {
  differs(folder).then(
    (differ) => parentPort?.postMessage(differ),
    // A mutant that throws is told.
    () => parentPort?.postMessage(true),
  );
});
