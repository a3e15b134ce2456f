/** What is measured, and in which order. In each round of a part all rows are measured in turn. */

import type { Server } from '../servers/servers.js';
import { Crew, type Crowd, measureCrowd } from './crowd.js';
import { delayed } from './delayed.js';
import { measurePairs } from './pairs.js';
import { measureRates } from './rates.js';
import type { Part, Run } from './results.js';
import { HERD, MUTEX, OURS, OURS_USING, POLL, REDIS_SEMAPHORE, REDLOCK, RING } from './subjects.js';

/** How much is measured. */
export interface Extent {
  readonly rounds: number;
  /** Seconds of an interval. `warmUp` is the time in seconds for which the loops run before the interval. */
  readonly seconds: number;
  readonly warmUp: number;
  readonly clients: readonly number[];
  readonly waiters: readonly number[];
  /** Round trips in milliseconds. */
  readonly delays: readonly number[];
  readonly turns: readonly number[];
}

export const FULL: Extent = {
  rounds: 5,
  seconds: 1,
  warmUp: 1,
  clients: [8, 32],
  waiters: [4, 16, 64, 256, 1024],
  delays: [0.5, 2, 10, 50],
  turns: [0, 1, 5, 20, 50],
};

export const QUICK: Extent = {
  rounds: 1,
  seconds: 0.3,
  warmUp: 0.2,
  clients: [8, 32],
  waiters: [4, 64],
  delays: [2],
  turns: [0, 5],
};

export type Tell = (run: Omit<Run, 'server' | 'part'>) => void;

const HAND_OVERS = [OURS, OURS_USING, HERD, REDIS_SEMAPHORE, REDLOCK, POLL, RING];

/** The number of programs in the part `waiters`. LARGEST_HERD is the most clients with which the herd is measured. */
const PROCESSES = 2;
const LARGEST_HERD = 256;

const lent = (bypass: number): string => `${MUTEX}, bypass ${bypass}`;
export const STRICT: string = lent(0);
export const DEFAULT: string = lent(4096);
const BYPASSES = [0, 16, 256, 4096];
const MUTEX_PROCESSES = 4;
const TASKS = 8;

const LATENCY_BYPASSES = [16, 256];
const LATENCY_TURN = 5;

type Row = Partial<Crowd> & { readonly subject: string };

/** The measurements of each part. */
export const PARTS: Readonly<Record<Part, (server: Server, extent: Extent, tell: Tell) => Promise<void>>> = {
  'hand-over': async (server, extent, tell) => {
    for (const clients of extent.clients) {
      // Each client has a program of its own, since such a lock is for clients of separate processes.
      await withCrew(clients, async (crew) => {
        for (let round = 0; round < extent.rounds; round++) {
          for (const row of HAND_OVERS) {
            const crowd = { subject: row, connectionsEach: 1, clientsEach: 1, ...extent };
            tell({ row, at: clients, round, figures: { ...(await measureCrowd(server, crew, crowd)) } });
          }
        }
      });
    }
  },

  waiters: async (server, extent, tell) => {
    await withCrew(PROCESSES, async (crew) => {
      for (const clients of extent.waiters) {
        for (const row of [OURS, HERD]) {
          if (row === HERD && clients > LARGEST_HERD) continue;
          const crowd = { subject: row, connectionsEach: clients / PROCESSES, clientsEach: 1, ...extent };
          tell({ row, at: clients, round: 0, figures: { ...(await measureCrowd(server, crew, crowd)) } });
        }
      }
    });
  },

  pairs: async (server, extent, tell) => {
    await measurePairs(server, extent, (row, round, figures) => tell({ row, at: 0, round, figures: { ...figures } }));
  },

  mutex: async (server, extent, tell) => {
    const rows = new Map<string, Row>([
      ...BYPASSES.map((bypass) => [lent(bypass), { subject: MUTEX, bypass }] as const),
      [REDIS_SEMAPHORE, { subject: REDIS_SEMAPHORE }],
      [REDLOCK, { subject: REDLOCK }],
    ]);
    await withCrew(MUTEX_PROCESSES, async (crew) => {
      for (let round = 0; round < extent.rounds; round++) {
        for (const [row, { subject, bypass }] of rows) {
          const crowd = { ...TASKS_OF_A_PROCESS, subject, ...(bypass !== undefined && { bypass }), ...extent };
          const figures = await measureCrowd(server, crew, crowd);
          tell({ row, at: MUTEX_PROCESSES * TASKS, round, figures: { ...figures } });
        }
      }
    });
  },

  latency: async (server, extent, tell) => {
    const rows = new Map<string, Row>([
      [STRICT, { subject: MUTEX, bypass: 0 }],
      ...LATENCY_BYPASSES.map(
        (bypass) => [`${lent(bypass)}, turn ${LATENCY_TURN}`, { subject: MUTEX, bypass, turn: LATENCY_TURN }] as const,
      ),
      ...extent.turns.map((turn) => [`${DEFAULT}, turn ${turn}`, { subject: MUTEX, turn }] as const),
    ]);
    await withCrew(MUTEX_PROCESSES, async (crew) => {
      for (const delay of extent.delays) {
        await delayed(server, delay, async (port) => {
          for (const [row, settings] of rows) {
            // This makes an interval at least a hundred round trips long.
            const seconds = Math.max(extent.seconds, delay / 10);
            const crowd = { ...TASKS_OF_A_PROCESS, ...settings, ...extent, seconds, port };
            tell({ row, at: delay, round: 0, figures: { ...(await measureCrowd(server, crew, crowd)) } });
          }
        });
      }
    });
  },

  rates: (server, extent, tell) =>
    measureRates(server, extent, (row, at, round, figures) => tell({ row, at, round, figures: { ...figures } })),
};

/** Each process has one connection, for several tasks. */
const TASKS_OF_A_PROCESS = { connectionsEach: 1, clientsEach: TASKS };

async function withCrew(processes: number, use: (crew: Crew) => Promise<void>): Promise<void> {
  const crew = new Crew(processes);
  try {
    await use(crew);
  } finally {
    await crew.end();
  }
}
