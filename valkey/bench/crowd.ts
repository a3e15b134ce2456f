/** Measures one lock for one interval: programs of clients that take it and give it back without a pause. */
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
  /** Hand-overs in the interval, a second. */
  readonly rate: number;
  /** The fewest hand-overs of a client over the most. */
  readonly fairness: number;
  readonly longestWaitMs: number;
  /** By tickets where there are some, else by the clients' clocks. */
  readonly bypass: number;
  /** A hand-over, from the first to the last: commands of clients, messages received, bytes sent by the server. */
  readonly commands: number;
  readonly messages: number;
  readonly bytesOut: number;
  /** Processor time a hand-over, in microseconds, of the server and of all programs. */
  readonly serverMicros: number;
  readonly clientMicros: number;
  /** The script's time, in microseconds, as the server counts it: of one call of EVALSHA. */
  readonly scriptMicros: number;
  /** All hand-overs, also outside of the interval. */
  readonly handOvers: number;
}

const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url));

let keys = 0;

/** Programs of clients. They measure one lock after the other, so that the runtime has compiled what it can. */
export class Crew {
  readonly #programs: readonly ChildProcess[];

  constructor(processes: number) {
    this.#programs = Array.from({ length: processes }, () => fork(PROGRAM, { serialization: 'advanced' }));
  }

  get processes(): number {
    return this.#programs.length;
  }

  /** Tells each program something, and resolves to what each answers. */
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
  // Whoever holds reads the clock while it holds, so this is the order of the grants.
  grants.sort((a, b) => a.granted - b.granted);
  const inside = grants.filter(({ granted }) => granted >= from && granted < to);
  const each = new Array<number>(clients).fill(0);
  for (const { client } of inside) (each[client] as number)++;
  // A wait counts as far as it lies in the interval, also of whoever got nothing in it.
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
