/** Each hash keeps what core/papers/hashes.ts promises of it, in the compiled function itself. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Arena } from 'taketurns';
import { ChainSemaphore, ChannelSemaphore, LocationSemaphore, TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, firstObject, layout, Memory } from '../support/memory.js';

interface Exports {
  hash(kind: number, semaphore: number, ticket: bigint, mask: number): number;
  adopt(thread: number): number;
  chainOf(key: number): number;
  placeOf(key: number): number;
}

const compiled = (name: string): WebAssembly.Module =>
  new WebAssembly.Module(readFileSync(new URL(`../../build/${name}.wasm`, import.meta.url)));
const [core, algorithms] = ['core', 'algorithms'].map(compiled) as [WebAssembly.Module, WebAssembly.Module];
const over = (memory: object): Exports => {
  const env = { memory: memory as WebAssembly.Memory };
  const { exports } = new WebAssembly.Instance(core, { env });
  return new WebAssembly.Instance(algorithms, { env, core: exports as WebAssembly.ModuleImports })
    .exports as unknown as Exports;
};

const { hash } = over(new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true }));

const NAMES = ['multiplier', 'paired', 'orbit', 'gray', 'mixed'] as const;
const SLOTS = 2048;
/** Lines of 64 bytes in a page of 4 KiB. */
const PAGE = 64;
const objects = Array.from({ length: 64 }, (_, i) => firstObject() + i * at('OBJECT_SIZE'));
const semaphores = [0, 1, 7, 63].map((i) => objects[i] as number);
const STARTS = [0n, 1n, 77n, 2n ** 32n - 5n, 2n ** 61n + 3n, -4n];

const slots = (kind: number, semaphore: number, first: bigint, count: number, of = SLOTS): number[] =>
  Array.from({ length: count }, (_, i) => hash(kind, semaphore, first + BigInt(i), of - 1));
/** Returns how far apart two slots are, on the array taken as a ring. */
const apart = (a: number, b: number): number => Math.min((a - b + SLOTS) % SLOTS, (b - a + SLOTS) % SLOTS);
const neighbours = (row: readonly number[]): [number, number][] =>
  row.slice(1).map((slot, i) => [row[i] as number, slot]);
const pages = (row: readonly number[]): number => new Set(row.map((slot) => Math.floor(slot / PAGE))).size;
const steps = (row: readonly number[]): number =>
  new Set(neighbours(row).map(([a, b]) => (b - a + SLOTS) % SLOTS)).size;

describe.each(NAMES.map((name, kind) => [name, kind] as const))('the hash %s', (name, kind) => {
  it('has the number that the layout gives it', () => {
    expect(layout[`HASH_${name.toUpperCase()}`]).toBe(kind);
    const arena = new Arena({ slots: 4, chains: 4 });
    for (const Kind of [TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore]) {
      const { handle } = new Kind(1, { arena, hash: name });
      expect(new Memory(arena).word(handle.address + at('O_HASH'))).toBe(kind);
    }
  });

  it.each([1, 2, 4, PAGE, SLOTS])('meets each of %i slots equally often, wherever a row of tickets begins', (of) => {
    const each = name === 'paired' ? 2 : 1;
    for (const semaphore of semaphores) {
      for (const start of STARTS) {
        // A pair is kept whole, or its slot would appear at both ends of the row.
        const first = name === 'paired' ? start & ~1n : start;
        const met = new Map<number, number>();
        for (const slot of slots(kind, semaphore, first, each * of, of)) met.set(slot, (met.get(slot) ?? 0) + 1);
        expect(met.size).toBe(of);
        expect(Math.max(...met.keys())).toBe(of - 1);
        expect(new Set(met.values())).toEqual(new Set([each]));
        if (name === 'paired') expect(new Set(slots(kind, semaphore, start, each * of, of)).size).toBe(of);
      }
    }
  });

  it('keeps tickets in a row off one line and its neighbours', () => {
    for (const semaphore of semaphores) {
      for (const start of STARTS) {
        const pairs = neighbours(slots(kind, semaphore, start, 300));
        const others = name === 'paired' ? pairs.filter((_, i) => (start + BigInt(i)) & 1n) : pairs;
        expect(Math.min(...others.map(([a, b]) => apart(a, b)))).toBeGreaterThanOrEqual(17);
      }
    }
  });

  it('spreads semaphores that lie next to one another', () => {
    const first = objects.map((semaphore) => hash(kind, semaphore, 0n, SLOTS - 1));
    expect(new Set(first).size).toBeGreaterThanOrEqual(60);
  });
});

