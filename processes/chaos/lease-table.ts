/**
 * Measures which outages of the server a holder survives: by the lease, by the round trip to the server, and by the
 * length of the outage. A proxy (line.ts) delays all data by the round trip, and then carries nothing, or refuses
 * connections, for as long as the outage lasts. The outage begins at a random moment between two heartbeats.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, startServer } from '../servers/servers.js';
import { Space } from '../src/index.js';
import { clientFor } from './connect.js';
import { Line } from './line.js';

/** What the server does during the outage: it does not answer, or it is gone. */
export type Outage = 'mute' | 'gone';

export interface Cell {
  /** In milliseconds. */
  readonly lease: number;
  /** In milliseconds. */
  readonly roundTrip: number;
  /** How long the outage lasts, in parts of a lease. */
  readonly outage: number;
}

export interface Outcome extends Cell {
  /** How many of the holders kept what they held; undefined if `connect` has rejected. */
  readonly kept: number | undefined;
  readonly holders: number;
  /** What `connect` has said. */
  readonly refusal?: string;
}

/** Long enough for each round trip of a table. */
const CONNECTING = 20_000;

/** Whether a holder keeps what it holds. */
async function keeps({ lease, roundTrip, outage }: Cell, how: Outage, server: Server, space: string): Promise<boolean> {
  const line = await Line.start(server.port, roundTrip);
  const client = clientFor({ kind: 'server', port: line.port });
  try {
    const joined = await Space.connect(client, { space, lease, connectTimeout: CONNECTING });
    try {
      const held = await (await joined.mutex('m')).holdAsync();
      await sleep(lease * (0.5 + Math.random() / 5));
      if (!held.held) return false;
      if (how === 'mute') line.mute();
      else line.refuse();
      await sleep(lease * outage);
      line.carry();
      await sleep(lease);
      return held.held;
    } finally {
      await joined.close();
    }
  } finally {
    line.stop();
    client.disconnect();
  }
}

/** Measures the cells, `lanes` holders at once, and calls `measured` with each outcome. */
export async function leaseTable(
  cells: readonly Cell[],
  how: Outage,
  { holders, lanes }: { readonly holders: number; readonly lanes: number },
  measured: (outcome: Outcome) => void,
): Promise<void> {
  const server = await startServer();
  const runs = cells.flatMap((cell) => {
    const results: (boolean | Error)[] = [];
    const run = async (name: string): Promise<void> => {
      results.push(await keeps(cell, how, server, name).catch((error: Error) => error));
      if (results.length < holders) return;
      const error = results.find((result) => result instanceof Error);
      const kept = error ? undefined : results.filter((result) => result).length;
      measured({ ...cell, kept, holders, ...(error && { refusal: (error as Error).message }) });
    };
    return Array.from({ length: holders }, () => run);
  });
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < runs.length) {
      const at = next++;
      await runs[at]?.(`space ${at}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    await server.kill();
  }
}
