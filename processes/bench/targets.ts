/** Computes the targets for each server from one run. Both sides of a ratio come from the same round. */
import type { Target } from '@taketurns/bench/dist/report/targets.js';
import { AWAITED, SET_NX, TICK, USING } from './pairs.js';
import { DEFAULT, STRICT } from './plan.js';
import { TAKE } from './rates.js';
import { type Part, quotient, type Results, spreadOf } from './results.js';
import { HERD, OURS, REDIS_SEMAPHORE, REDLOCK } from './subjects.js';

/** The default bypass of a mutex: how many passes the server lends to a process. */
export const BYPASS = 4096;

export function targets(results: Results): Target[] {
  const target = (what: string, bound: Target['bound'], wanted: number, value: (server: string) => number): Target => ({
    what,
    bound,
    wanted,
    found: new Map(results.servers.map((server) => [server, value(server)])),
  });
  const over = (part: Part, at: number, above: string, below: string, figure: string) => (server: string) =>
    quotient(results, { server, part, row: above, at }, { server, part, row: below, at }, figure);
  const median = (part: Part, at: number, row: string, figure: string) => (server: string) =>
    spreadOf(results, { server, part, row, at }, figure).median;
  const most = (part: Part, at: number, row: string, figure: string) => (server: string) =>
    spreadOf(results, { server, part, row, at }, figure).max;
  const flat = (figure: string) => (server: string) => {
    const runs = results.runs.filter((run) => run.server === server && run.part === 'waiters' && run.row === OURS);
    const values = runs.map((run) => run.figures[figure] as number);
    return values.length < 2 ? Number.NaN : Math.max(...values) / Math.min(...values);
  };
  const script = (row: string) => median('pairs', 0, row, 'script');
  return [
    target('hand-overs a second at 32 clients / herd', '>=', 5, over('hand-over', 32, OURS, HERD, 'rate')),
    target('bypass by tickets at 32 clients', '<=', 0, most('hand-over', 32, OURS, 'bypass')),
    target('commands a hand-over, most / least waiters', '<=', 1.02, flat('commands')),
    target('messages a hand-over, most / least waiters', '<=', 1.02, flat('messages')),
    target('pair, awaited / SET NX', '<=', 1.3, over('pairs', 0, AWAITED, SET_NX, 'pair')),
    target('pair, using / SET NX', '<=', 1, over('pairs', 0, USING, SET_NX, 'pair')),
    target('pair, 100 in a tick / SET NX', '<=', 0.2, over('pairs', 0, TICK, SET_NX, 'pair')),
    target('Mutex / strict order', '>=', 5, over('mutex', 32, DEFAULT, STRICT, 'rate')),
    target('Mutex, largest bypass', '<=', BYPASS, most('mutex', 32, DEFAULT, 'bypass')),
    target('Mutex / redis-semaphore', '>=', 1, over('mutex', 32, DEFAULT, REDIS_SEMAPHORE, 'rate')),
    target('Mutex / redlock', '>=', 1, over('mutex', 32, DEFAULT, REDLOCK, 'rate')),
    target('Mutex, fewest / most', '>=', 0.9, median('mutex', 32, DEFAULT, 'fairness')),
    target('script, µs an operation, awaited pairs', '<=', 15, script(AWAITED)),
    target('script, µs an operation, 100 in a tick', '<=', 15, script(TICK)),
    target('script, µs a take of a rate with 10 dates ahead', '<=', 30, median('rates', 10, TAKE, 'script')),
    target('script, µs an operation, 32 clients', '<=', 15, median('hand-over', 32, OURS, 'scriptMicros')),
  ];
}
