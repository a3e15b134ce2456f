/** A process of `rates-cli.ts`: tasks that call a limited function. Each begin is written at once, so no kill loses one. */
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Space } from '../src/index.js';
import { clientFor } from './connect.js';
import type { RatesOrder } from './rates-cli.js';

const { port, directory, file, permits, per, burst, slack, tasks, busy, rest } = JSON.parse(
  process.argv[2] as string,
) as RatesOrder;
process.on('disconnect', () => process.exit());

const space =
  port === undefined
    ? await Space.local({ space: 'rates', directory: directory as string, connectTimeout: 60_000 })
    : await Space.connect(clientFor({ kind: 'server', port }), { space: 'rates', connectTimeout: 60_000 });
const history = openSync(file, 'a');
// Each is written at once, so that no kill loses one: b: a call has begun. l: the process was too busy to begin at its
// date. t: refused by the time-out. s: given up by a signal. w: told a date that lies ahead.
const note = (what: 'b' | 'l' | 't' | 's' | 'w', width: number): void => {
  const [seconds, nanoseconds] = process.hrtime();
  writeSync(history, `${seconds * 1e6 + Math.round(nanoseconds / 1e3)} ${width} ${what}\n`);
};
space.on('metric', ({ event, permits }) => {
  if (event === 'late') note('l', permits);
  if (event === 'wait') note('w', permits);
});
const chance = (part: number): boolean => Math.random() < part;

async function task(): Promise<void> {
  const rate = await space.rateLimiter('api', permits, per, { burst, slack });
  for (;;) {
    const width = chance(0.8) ? 1 : 1 + Math.floor(Math.random() * 3);
    const begin = (): void => note('b', width);
    const signal = chance(0.1) ? AbortSignal.timeout(Math.floor(Math.random() * per)) : undefined;
    const timeout = chance(0.1) ? Math.random() * per : Infinity;
    await rate
      .limit(begin, width, { timeout, signal })()
      .catch((error: Error) => {
        // The signal gives a TimeoutError, too.
        if (error.name !== 'TimeoutError') throw error;
        note(signal?.aborted ? 's' : 't', width);
      });
    if (chance(busy)) {
      const end = performance.now() + Math.random() * 2 * slack;
      while (performance.now() < end); // busy
    }
    if (rest > 0) await sleep(Math.random() * rest);
  }
}
process.send?.('ready');
for (let i = 0; i < tasks; i++) void task();
