/**
 * A program of clients: connects, says so, takes and gives back the lock in each client from one moment to another, and
 * tells what each client was granted. `crowd.ts` starts it.
 */
import { now, processorTime } from './clock.js';
import { type Settings, SUBJECTS } from './subjects.js';

export interface Order {
  readonly subject: string;
  /** One connection each. */
  readonly connections: readonly Settings[];
  readonly clientsEach: number;
}

export interface Interval {
  /** By `now`: when the loops begin, when what is counted begins, and when both end. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/** What the clients were granted: for each grant these numbers in turn. Times are of `now`. */
export const FIELDS = ['client', 'asked', 'granted', 'ticket'] as const;

export interface Report {
  readonly grants: Float64Array;
  readonly heard: number;
  /** Milliseconds of processor time, from the start to the end of the loops. */
  readonly processorTime: number;
  readonly failure?: string;
}

const send = (message: unknown): void => void process.send?.(message);

async function run({ subject, connections, clientsEach }: Order): Promise<void> {
  const { connect } = SUBJECTS[subject] as (typeof SUBJECTS)[string];
  const opened = await Promise.all(connections.map(connect));
  const clients = await Promise.all(
    opened.flatMap((connection, c) =>
      Array.from({ length: clientsEach }, async (_, i) => ({
        number: (connections[c] as Settings).first + i,
        take: await connection.client(i),
      })),
    ),
  );
  const told = new Promise<Interval>((resolve) => process.once('message', resolve as (message: unknown) => void));
  send('ready');
  const { start, to } = await told;
  const grants: number[] = [];
  await new Promise((resolve) => setTimeout(resolve, start - now()));
  const before = processorTime();
  setTimeout(() => opened.forEach((connection) => connection.stop?.()), to - now());
  const loops = clients.map(async ({ number, take }) => {
    for (let asked = now(); asked < to; asked = now()) {
      const { token, release } = await take();
      grants.push(number, asked, now(), token === undefined ? -1 : Number(token / 4096n));
      await release();
    }
  });
  await Promise.all(loops);
  const heard = opened.reduce((sum, connection) => sum + (connection.heard?.() ?? 0), 0);
  const report: Report = { grants: Float64Array.from(grants), heard, processorTime: processorTime() - before };
  send(report);
  await new Promise((resolve) => process.once('message', resolve));
  await Promise.all(opened.map((connection) => connection.close()));
  process.disconnect();
}

process.once('message', (order: Order) => {
  run(order).catch((error: unknown) => {
    const report: Report = {
      grants: new Float64Array(),
      heard: 0,
      processorTime: 0,
      failure: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
    send(report);
    process.disconnect();
  });
});
