/**
 * Measures what a take of a rate costs a server: the time of the script, as the server counts it. Before each take, the
 * state of the rate is made the same again. The calls of the script are those of a client, but no client waits.
 */
import { Redis } from 'ioredis';
import type { Server } from '../servers/servers.js';
import { TURN } from '../src/script/turn-source.js';
import * as wire from '../src/script/wire.js';
import { countersOf } from './counters.js';

export const TAKE = 'take';
export const REFUSED = 'take that is refused';

/** How many dates lie ahead. More than 64 begin to join. */
export const DATES = [0, 10, 33, 64];

export interface RateFigures {
  /** Microseconds of EVALSHA a call, as the server counts them. */
  readonly script: number;
  /** The bytes of the rate in the memory of the server. */
  readonly bytes: number;
}

const PREFIX = 'tt:{rates.0}:';
const KEYS = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((name) => PREFIX + name);
const RATE = `${PREFIX}rate:api`;
const SAVED = `${PREFIX}saved`;
const SID = 'a000000000000001';
const LEASE = 10_000;
/** The last date lies less far ahead than those that the server lists (FAR in rates.lua), in microseconds. */
const AHEAD = LEASE * 1200;
const SLACK = 50_000;
const US = 1000;

/** Measures takes with so many dates ahead in turn, `rounds` times, and tells each figure. */
export async function measureRates(
  server: Server,
  { rounds, seconds }: { rounds: number; seconds: number },
  tell: (row: string, dates: number, round: number, figures: RateFigures) => void,
): Promise<void> {
  const client = new Redis(server.port);
  const sha = (await client.script('LOAD', TURN.text)) as string;
  const call = async (operation: wire.Arguments): Promise<unknown> => {
    const reply = await client.evalsha(sha, KEYS.length, ...KEYS, SID, '0', 'c:', ...operation);
    return (reply as unknown[])[0];
  };
  await call(wire.enter(1, LEASE, 'bench', '-', '0').map(String));

  const measure = async (demand: wire.RateDemand, dates: number): Promise<RateFigures> => {
    const permits = Math.max(1, 2 * dates);
    const numbers = { permits, per: 2 * AHEAD - SLACK, burst: 1, slack: SLACK };
    let known: wire.RateKnown = { epoch: 0, given: 0, last: 0 };
    let [seen, at] = [0, 0];
    const ask = async (wanted: wire.RateDemand): Promise<wire.RateKnown> => {
      const now = performance.now();
      const age = Math.floor((now - at) * US);
      const told = seen === 0 ? { seen, low: 0, high: 0 } : { seen, low: Math.floor(age / 2), high: age };
      const answer = wire.rateIn(await call(wire.rate('api', numbers, known, told, wanted)), numbers, known);
      if ('most' in answer) throw new Error('too many permits are asked for');
      [seen, at] = [answer.moment, now];
      const { epoch, given, last } = answer;
      return { epoch, given, last };
    };
    await client.del(RATE, SAVED);
    for (let i = 0; i < dates; i++) known = await ask(['T', 1, -1]);
    if (dates > 0) await client.copy(RATE, SAVED);
    const restore = (): Promise<unknown> => (dates > 0 ? client.copy(SAVED, RATE, 'REPLACE') : client.del(RATE));
    await client.config('RESETSTAT');
    let calls = 0;
    for (const end = performance.now() + seconds * 1000; performance.now() < end; calls++) {
      await restore();
      await ask(demand);
    }
    const { micros } = await countersOf(server);
    const bytes = (await client.memory('USAGE', RATE)) ?? 0;
    return { script: micros('evalsha') / calls, bytes };
  };

  for (let round = 0; round < rounds; round++) {
    for (const dates of DATES) tell(TAKE, dates, round, await measure(['T', 1, -1], dates));
    tell(REFUSED, 10, round, await measure(['T', 1, 0], 10));
  }
  client.disconnect();
}
