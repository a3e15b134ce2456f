/** Helpers for threads that die in a test: they let threads wait, hold and end, and check that nothing is left over. */
import { type Arena, Semaphore, type SemaphoreOptions, type ThreadHandle } from 'taketurns';
import { expect } from 'vitest';
import { at, Memory } from './memory.js';
import { Member } from './team.js';
import { tuned } from './tuned.mjs';
import { until } from './until.js';

export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

/**
 * A worker that is watched. After `kill` nothing of the worker is left in the arena, whichever thread noticed its end.
 */
class Recruit extends Member {
  readonly #memory: Memory;

  constructor(arena: Arena, core: boolean) {
    super(undefined, { core });
    this.#memory = new Memory(arena);
    arena.watch(this.worker);
  }

  override async kill(): Promise<void> {
    await super.kill();
    await until(() => !this.#memory.burying, 'it is buried');
  }
}

export function recruit(arena: Arena, core = true): Member {
  return new Recruit(arena, core);
}

export type Way = 'terminate' | 'process.exit' | 'an uncaught error' | 'leaving';

/** Ends a worker that is doing no job. */
export async function end(member: Member, way: Way): Promise<void> {
  if (way === 'terminate') await member.kill();
  else if (way === 'leaving') await member.leave();
  else {
    member.run('end', { way });
    await member.exited;
  }
}

/** Makes a semaphore and takes all its permits. */
export function taken(permits: number, options: SemaphoreOptions): Semaphore {
  const semaphore = tuned(new Semaphore(permits, { max: 2 ** 31 - 1, ...options }), { spin: 0 });
  semaphore.acquire(permits);
  return semaphore;
}

/** Has a worker block in acquire. Resolves when the worker stands in line. `entered` resolves when it is admitted. */
export async function park(semaphore: Semaphore, member: Member, ...args: unknown[]) {
  const before = semaphore.waiting;
  const entered = member.run('enter', { handle: semaphore.handle, permits: args });
  await until(() => semaphore.waiting === before + 1, 'it stands in line');
  return { entered };
}

/** Has a worker do only the first steps of a blocking request (jobs/stop-after.mjs). */
export async function stop(semaphore: Semaphore, member: Member, step: 'acquire' | 'enqueue', permits: number) {
  const told = new Int32Array(new SharedArrayBuffer(8));
  member.run('stop-after', { handle: semaphore.handle, permits, step, told });
  await until(() => Atomics.load(told, 0) === 1, 'it has come so far');
}

/** Has a worker queue a promise for each number of permits. */
export const promise = (semaphore: Semaphore, member: Member, ...permits: number[]) =>
  member.run('promise', { handle: semaphore.handle, permits });

export const hold = (semaphore: Semaphore, member: Member, permits = 1) =>
  member.run('enter', { handle: semaphore.handle, permits: [permits] });

export const threadOf = (semaphore: Semaphore, member: Member) =>
  member.run<ThreadHandle>('thread', { handle: semaphore.handle });

/** Lets workers die, each while it holds a permit. */
export async function dieHolding(arena: Arena, semaphore: Semaphore, deaths = 1): Promise<void> {
  const dying = upTo(deaths).map(() => recruit(arena));
  await Promise.all(dying.map((one) => hold(semaphore, one)));
  await Promise.all(dying.map((one) => one.kill()));
}

/** Checks that only live threads are registered, and that no element has a dead owner. */
export function expectBuried(arena: Arena, alive = 1): void {
  const threads = arena.stats().threads.map(({ thread }) => thread);
  expect(threads).toHaveLength(alive);
  const inUse = new Memory(arena).elements.filter(({ state }) => state !== at('IDLE'));
  expect(inUse.filter(({ owner }) => !threads.includes(owner))).toEqual([]);
}

export const ways: readonly Way[] = ['terminate', 'process.exit', 'an uncaught error', 'leaving'];
