/** Measures an uncontended pair: one client takes a lock and gives it back, again and again. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Server } from '../servers/servers.js';
import { countersOf } from './counters.js';
import type { PairReport } from './pair-program.js';
import { end, next } from './programs.js';
import { MUTEX, OURS, OURS_USING, POLL, REDIS_SEMAPHORE, REDLOCK } from './subjects.js';

export interface Shape {
  readonly subject: string;
  /** How many promises are made in one tick. */
  readonly promises: number;
}

export const SET_NX = 'SET NX PX and delete script';
export const SET_NX_100 = `${SET_NX}, 100 in a tick`;
export const AWAITED = 'Semaphore, awaited';
export const USING = 'Semaphore, using';
export const TICK = 'Semaphore, 100 in a tick';

export const SHAPES: Readonly<Record<string, Shape>> = {
  [SET_NX]: { subject: POLL, promises: 1 },
  [AWAITED]: { subject: OURS, promises: 1 },
  [USING]: { subject: OURS_USING, promises: 1 },
  'Mutex, awaited': { subject: MUTEX, promises: 1 },
  [REDIS_SEMAPHORE]: { subject: REDIS_SEMAPHORE, promises: 1 },
  [REDLOCK]: { subject: REDLOCK, promises: 1 },
  [SET_NX_100]: { subject: POLL, promises: 100 },
  [TICK]: { subject: OURS, promises: 100 },
};

export interface PairFigures {
  /** Microseconds per pair. */
  readonly pair: number;
  /** Microseconds of EVALSHA per operation, as the server counts them. A pair of a plain lock has only one operation. */
  readonly script: number;
  /** Calls of the script per pair. */
  readonly calls: number;
}

const PROGRAM = fileURLToPath(new URL('pair-program.js', import.meta.url));

/** Measures the shapes in turn, `rounds` times, and tells each figure. */
export async function measurePairs(
  server: Server,
  { rounds, seconds }: { rounds: number; seconds: number },
  tell: (shape: string, round: number, figures: PairFigures) => void,
): Promise<void> {
  const program = fork(PROGRAM, [String(server.port)]);
  const measure = async (shape: string, length: number): Promise<PairReport> => {
    program.send({ shape, seconds: length });
    return (await next(program)) as PairReport;
  };
  try {
    // These measurements do not count. In them the program connects, and the runtime compiles.
    for (const shape of Object.keys(SHAPES)) await measure(shape, Math.min(1, seconds));
    for (let round = 0; round < rounds; round++) {
      for (const [shape, { subject }] of Object.entries(SHAPES)) {
        await server.send('CONFIG', 'RESETSTAT');
        const { pairs, ms } = await measure(shape, seconds);
        const counters = await countersOf(server);
        // A plain lock calls a script only to delete its key.
        const operations = subject === POLL || subject === REDIS_SEMAPHORE ? pairs : 2 * pairs;
        tell(shape, round, {
          pair: (ms * 1000) / pairs,
          script: counters.micros('evalsha') / operations,
          calls: counters.calls('evalsha') / pairs,
        });
      }
    }
  } finally {
    await end(program);
  }
}
