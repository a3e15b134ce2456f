/** What happens in a run of rates, and what its processes are told. */

/**
 * What happens to the processes and to the server of a run: milliseconds between two of a kind, on the average. What loses
 * data happens every four windows at most.
 */
export interface RatesFault {
  readonly name: string;
  /** Where it can happen. Default: everywhere. */
  readonly only?: 'local' | 'server';
  /** A process is killed, and another one comes in its place; the process of the broker. */
  readonly kills?: number;
  readonly brokers?: number;
  /** A process is stopped for 20 to 1,000 ms. */
  readonly stops?: number;
  readonly jumps?: number;
  readonly flushes?: number;
  /** The server is killed and starts again, with its data. */
  readonly restarts?: number;
  /** A replica that lacks the last writes is promoted. */
  readonly failovers?: number;
  /** Of a thousand calls, after how many a process pauses the rate, or cancels all requests. */
  readonly pauses?: number;
}

export const RATES_FAULTS: readonly RatesFault[] = [
  { name: 'none' },
  { name: 'kills', kills: 1500 },
  { name: 'stops', stops: 700 },
  { name: 'pauses', pauses: 0.2 },
  { name: 'brokers', only: 'local', brokers: 1500, kills: 6000 },
  { name: 'jumps', only: 'server', jumps: 3000 },
  { name: 'flushes', only: 'server', flushes: 3000 },
  { name: 'restarts', only: 'server', restarts: 4000 },
  { name: 'failovers', only: 'server', failovers: 5000 },
  { name: 'all', only: 'local', brokers: 4000, kills: 4000, stops: 2000, pauses: 0.05 },
  { name: 'all', only: 'server', kills: 4000, stops: 3000, pauses: 0.05, jumps: 9000, flushes: 9000, failovers: 9000 },
];

/** Whether the server may lose data: then what dead processes took may not count. */
export const loses = ({ jumps, flushes, failovers }: RatesFault): boolean =>
  [jumps, flushes, failovers].some((every) => every !== undefined);

/** The rate of a run, and its processes. */
export interface RatesPlan {
  readonly permits: number;
  readonly per: number;
  readonly burst: number;
  readonly slack: number;
  /** The most permits of a call. Four calls of five take one. */
  readonly width: number;
  /** How many rates there are; and how many keys of a rate for each key besides. */
  readonly rates: number;
  readonly keys: number;
  readonly processes: number;
  /** In each process. */
  readonly tasks: number;
  /** The part of the calls after which a task keeps its process busy, for up to two slacks. */
  readonly busy: number;
  /** For how many milliseconds a task rests between two calls, at most. */
  readonly rest: number;
  readonly lease: number;
}

/** What a process of a run is told. */
export interface RatesOrder extends RatesPlan {
  /** The port of the server; or the folder that the processes share without a server. */
  readonly port: number | undefined;
  readonly directory: string | undefined;
  readonly file: string;
  readonly pauses: number;
}
