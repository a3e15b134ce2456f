/** A rate has the same calls for tasks, threads and processes. The page says which are missing, and the classes agree. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as keyed from 'taketurns/keyed';
import * as tasks from 'taketurns/tasks';
import { Space } from 'taketurns-processes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failure } from '../support/failure.js';

type Limiter = Readonly<Record<string, unknown>> & { readonly constructor: Readonly<Record<string, unknown>> };

/** What the page says of each call: of which limiters it is. */
const table = (() => {
  const text = readFileSync(new URL('../../docs/rate-limiter.md', import.meta.url), 'utf8');
  const [, rows = ''] = /^\| call \|.*\n\| ---.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  const cells = rows
    .trimEnd()
    .split('\n')
    .map((row) => row.slice(2, -2).split(' | '));
  return cells.flatMap(([calls = '', ...has]) =>
    [...calls.matchAll(/`([^`]+)`/g)].map(([, call = '']) => [call, has] as const),
  );
})();

/** What limiters have besides: their numbers, and what all objects have. */
const OTHERS = /^(?:permits|per|burst|keys|size|name|arena|isDisposed|disposed?|toString|shown|constructor)$/;

let folder: string;
let space: Space;
let limiters: Limiter[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rates-'));
  space = await Space.local({ directory: folder });
  limiters = [
    new tasks.RateLimiter(1000, 60_000, { burst: 1000 }),
    new keyed.RateLimiter(1000, 60_000, { burst: 1000 }),
    await space.rateLimiter('r', 1000, 60_000, { burst: 1000 }),
    new tasks.KeyedRateLimiter(1000, 60_000, { burst: 1000 }),
    new keyed.KeyedRateLimiter(1000, 60_000, { burst: 1000 }),
    space.keyedRateLimiter('k', 1000, 60_000, { burst: 1000 }),
  ] as never;
});

afterAll(async () => {
  await space.close();
  rmSync(folder, { recursive: true });
});

it('the page has each call', () => {
  const calls = new Set<string>();
  for (const limiter of limiters)
    for (let of = Object.getPrototypeOf(limiter); of !== Object.prototype; of = Object.getPrototypeOf(of))
      for (const name of Object.getOwnPropertyNames(of)) calls.add(name);
  const listed = new Set(table.map(([call]) => call));
  expect([...calls].filter((call) => !listed.has(call) && !OTHERS.test(call))).toEqual([]);
});

it.each(table)('%s is where the page says', async (call, has) => {
  const found = limiters.map((limiter) => {
    if (call !== "until: 'end'") return call in limiter || call in limiter.constructor;
    try {
      (limiter.limit as (run: () => void, options: object) => unknown)(() => {}, { until: 'end' });
      return true;
    } catch {
      return false;
    }
  });
  expect(found.map((is) => (is ? 'yes' : 'no'))).toEqual(has);
});

it('a call on a server says why it does not count until its end, and what to do', () => {
  const [, , rate, , , keyedRate] = limiters as never as { limit(run: () => void, options: object): unknown }[];
  for (const limiter of [rate, keyedRate])
    expect(() => limiter?.limit(() => {}, { until: 'end' })).toThrow(
      /limit: until must be 'begin', got 'end': .* put a Semaphore of the space outside: slots.limit/,
    );
});

it('each limit takes the number of permits among its options', async () => {
  for (const [i, limiter] of limiters.entries()) {
    if (!('limit' in limiter)) continue;
    const call = (limiter.limit as (run: (key: string) => string, options: object) => (key: string) => unknown)(
      (key) => key,
      { permits: 500, timeout: 0 },
    );
    expect([i, await call('a')]).toEqual([i, 'a']);
    expect([i, await call('a')]).toEqual([i, 'a']);
    await expect(call('a')).rejects.toThrow('500 permits');
  }
});

it('each resize names itself in the error of a bad number', async () => {
  for (const limiter of limiters as never as { resize?(...numbers: unknown[]): unknown }[])
    for (const numbers of [[5n], [Symbol('five')], [5, null], [5, 1000, { burst: 6 }]])
      if (limiter.resize)
        expect((await failure(() => limiter.resize?.(...numbers))).message).toMatch(/^RateLimiter.resize: .* must be/);
});
