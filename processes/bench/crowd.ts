/** Measures one lock for one interval. Programs of clients take the lock and give it back without a pause. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fairness } from '@taketurns/bench/dist/statistics.js';
import type { Server } from '../servers/servers.js';
import { now } from './clock.js';
import { countersOf } from './counters.js';
import { largestBypass } from './overtaking.js';
import type { Interval, Order, Report } from './program.js';
import { end, next } from './programs.js';
import { type Settings, SUBJECTS } from './subjects.js';

export interface Crowd {
  readonly subject: string;
  /** Connections of each program. */
  readonly connectionsEach: number;
  /** Clients on each connection. */
  readonly clientsEach: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly bypass?: number;
  readonly turn?: number;
  /** The port that clients connect to, if it is not the server's own. */
  readonly port?: number;
}

/** What an interval has shown. */
export interface CrowdFigures {
  /** Hand-overs a second in the interval. */
  readonly rate: number;
  /** The fewest hand-overs of a client over the most. */
  readonly fairness: number;
  readonly longestWaitMs: number;
  /** The largest bypass. It is counted by tickets if the lock has tickets, and otherwise by the clients' clocks. */
  readonly bypass: number;
  /**
   * Commands of clients per hand-over. The next two figures are messages received and bytes sent by the server. All
   * hand-overs count, also those outside of the interval.
   */
  readonly commands: number;
  readonly messages: number;
  readonly bytesOut: number;
  /** Processor time per hand-over in microseconds, of the server. `clientMicros` is that of all programs together. */
  readonly serverMicros: number;
  readonly clientMicros: number;
  /** The time of one call of EVALSHA in microseconds, as the server counts it. */
  readonly scriptMicros: number;
  /** All hand-overs, also outside of the interval. */
  readonly handOvers: number;
}

const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url));

let keys = 0;

/** Programs of clients. They stay for all measurements, so the runtime has compiled most code when one begins. */
export class Crew {
  readonly #programs: readonly ChildProcess[];

  constructor(processes: number) {
    this.#programs = Array.from({ length: processes }, () => fork(PROGRAM, { serialization: 'advanced' }));
  }

  get processes(): number {
    return this.#programs.length;
  }

  /** Sends a message to each program, and resolves to their answers. */
  ask<T>(message: (index: number) => unknown): Promise<T[]> {
    return Promise.all(
      this.#programs.map((program, index) => {
        program.send(message(index) as object);
        return next(program) as Promise<T>;
      }),
    );
  }

  async end(): Promise<void> {
    await Promise.all(this.#programs.map(end));
  }
}

/** Measures one lock for one interval, on connections that are opened for it. */
export async function measureCrowd(server: Server, crew: Crew, crowd: Crowd): Promise<CrowdFigures> {
  const { subject, connectionsEach, clientsEach, seconds, warmUp } = crowd;
  const clients = crew.processes * connectionsEach * clientsEach;
  const key = `bench${++keys}`;
  const settings = (connection: number): Settings => ({
    port: crowd.port ?? server.port,
    key,
    clients,
    first: connection * clientsEach,
    ...(crowd.bypass === undefined ? {} : { bypass: crowd.bypass }),
    ...(crowd.turn === undefined ? {} : { turn: crowd.turn }),
  });
  await crew.ask((p): Order => {
    const connections = Array.from({ length: connectionsEach }, (_, c) => settings(p * connectionsEach + c));
    return { subject, connections, clientsEach };
  });
  await server.send('CONFIG', 'RESETSTAT');
  const before = await countersOf(server);
  const start = now() + 50;
  const interval: Interval = { start, from: start + warmUp * 1000, to: start + (warmUp + seconds) * 1000 };
  const reports = await crew.ask<Report>(() => interval);
  const after = await countersOf(server);
  await crew.ask(() => 'done');
  return figures(crowd, clients, interval, reports, { before, after });
}

interface Grant {
  readonly client: number;
  readonly asked: number;
  readonly granted: number;
  readonly ticket: number;
}

function figures(
  { subject, seconds }: Crowd,
  clients: number,
  { from, to }: Interval,
  reports: readonly Report[],
  { before, after }: Record<'before' | 'after', Awaited<ReturnType<typeof countersOf>>>,
): CrowdFigures {
  const grants: Grant[] = [];
  for (const { grants: all } of reports) {
    for (let i = 0; i < all.length; i += 4) {
      const [client, asked, granted, ticket] = all.subarray(i, i + 4) as unknown as [number, number, number, number];
      grants.push({ client, asked, granted, ticket });
    }
  }
  // A client reads the clock while it holds the lock, so this is the order of the grants.
  grants.sort((a, b) => a.granted - b.granted);
  const inside = grants.filter(({ granted }) => granted >= from && granted < to);
  const each = new Array<number>(clients).fill(0);
  for (const { client } of inside) (each[client] as number)++;
  // Only the part of a wait inside the interval counts. This includes waits that end after the interval.
  const wait = ({ asked, granted }: Grant): number => Math.min(granted, to) - Math.max(asked, from);
  const { commands, tickets = false } = SUBJECTS[subject] as (typeof SUBJECTS)[string];
  const calls = (name: string): number => after.calls(name) - before.calls(name);
  const sent = commands.reduce((sum, name) => sum + calls(name), 0);
  const heard = reports.reduce((sum, report) => sum + report.heard, 0);
  const count = grants.length;
  return {
    rate: inside.length / seconds,
    fairness: fairness(each),
    longestWaitMs: grants.reduce((longest, grant) => Math.max(longest, wait(grant)), 0),
    bypass: largestBypass(inside.map(({ asked, ticket }) => (tickets ? ticket : asked))),
    commands: sent / count,
    messages: (heard > 0 ? heard : calls('publish')) / count,
    bytesOut: (after.bytesOut - before.bytesOut) / count,
    serverMicros: ((after.processorTime - before.processorTime) * 1000) / count,
    clientMicros: (reports.reduce((sum, report) => sum + report.processorTime, 0) * 1000) / count,
    scriptMicros: after.micros('evalsha') / after.calls('evalsha'),
    handOvers: count,
  };
}
