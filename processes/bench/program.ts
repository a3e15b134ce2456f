/**
 * A process with some of the clients of a benchmark. `crowd.ts` starts it and sends it orders. For each order the
 * process connects its clients and says that they are connected. Then it gets an Interval. During this time each client
 * takes the lock and gives it back, again and again. Then the process reports what each client was granted.
 */
import { on } from 'node:events';
import { now, processorTime } from './clock.js';
import { type Settings, SUBJECTS } from './subjects.js';

export interface Order {
  readonly subject: string;
  /** The settings of each connection. */
  readonly connections: readonly Settings[];
  readonly clientsEach: number;
}

export interface Interval {
  /** Times by `now`: the loops begin at `start`. From `from` to `to` the grants count. At `to` the loops end. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/** The numbers that stand for each grant in a report, one grant after the other. Times are those of `now`. */
export const FIELDS = ['client', 'asked', 'granted', 'ticket'] as const;

export interface Report {
  readonly grants: Float64Array;
  readonly heard: number;
  /** Milliseconds of processor time, from the start to the end of the loops. */
  readonly processorTime: number;
}

const send = (message: unknown): void => void process.send?.(message);
const messages = on(process, 'message')[Symbol.asyncIterator]();
const told = async (): Promise<unknown> => (await messages.next()).value[0];

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
  send('ready');
  const { start, to } = (await told()) as Interval;
  const grants: number[] = [];
  await new Promise((resolve) => setTimeout(resolve, start - now()));
  const before = processorTime();
  const stop = (): void => {
    for (const connection of opened) connection.stop?.();
  };
  setTimeout(stop, to - now());
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
  await told();
  await Promise.all(opened.map((connection) => connection.close()));
  send('closed');
}

for (;;) {
  const order = (await told()) as Order | 'close';
  if (order === 'close') break;
  await run(order).catch((error: unknown) => {
    send({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.disconnect();
  });
}
process.disconnect();
