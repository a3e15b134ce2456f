/** A process of rates-run.ts: tasks that call limited functions, and write what becomes of each call (rates-record.ts). */
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Asked, type Told } from '../check/rate-checks.js';
import { Space } from '../src/index.js';
import { clock } from '../src/runtime/clock.js';
import { microseconds } from './clients.js';
import { clientFor } from './connect.js';
import type { RatesOrder } from './rates-plan.js';
import { lineOf, type RateRecord } from './rates-record.js';

const order = JSON.parse(process.argv[2] as string) as RatesOrder;
const { permits, per, burst, slack, width: widest, rates, keys, lease } = order;
process.on('disconnect', () => process.exit());

const US = 1000;
const { now } = clock;
// The system may take the processor away between the two looks. Then the difference is too small.
const origin = Math.max(...Array.from({ length: 100 }, () => microseconds() - now() * US));
let lastLook = 0;
clock.now = () => {
  lastLook = now();
  return lastLook;
};

const settings = { space: 'rates', connectTimeout: 60_000 };
const space =
  order.port === undefined
    ? await Space.local({ ...settings, directory: order.directory as string })
    : await Space.connect(clientFor({ kind: 'server', port: order.port }), { ...settings, lease });
const history = openSync(order.file, 'a');
const write = (record: RateRecord): unknown => writeSync(history, lineOf(record));
const whole = (ms: number): number => Math.round(origin + ms * US);

const dated = (is: 'begun' | 'unused', rate: string, width: number, told: Told, looked = now()): void => {
  // One look at the clock for both, as the system may take the processor away between two.
  const at = now();
  const [time, look] = [whole(at), Math.round((at - looked) * US)];
  const { epoch, given, date, moment, last, moved, per: its, slack: late } = told.answer;
  const answer = { epoch, given, date, moment, last, moved, per: its, slack: late };
  const [sent, got, isMoved] = [whole(told.sent), whole(told.got), told.isMoved()];
  write({ is, time, look, rate, width, answer, sent, got, isMoved });
};
space.on('metric', ({ event, permits: width }) => {
  if (event === 'late') write({ is: 'tooLate', width });
});

const chance = (part: number): boolean => Math.random() < part;
const below = (most: number): number => Math.floor(Math.random() * most);
const limits = { burst, slack };
const named = await Promise.all(
  Array.from({ length: rates }, (_, i) => space.rateLimiter(`rate ${i}`, permits, per, limits)),
);
const keyed = space.keyedRateLimiter('keys', permits, per, limits);
let isOver = false;

async function task(): Promise<void> {
  while (!isOver) {
    const width = chance(0.8) ? 1 : 1 + below(widest);
    const which = below(rates + keys);
    const rate = named[which];
    const key = which;
    const name = rate ? `r${which}` : `k${which}`;
    const asked = new Asked((told) => dated('unused', name, width, told));
    const begin = (): void => {
      const look = lastLook;
      const { told } = asked;
      if (told) dated('begun', name, width, told, look);
      else write({ is: 'wrong', text: `a call of ${name} begins without a date` });
      asked.told = undefined;
    };
    const signal = chance(0.1) ? AbortSignal.timeout(below(per)) : undefined;
    const timeout = chance(0.1) ? Math.random() * per : Infinity;
    const wait = { timeout, signal };
    const call = (): Promise<void> => (rate ? rate.limit(begin, width, wait)() : keyed.limit(begin, width, wait)(key));
    await asked.run(call).catch((error: Error) => {
      if (error.name === 'CancelledError') write({ is: 'cancelled', width });
      // The signal gives a TimeoutError, too.
      else if (error.name === 'TimeoutError') write({ is: signal?.aborted ? 'givenUp' : 'refused', width });
      else throw error;
    });
    asked.pass();
    if (chance(order.pauses / 1000)) {
      const ms = below(per);
      if (chance(0.3)) await (rate ? rate.cancelAll() : keyed.cancelAll(key));
      else await (rate ? rate.pause(ms) : keyed.pause(key, ms));
    }
    if (chance(order.busy)) {
      const end = now() + Math.random() * 2 * slack;
      while (now() < end); // busy
    }
    if (order.rest > 0) await sleep(Math.random() * order.rest);
  }
}
const tasks = Array.from({ length: order.tasks }, () => task());
process.on('message', () => {
  isOver = true;
  Promise.all(tasks).then(() => process.exit());
});
process.send?.('ready');
