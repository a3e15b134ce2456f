/** What is measured, and in which order: of each part all rows in turn, as often as there are rounds. */
import { measureCrowd, type Crowd } from './crowd.js';
import { delayed } from './delayed.js';
import { measurePairs } from './pairs.js';
import type { Part, Run } from './results.js';
import { HERD, MUTEX, OURS, OURS_USING, POLL, REDIS_SEMAPHORE, REDLOCK, RING } from './subjects.js';
import type { Server } from '../servers/servers.js';

/** How much is measured. */
export interface Extent {
  readonly rounds: number;
  /** Seconds of an interval, and of the loops before it. */
  readonly seconds: number;
  readonly warmUp: number;
  readonly clients: readonly number[];
  readonly waiters: readonly number[];
  /** Milliseconds of round trips. */
  readonly delays: readonly number[];
  readonly turns: readonly number[];
}

export const FULL: Extent = {
  rounds: 5,
  seconds: 1,
  warmUp: 0.5,
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

const PROCESSES = 2;
const HAND_OVERS = [OURS, OURS_USING, HERD, REDIS_SEMAPHORE, REDLOCK, POLL, RING];
/** The herd needs more commands than waiters for a hand-over, so not all numbers of waiters are tried with it. */
const LARGEST_HERD = 256;

const lent = (bypass: number): string => `${MUTEX}, bypass ${bypass}`;
export const STRICT: string = lent(0);
export const DEFAULT: string = lent(4096);
const BYPASSES = [0, 16, 256, 4096];
const MUTEX_PROCESSES = 4;
const TASKS = 8;

const LATENCY_BYPASSES = [16, 256];
const LATENCY_TURN = 5;

/** The measurements of each part. */
export const PARTS: Readonly<Record<Part, (server: Server, extent: Extent, tell: Tell) => Promise<void>>> = {
  'hand-over': async (server, extent, tell) => {
    for (let round = 0; round < extent.rounds; round++) {
      for (const clients of extent.clients) {
        for (const row of HAND_OVERS) {
          const figures = await measureCrowd(server, { ...crowdOf(row, clients), ...extent });
          tell({ row, at: clients, round, figures: { ...figures } });
        }
      }
    }
  },

  waiters: async (server, extent, tell) => {
    for (const waiters of extent.waiters) {
      for (const row of [OURS, HERD]) {
        if (row === HERD && waiters > LARGEST_HERD) continue;
        // One is the holder, and the others wait.
        const figures = await measureCrowd(server, { ...crowdOf(row, waiters), ...extent });
        tell({ row, at: waiters, round: 0, figures: { ...figures } });
      }
    }
  },

  pairs: async (server, extent, tell) => {
    await measurePairs(server, extent, (row, round, figures) => tell({ row, at: 0, round, figures: { ...figures } }));
  },

  mutex: async (server, extent, tell) => {
    const rows = new Map<string, Partial<Crowd> & { subject: string }>([
      ...BYPASSES.map((bypass) => [lent(bypass), { subject: MUTEX, bypass }] as const),
      [REDIS_SEMAPHORE, { subject: REDIS_SEMAPHORE }],
      [REDLOCK, { subject: REDLOCK }],
    ]);
    for (let round = 0; round < extent.rounds; round++) {
      for (const [row, crowd] of rows) {
        const figures = await measureCrowd(server, { ...tasks(crowd), ...extent });
        tell({ row, at: MUTEX_PROCESSES * TASKS, round, figures: { ...figures } });
      }
    }
  },

  latency: async (server, extent, tell) => {
    const rows = new Map<string, Partial<Crowd> & { subject: string }>([
      [STRICT, { subject: MUTEX, bypass: 0 }],
      ...LATENCY_BYPASSES.map(
        (bypass) => [`${lent(bypass)}, turn ${LATENCY_TURN}`, { subject: MUTEX, bypass, turn: LATENCY_TURN }] as const,
      ),
      ...extent.turns.map((turn) => [`${DEFAULT}, turn ${turn}`, { subject: MUTEX, turn }] as const),
    ]);
    for (const delay of extent.delays) {
      await delayed(server, delay, async (port) => {
        for (const [row, crowd] of rows) {
          // An interval has some hundred round trips.
          const seconds = Math.max(extent.seconds, delay / 10);
          const figures = await measureCrowd(server, { ...tasks(crowd), ...extent, seconds, port });
          tell({ row, at: delay, round: 0, figures: { ...figures } });
        }
      });
    }
  },
};

/** So many clients, each of which has connections of its own, in as few programs as keep two processors busy. */
function crowdOf(subject: string, clients: number) {
  return { subject, processes: PROCESSES, connectionsEach: clients / PROCESSES, clientsEach: 1 };
}

/** Processes that have one connection each, for several tasks. */
function tasks<C>(crowd: C) {
  return { ...crowd, processes: MUTEX_PROCESSES, connectionsEach: 1, clientsEach: TASKS };
}
