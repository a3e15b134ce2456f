/** A worker of a program: lives until the program stops, until it is killed, or for some 50 ms if it is a visitor. */
import { parentPort, workerData } from 'node:worker_threads';
import { Arena, ArenaFullError, DisposedError } from 'taketurns';
import { Board, isTight } from './board.mjs';
import { Life } from './life.mjs';

const { plan, words, number, handles, arena, isVisitor } = workerData;
const board = new Board(words);

// There is no await at the top level, because Node 20 crashes when a worker is terminated as it begins such a module.
(async () => {
  let life;
  try {
    life = new Life({
      ...{ plan, board, number, handles, arena: Arena.from(arena), ends: true },
      report: (finding) => parentPort.postMessage({ finding }),
      say: (value) => parentPort.postMessage(value),
    });
  } catch (error) {
    const mayBe = error instanceof ArenaFullError ? isTight(plan) : board.hasStopped && error instanceof DisposedError;
    if (!mayBe) throw error;
    return;
  }
  parentPort.postMessage({ isReady: true });
  const end = performance.now() + 50;
  await life.live(() => board.hasStopped || (isVisitor && performance.now() > end));
})();