it('paired gives two in a row one slot', () => {
  for (const start of STARTS) {
    const [a, b, c] = slots(1, semaphores[1] as number, start & ~1n, 3);
    expect(a).toBe(b);
    expect(b).not.toBe(c);
  }
});

describe.each([
  [2048, 4096],
  [1, 4096],
  [2048, 1],
  [64, 32],
  [2, 2],
])('of %i slots and %i chains', (slots, chains) => {
  const arena = new Arena({ slots, chains, objects: 3, threads: 5 });
  const algorithms = over(arena.handle.memory);
  algorithms.adopt(1);

  // A table that is shorter than a page begins at a multiple of its length, and so does not cross the end of a page.
  it('the addresses begin at a page', () => {
    expect(algorithms.placeOf(0) % Math.min(4096, 64 * slots)).toBe(0);
    expect(algorithms.chainOf(0) % Math.min(4096, 64 * chains)).toBe(0);
  });

  it('chains and buckets lie apart, and each chain has a line', () => {
    const all = new Set(Array.from({ length: 2 * chains }, (_, key) => algorithms.chainOf(key)));
    expect(all.size).toBe(chains);
    expect(Math.max(...all) + 64).toBeLessThanOrEqual(algorithms.placeOf(0));
  });
});

it('orbit stays in a page of memory for 64 tickets that begin it', () => {
  const { memory } = new Arena().handle;
  const algorithms = over(memory);
  algorithms.adopt(1);
  const page = (slot: number): number => Math.floor((algorithms.placeOf(0) + slot * 64) / 4096);
  for (const semaphore of semaphores) {
    const row = slots(2, semaphore, 0n, 3 * PAGE);
    const begins = row.findIndex((slot, i) => i > 0 && page(slot) !== page(row[i - 1] as number));
    const [first, ...others] = row.slice(begins, begins + PAGE).map(page);
    expect(new Set(others)).toEqual(new Set([first]));
  }
});

it('orbit stays in a page for a page of tickets, where the multiplier visits many', () => {
  for (const semaphore of semaphores) {
    for (const start of STARTS) {
      expect(pages(slots(2, semaphore, start, PAGE))).toBeLessThanOrEqual(2);
      expect(pages(slots(0, semaphore, start, PAGE))).toBeGreaterThanOrEqual(16);
    }
  }
});

it('gray has no stride, where the multiplier has one', () => {
  for (const semaphore of semaphores) {
    expect(steps(slots(0, semaphore, 0n, SLOTS))).toBe(1);
    expect(steps(slots(3, semaphore, 0n, SLOTS))).toBeGreaterThanOrEqual(11);
  }
});

it('mixed separates two semaphores whose tickets advance together, where the multiplier does not', () => {
  const [a, b] = [objects[0] as number, objects[1] as number];
  /** Two semaphores take a round of tickets together, so many apart. Returns how many of these collide at most. */
  const worst = (kind: number): number => {
    const mine = slots(kind, a, 0n, SLOTS);
    const theirs = slots(kind, b, 0n, SLOTS);
    return Math.max(...mine.map((_, lag) => mine.filter((slot, i) => slot === theirs[(i + lag) % SLOTS]).length));
  };
  expect(worst(0)).toBe(SLOTS);
  expect(worst(4)).toBeLessThanOrEqual(SLOTS / 16);
});

describe.each([TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore])('%o', (Kind) => {
  it('names the hashes in the error for a wrong one', () => {
    const arena = new Arena({ slots: 4, chains: 4 });
    expect(() => new Kind(1, { arena, hash: 'grey' as never })).toThrow(
      new RangeError(`${Kind.name}: hash must be "multiplier" or "paired" or "orbit" or "gray" or "mixed", got "grey"`),
    );
    expect(() => new Kind(1, { arena, hash: 1 as never })).toThrow(TypeError);
    expect(arena.stats().objects.used).toBe(0);
  });
});

describe('docs/internals/hashes.md', () => {
  const page = readFileSync(new URL('../../docs/internals/hashes.md', import.meta.url), 'utf8');
  const script = fileURLToPath(new URL('../../bench/programs/hash-collisions.mjs', import.meta.url));

  // The script counts, and draws its starts from a generator with a fixed seed: each run prints the same.
  it.each([[[]], [['--sizes']]])('has the table that bench/programs/hash-collisions.mjs %j prints', (args) => {
    const { stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
    expect(stdout.split('\n').length, stderr).toBeGreaterThan(5);
    expect(page).toContain(stdout);
  });
});
