/**
 * An error of a bad argument begins with the call that got it: `Semaphore.holdAsync: permits must be ...`. The test finds
 * the calls in the declarations of the build, so it misses none.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Call, callsIn, type Exports, methodsOf, type Parameter } from '../../test/support/declarations.js';
import { failure } from '../../test/support/failure.js';
import * as index from '../src/index.js';
import { HeldLock, HeldPermits, HeldRead, HeldWrite } from '../src/objects/hold.js';
import { HeldAll } from '../src/objects/hold-all.js';
import { KeyedRateLimiter } from '../src/objects/keyed-rate-limiter.js';
import { Leader } from '../src/objects/leader.js';
import { Mutex } from '../src/objects/mutex.js';
import { RateLimiter } from '../src/objects/rate-limiter.js';
import { RwLock } from '../src/objects/rw-lock.js';
import { Semaphore } from '../src/objects/semaphore.js';

/** The entry exports only the types of these classes. */
const classes = {
  Semaphore,
  Mutex,
  RwLock,
  RateLimiter,
  KeyedRateLimiter,
  Leader,
  HeldPermits,
  HeldLock,
  HeldRead,
  HeldWrite,
  HeldAll,
};
const all = { ...index, ...classes } as unknown as Exports;

const build = new URL('../dist/types/processes/src/', import.meta.url);
const calls = readdirSync(build, { recursive: true, encoding: 'utf8' })
  .filter((name) => /^(space|objects)\/.+\.d\.ts$/.test(name))
  .flatMap((name) => callsIn(all, readFileSync(new URL(name, build), 'utf8')))
  // The classes are not made by `new`.
  .filter(({ method }) => method !== 'constructor');

let folder: string;
let space: index.Space;
const objects: Record<string, () => unknown> = {
  Space: () => space,
  Semaphore: () => space.semaphore('s', 2),
  Mutex: () => space.mutex('m'),
  RwLock: () => space.rwLock('rw'),
  RateLimiter: () => space.rateLimiter('r', 1, 1000),
  KeyedRateLimiter: () => space.keyedRateLimiter('k', 1, 1000),
  Leader: () => space.leader('l'),
  HeldPermits: async () => (await space.semaphore('held', 2000)).holdAsync(),
  HeldWrite: async () => (await space.rwLock('written')).writeAsync(),
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'names-'));
  space = await index.Space.local({ directory: folder });
});

afterAll(async () => {
  await space.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a call gets for a parameter of this name before the one that a test is about. */
const values: Record<string, () => unknown> = {
  name: () => 'names',
  permits: () => 1,
  per: () => 1000,
  key: () => 'Ann',
  milliseconds: () => 0,
  run: () => () => 1,
  objects: () => [],
  client: () => ({}),
  event: () => 'lost',
};

/** Bad arguments for a parameter; none if every value is a good one. */
function badFor({ name, type }: Parameter): unknown[] {
  if (type === 'WaitOptions') return [{ unknown: 5 }, { timeout: -1 }, { signal: 5 }, true];
  if (/Options\b|^\{/.test(type) || name === 'options') return [{ unknown: 5 }, true];
  if (type === 'Key') return ['', 1.5, true, {}];
  return type.includes('number') ? ['x', true, -1.5] : [5];
}

/** Methods of guards that are internal. Their names are no symbols. */
const INTERNAL = /^Held\w+\.(lose|state)$/;

const subject = ({ owner, method }: Call): string => (method === undefined ? owner : `${owner}.${method}`);

it.each(calls)('$name names itself in the error of a bad argument', async (call) => {
  const { owner, method, isStatic, parameters } = call;
  const wrong: unknown[] = [];
  for (const [index, parameter] of parameters.entries()) {
    for (const value of badFor(parameter)) {
      const { message } = await failure(async () => {
        const args = [...parameters.slice(0, index).map(({ name }) => values[name]?.()), value];
        const it = isStatic || method === undefined ? all[owner] : await objects[owner]?.();
        const run = method === undefined ? it : (it as Record<string, unknown>)[method];
        return (run as (...args: unknown[]) => unknown).apply(it, args);
      });
      if (!message.startsWith(`${subject(call)}: `)) wrong.push([parameter.name, value, message]);
    }
  }
  expect(wrong).toEqual([]);
});

it('misses no method', () => {
  const found = new Set(calls.map(subject));
  expect(methodsOf(all).filter((method) => !found.has(method) && !INTERNAL.test(method))).toEqual([]);
});
