/**
 * Threads that die: what they waited for, held and were attached to goes back, once. What a thread was in the middle
 * of is done here by hand, half a call or a few words of shared memory; every moment of it is in check/, and threads
 * killed at random in test/stress/dying.test.ts and chaos.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  Arena,
  DisposedError,
  Semaphore,
  type SemaphoreOptions,
  type ThreadHandle,
  TimeoutError,
} from 'taketurns';
import { TicketSemaphore, TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { watch } from '../support/settled.js';
import { Member, team } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(2);
const [member, other] = [() => crowd[0] as Member, () => crowd[1] as Member];
const [TICKET, GRANT] = [at('TICKET'), at('GRANT')];
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** A worker that is watched. */
function recruit(arena: Arena): Member {
  const recruit = new Member();
  arena.watch(recruit.worker);
  return recruit;
}

type Way = 'terminate' | 'process.exit' | 'an uncaught error' | 'leaving';

/** Ends a worker that is at no job. */
async function end(member: Member, way: Way): Promise<void> {
  if (way === 'terminate') await member.kill();
  else if (way === 'leaving') await member.leave();
  else {
    member.run('end', { way });
    await member.exited;
  }
}

/** A semaphore whose permits this thread has. */
function taken(permits: number, options: SemaphoreOptions): Semaphore {
  const semaphore = new Semaphore(permits, { spin: 0, ...options });
  semaphore.acquire(permits);
  return semaphore;
}

/** Has a worker block in acquire. Fulfilled when it stands in line; `entered` when it is in. */
async function park(semaphore: Semaphore, member: Member, ...args: unknown[]) {
  const before = semaphore.waiting;
  const entered = member.run('enter', { handle: semaphore.handle, permits: args });
  await until(() => semaphore.waiting === before + 1, 'it stands in line');
  return { entered };
}

/** Has a worker begin a blocking request, and do nothing more; see jobs/stop-after.mjs. */
async function stop(semaphore: Semaphore, member: Member, step: 'acquire' | 'enqueue', permits: number) {
  const told = new Int32Array(new SharedArrayBuffer(8));
  member.run('stop-after', { handle: semaphore.handle, permits, step, told });
  await until(() => Atomics.load(told, 0) === 1, 'it has come so far');
}

/** Has a worker queue promises. */
const promise = (semaphore: Semaphore, member: Member, ...permits: number[]) =>
  member.run('promise', { handle: semaphore.handle, permits });

const hold = (semaphore: Semaphore, member: Member, permits = 1) =>
  member.run('enter', { handle: semaphore.handle, permits: [permits] });

const threadOf = (semaphore: Semaphore, member: Member) =>
  member.run<ThreadHandle>('thread', { handle: semaphore.handle });

/** So many workers die with a permit each. */
async function dieHolding(arena: Arena, semaphore: Semaphore, deaths = 1): Promise<void> {
  const dying = upTo(deaths).map(() => recruit(arena));
  await Promise.all(dying.map((one) => hold(semaphore, one)));
  await Promise.all(dying.map((one) => one.kill()));
}

/** No more threads are there than are alive, and no element is in the name of another. */
function expectBuried(arena: Arena, alive = 1): void {
  const threads = arena.stats().threads.map(({ thread }) => thread);
  expect(threads).toHaveLength(alive);
  const inUse = new Memory(arena).elements.filter(({ state }) => state !== at('IDLE'));
  expect(inUse.filter(({ owner }) => !threads.includes(owner))).toEqual([]);
}

/** What a call throws, or its promise rejects with. */
async function failure(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

const ways: readonly Way[] = ['terminate', 'process.exit', 'an uncaught error', 'leaving'];

describe.each(ways)('a worker that ends by %s', (way) => {
  it('gives back what it held of a robust semaphore, once, and the next one learns of it', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(5, { arena, robust: true });
    const dying = recruit(arena);
    await hold(semaphore, dying, 2);
    await hold(semaphore, dying, 1);
    expect(semaphore.available).toBe(2);
    const guard = semaphore.holdAsync(4);
    await turn();
    await end(dying, way);
    expect((await guard).ownerDied).toBe(true);
    expect(semaphore.available).toBe(1);
    expect(semaphore.inspect()).toMatchObject({ ownerDeaths: 1, holders: [{ permits: 4 }] });
    (await guard).release();
    expect(semaphore.available).toBe(5);
    const next = semaphore.hold();
    expect(next.ownerDied).toBe(false);
    next.release();
    expectBuried(arena);
  });

  it('keeps what it held of another semaphore: somebody else may release it', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena });
    const dying = recruit(arena);
    await hold(semaphore, dying, 2);
    await end(dying, way);
    expect(semaphore.available).toBe(1);
    semaphore.release(2);
    expect(semaphore.available).toBe(3);
    expectBuried(arena);
  });

  it('lets go of what it was attached to, of any kind', async () => {
    const arena = new Arena({ objects: 4, names: 1 });
    const objects = [
      new Semaphore(1, { arena }),
      new Semaphore(1, { arena, robust: true }),
      new TicketSemaphore(1, { arena }),
      new TwaSemaphore(1, { arena }),
    ];
    const dying = recruit(arena);
    for (const { handle } of objects) await dying.run('call', { handle, method: 'acquire' });
    for (const object of objects) object.dispose();
    expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
    await end(dying, way);
    for (const i of upTo(4)) expect(new Semaphore(i, { arena }).available).toBe(i);
  });

  it('makes room for another thread, and its handle stands for nobody', async () => {
    const arena = new Arena({ threads: 2 });
    const semaphore = new Semaphore(9, { arena });
    const handles: ThreadHandle[] = [];
    for (const _ of upTo(3)) {
      const dying = recruit(arena);
      handles.push(await threadOf(semaphore, dying));
      expect(arena.threads).toBe(2);
      expect(handles.slice(0, -1).map((handle) => arena.reap(handle))).not.toContain(true);
      expect(arena.threads).toBe(2);
      await end(dying, way);
      expect(arena.threads).toBe(1);
    }
    expect(new Set(handles.map(({ thread }) => thread)).size).toBe(1);
    expect(new Set(handles.map(({ life }) => life)).size).toBe(3);
  });
});

// With promises in the queue a worker does not end by itself.
describe.each(['terminate', 'process.exit', 'an uncaught error'] as const)(
  'a worker with promises in the queue that ends by %s',
  (way) => {
    it.each([
      [false, 1],
      [false, 1024],
      [true, 1024],
    ])('leaves it, and those behind move up (robust: %s, slots %i)', async (robust, slots) => {
      const arena = new Arena({ slots });
      const memory = new Memory(arena);
      const semaphore = taken(5, { arena, robust });
      await threadOf(semaphore, member());
      const log: number[] = [];
      const dying = recruit(arena);
      watch(semaphore.acquireAsync(), 0, log);
      await promise(semaphore, dying, 1, 1, 3);
      const { entered } = await park(semaphore, member(), 2);
      watch(semaphore.acquireAsync(), 1, log);
      await promise(semaphore, dying, 2, 1);
      watch(semaphore.acquireAsync(), 2, log);
      expect(semaphore.waiting).toBe(9);
      await end(dying, way);
      expect(semaphore.waiting).toBe(4);
      semaphore.release();
      await until(() => log.length === 1, 'the first is in');
      semaphore.release();
      expect(semaphore.waiting).toBe(3);
      semaphore.release();
      await entered;
      expect(log).toEqual([0]);
      semaphore.release(2);
      await until(() => log.length === 3, 'all are in');
      expect(log).toEqual([0, 1, 2]);
      expect(semaphore.available).toBe(0);
      expect(semaphore.inspect()).toMatchObject({ out: 5, ownerDeaths: 0, abandoned: 0 });
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
      expectBuried(arena, 2);
    });
  },
);

describe.each([1, 2, 1024])('a worker that is terminated in the queue (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const memory = new Memory(arena);

  it.each([
    ['at its head', 0, 2],
    ['in its middle', 1, 1],
    ['at its end', 2, 0],
  ])('%s leaves it, and those behind move up', async (_, ahead, behind) => {
    const semaphore = taken(4, { arena });
    const log: number[] = [];
    for (const i of upTo(ahead)) watch(semaphore.acquireAsync(), i, log);
    const dying = recruit(arena);
    await park(semaphore, dying, 3);
    for (const i of upTo(behind)) watch(semaphore.acquireAsync(), ahead + i, log);
    await turn();
    await dying.kill();
    expect(semaphore.waiting).toBe(2);
    semaphore.release();
    await until(() => log.length === 1, 'the first is in');
    semaphore.release(3);
    await reactions();
    expect(log).toEqual([0, 1]);
    expect(semaphore.available).toBe(2);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    expectBuried(arena);
    semaphore.dispose();
  });

  it.each([
    ['asleep', 0],
    ['asleep', 2],
    ['enqueue', 0],
    ['enqueue', 2],
    ['acquire', 0],
    ['acquire', 2],
  ] as const)(
    'at its head (%s), wanting 3, of which %i are there, frees the light ones behind it',
    async (step, granted) => {
      const semaphore = taken(4, { arena });
      const log: number[] = [];
      const dying = recruit(arena);
      if (step === 'asleep') await park(semaphore, dying, 3);
      else await stop(semaphore, dying, step, 3);
      for (const i of upTo(3)) watch(semaphore.acquireAsync(), i, log);
      await turn();
      if (granted) semaphore.release(granted);
      await reactions();
      expect(log).toEqual([]);
      await dying.kill();
      await until(() => log.length === granted, 'so many are in');
      expect(semaphore.waiting).toBe(3 - granted);
      semaphore.release(4 - granted);
      await reactions();
      expect(log).toEqual([0, 1, 2]);
      expect(semaphore.available).toBe(1);
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
      expectBuried(arena);
      semaphore.dispose();
    },
  );

  it.each([
    ['and another waits', 'acquire', 1],
    ['and another waits', 'enqueue', 1],
    ['and nobody waits', 'acquire', 0],
    ['and nobody waits', 'enqueue', 0],
  ] as const)(
    'when it has been granted and has not seen it, %s: the permits go on (%s)',
    async (_, step, behind) => {
      const semaphore = taken(2, { arena });
      const dying = recruit(arena);
      await stop(semaphore, dying, step, 2);
      const log: number[] = [];
      for (const i of upTo(behind)) watch(semaphore.acquireAsync(2), i, log);
      await turn();
      semaphore.release(2);
      expect(semaphore.available).toBe(0);
      await dying.kill();
      await until(() => log.length === behind, 'whoever waits is in');
      expect(semaphore.available).toBe(2 - 2 * behind);
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
      expectBuried(arena);
      semaphore.dispose();
    },
  );

  it('at the very moment of being granted: a permit is there again, or in its grave', async () => {
    for (const robust of [true, false]) {
      for (const i of upTo(6)) {
        const semaphore = taken(1, { arena, robust });
        const dying = recruit(arena);
        await park(semaphore, dying);
        semaphore.release();
        if (i % 2) await turn();
        await dying.kill();
        // Of what is not robust it may have seen the grant.
        if (robust) expect(semaphore.available).toBe(1);
        else expect(semaphore.inspect()).toMatchObject({ waiting: 0, abandoned: 0 });
        semaphore.dispose();
      }
    }
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it.each(['asleep', 'enqueue', 'acquire', 'promise'] as const)(
    'at its end (%s) leaves no trace',
    async (step) => {
      const semaphore = taken(1, { arena });
      const front = watch(semaphore.acquireAsync(), 0);
      await turn();
      const ticket = memory.long(semaphore.handle.address + TICKET);
      const dying = recruit(arena);
      if (step === 'asleep') await park(semaphore, dying, 3);
      else if (step === 'promise') await promise(semaphore, dying, 3, 3);
      else await stop(semaphore, dying, step, 3);
      expect(memory.long(semaphore.handle.address + TICKET)).toBeGreaterThan(ticket);
      await dying.kill();
      expect(memory.long(semaphore.handle.address + TICKET)).toBe(ticket);
      expect(memory.standing).toEqual([at('WAITING')]);
      semaphore.release();
      await reactions();
      expect(front.state).toBe('fulfilled');
      semaphore.dispose();
    },
  );

  it('with a time-out is like one without', async () => {
    const semaphore = taken(1, { arena });
    const dying = recruit(arena);
    await park(semaphore, dying, 3, { timeout: 600_000 });
    const behind = watch(semaphore.acquireAsync(), 0);
    await turn();
    await dying.kill();
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await reactions();
    expect(behind.state).toBe('fulfilled');
    expectBuried(arena);
    semaphore.dispose();
  });

  it.each([false, true])(
    'with promises that were granted and not told: their permits go on (robust: %s)',
    async (robust) => {
      const semaphore = taken(4, { arena, robust });
      const dying = recruit(arena);
      const told = new Int32Array(new SharedArrayBuffer(8));
      dying.run('stare', { handle: semaphore.handle, permits: [1, 2, 1], told });
      await until(() => Atomics.load(told, 0) === 1, 'it stares');
      semaphore.release(3);
      expect(semaphore.waiting).toBe(1);
      expect(semaphore.available).toBe(0);
      await dying.kill();
      expect(semaphore.available).toBe(3);
      // It never had them, so it did not die with them.
      const guard = semaphore.hold(3);
      expect(guard.ownerDied).toBe(false);
      guard.release();
      expectBuried(arena);
      semaphore.dispose();
    },
  );

  it.each([
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
  ])('leaves one tombstone at most, with others that gave up (%i, %i, %i)', async (...order) => {
    const semaphore = taken(2, { arena });
    const log: number[] = [];
    watch(semaphore.acquireAsync(), 0, log);
    const dying = upTo(3).map(() => recruit(arena)) as [Member, Member, Member];
    const controller = new AbortController();
    await park(semaphore, dying[0], 1);
    await promise(semaphore, dying[1], 2, 1);
    await park(semaphore, dying[2], 3);
    const aborted = failure(() => semaphore.acquireAsync(2, { signal: controller.signal }));
    await promise(semaphore, dying[1], 2);
    watch(semaphore.acquireAsync(), 1, log);
    await turn();
    controller.abort();
    await aborted;
    for (const i of order) await dying[i]?.kill();
    expect(memory.elementsIn(at('ABANDONED'))).toHaveLength(1);
    expect(semaphore.waiting).toBe(2);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0, 1]);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    expectBuried(arena);
    semaphore.dispose();
  });
});

describe.each([1, 1024])('a worker that dies in the middle of something (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const memory = new Memory(arena);

  it('of a release: whose turn has come is told, and nobody else', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const { handle } = semaphore;
    const dying = recruit(arena);
    const { entered } = await park(semaphore, member(), 2);
    const log = new Int32Array(new SharedArrayBuffer(16));
    await other().run('promise', { handle, permits: [1, 1], log });
    const here = [watch(semaphore.acquireAsync(), 0), watch(semaphore.acquireAsync(2), 1)] as const;
    await turn();
    expect(await dying.run('half-release', { handle, permits: 5 })).toBe(at('MORE'));
    await threadOf(semaphore, other());
    expect([member().busy, Atomics.load(log, 0), here[0].state]).toEqual([true, 0, 'pending']);
    await dying.kill();
    await entered;
    await until(() => Atomics.load(log, 0) === 2 && here[0].state === 'fulfilled', 'all others are in');
    expect(here[1].state).toBe('pending');
    expect(semaphore.waiting).toBe(1);
    semaphore.release(2);
    await reactions();
    expect(here[1].state).toBe('fulfilled');
    expect(memory.standing).toEqual([]);
    semaphore.dispose();
  });

  it('of a release that passes a tombstone: its permits go on', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const { handle } = semaphore;
    const dying = recruit(arena);
    await threadOf(semaphore, dying);
    const front = watch(semaphore.acquireAsync(), 0);
    await failure(() => semaphore.acquireAsync(3, { timeout: 1 }));
    const gone = new AbortController();
    const heavy = failure(() => semaphore.acquireAsync(3, { signal: gone.signal }));
    const back = watch(semaphore.acquireAsync(), 1);
    await turn();
    gone.abort();
    await heavy;
    expect(memory.elementsIn(at('ABANDONED'))).toHaveLength(1);
    await dying.run('half-release', { handle, permits: 2 });
    expect([front.state, back.state]).toEqual(['pending', 'pending']);
    await dying.kill();
    await until(() => back.state === 'fulfilled', 'the last is in');
    expect(front.state).toBe('fulfilled');
    expect(semaphore.available).toBe(0);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    semaphore.dispose();
  });

  it('before it has woken whom it has granted: that one is woken', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const { address } = semaphore.handle;
    const dying = recruit(arena);
    await threadOf(semaphore, dying);
    const { thread } = await threadOf(semaphore, member());
    const { entered } = await park(semaphore, member());
    const [element] = memory.elementsIn(at('WAITING')) as [number];
    await until(() => (memory.word(memory.record(thread)) & at('LIFE_STATE')) === at('ASLEEP'), 'it sleeps');
    memory.write(address + at('GRANT'), 1n);
    memory.write(element, memory.long(element) + BigInt(at('GRANTED') - at('WAITING')));
    expect(member().busy).toBe(true);
    await dying.kill();
    await entered;
    semaphore.dispose();
  });

  it.each([
    ['before it has closed the semaphore', false],
    ['before it has told anybody', true],
  ])('of a dispose, %s: it is finished', async (_, isClosed) => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const life = semaphore.handle.address + at('O_LIFE');
    const dying = recruit(arena);
    await threadOf(semaphore, dying);
    const { entered } = await park(semaphore, member());
    const here = watch(semaphore.acquireAsync(), 0);
    await turn();
    // Live, with three references; disposed of, with as many.
    expect(memory.long(life) & 0xffffffffn).toBe(0x2000003n);
    memory.write(life, memory.long(life) + 0x1000000n);
    const closed = memory.long(semaphore.handle.address + TICKET) + BigInt(at('CLOSED_DISTANCE'));
    if (isClosed) memory.write(semaphore.handle.address + GRANT, closed);
    await dying.kill();
    expect((await failure(() => entered)).name).toBe('DisposedError');
    await until(() => here.state === 'rejected', 'the promise is told');
    expect(here.error).toBeInstanceOf(DisposedError);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('of taking the last place that it could: its spare elements come back', async () => {
    const small = new Arena({ objects: 1, threads: 2, waiters: 8, slots });
    const semaphore = taken(1, { arena: small });
    // What another one can have at most is what the last one could.
    for (const round of upTo(3)) {
      const dying = recruit(small);
      await promise(semaphore, dying, ...upTo(20).map((i) => 1 + (i % 2)));
      // One tombstone may be left, for the next release to pass.
      expect(semaphore.waiting).toBe(round === 0 ? 10 : 9);
      await expect(semaphore.acquireAsync()).rejects.toThrow(/no room for another waiter/);
      await dying.kill();
      expect(semaphore.waiting).toBe(0);
    }
  });

  it('of naming something: the entry is there again', async () => {
    const arena = new Arena({ objects: 1, names: 2, threads: 3, slots });
    const semaphore = new Semaphore(1, { arena });
    for (const _ of upTo(3)) {
      const dying = recruit(arena);
      expect(await dying.run('draft-names', { handle: semaphore.handle })).toBe(5);
      expect(() => Semaphore.open('x', undefined, { arena })).toThrow(/no room for another name/);
      await dying.kill();
      expect(() => Semaphore.open('x', undefined, { arena })).toThrow(/nothing of that name/);
    }
  });

  it('of making an object: its memory is there again', async () => {
    const arena = new Arena({ objects: 2, slots });
    const memory = new Memory(arena);
    const semaphore = new Semaphore(1, { arena });
    const next = new Semaphore(1, { arena });
    const life = next.handle.address + at('O_LIFE');
    next.dispose();
    const dying = recruit(arena);
    const { thread } = await threadOf(semaphore, dying);
    // Generation 1, free; being built by the worker, as core/memory/objects.ts has it.
    expect(memory.long(life)).toBe(1n << 32n);
    memory.write(life, (1n << 32n) | 0x1000000n | BigInt(thread));
    expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
    await dying.kill();
    expect(new Semaphore(7, { arena }).available).toBe(7);
  });

  it('of reaping: the next one goes on in its place', async () => {
    const arena = new Arena({ slots });
    const memory = new Memory(arena);
    const semaphore = new Semaphore(2, { arena, robust: true });
    // Both unwatched: one is declared dead, and the other dies before it has buried it.
    const [first, reaper, third] = [new Member(), new Member(), recruit(arena)];
    await hold(semaphore, first);
    const [dead, dying] = [await threadOf(semaphore, first), await threadOf(semaphore, reaper)];
    await hold(semaphore, third);
    await Promise.all([first.kill(), reaper.kill()]);
    expect(semaphore.available).toBe(0);
    const declare = ({ thread, life }: ThreadHandle) =>
      memory.write(
        memory.record(thread),
        (memory.long(memory.record(thread)) & ~0xffffffffn) | BigInt(life - at('ALIVE') + at('DEAD')),
      );
    declare(dead);
    memory.write(at('REAPER'), (BigInt(dying.thread) << 32n) | BigInt(dying.life));
    // Who is said to reap is alive as far as anybody knows: it is left to do it.
    await third.kill();
    expect(semaphore.available).toBe(0);
    expect(arena.reap(dying)).toBe(true);
    expect(semaphore.available).toBe(2);
    expect(memory.long(at('REAPER'))).toBe(0n);
    expect(semaphore.inspect().ownerDeaths).toBe(2);
    expectBuried(arena);
    semaphore.dispose();
  });
});

describe('who is told that an owner died', () => {
  it.each([
    ['hold', (semaphore: Semaphore) => semaphore.hold()],
    ['hold with a time-out', (semaphore: Semaphore) => semaphore.hold(1, { timeout: 1000 })],
    ['hold with a time-out of 0', (semaphore: Semaphore) => semaphore.hold(1, { timeout: 0 })],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync()],
    ['holdAsync with a time-out', (semaphore: Semaphore) => semaphore.holdAsync(1, { timeout: 1000 })],
    ['holdAsync with a time-out of 0', (semaphore: Semaphore) => semaphore.holdAsync(1, { timeout: 0 })],
  ])('the next one by %s, and not the one after', async (_, take) => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    for (const _ of upTo(2)) {
      await dieHolding(arena, semaphore);
      for (const expected of [true, false, false]) {
        const guard = await take(semaphore);
        expect(guard.ownerDied).toBe(expected);
        guard.release();
      }
    }
  });

  it.each(['hold', 'holdAsync'])('in a worker, which waited for it by %s', async (how) => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    const { handle } = semaphore;
    const [dying, heir] = [recruit(arena), new Member()];
    await hold(semaphore, dying);
    const told = heir.run('hold-and-tell', { handle, how });
    await until(() => semaphore.waiting === 1, 'it waits');
    const after = semaphore.holdAsync();
    await turn();
    await dying.kill();
    expect(await told).toBe(true);
    expect(semaphore.waiting).toBe(1);
    await heir.leave();
    // That one has ended with the permit in its turn.
    expect((await after).ownerDied).toBe(true);
  });

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire()],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire(1, { timeout: 1000 })],
    ['acquire with a time-out of 0', (semaphore: Semaphore) => semaphore.acquire(1, { timeout: 0 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire()],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync()],
    [
      'acquireAsync with a time-out of 0',
      (semaphore: Semaphore) => semaphore.acquireAsync(1, { timeout: 0 }),
    ],
    [
      'acquireAsync with a signal',
      (semaphore: Semaphore) => semaphore.acquireAsync(1, { signal: new AbortController().signal }),
    ],
    ['hold', (semaphore: Semaphore) => semaphore.hold()],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync()],
  ] as [string, (semaphore: Semaphore) => unknown][])(
    'onOwnerDied is called with the number of deaths: %s',
    async (_, take) => {
      const arena = new Arena();
      const semaphore = new Semaphore(2, { arena, robust: true });
      const calls: [number, number][] = [];
      semaphore.onOwnerDied = (deaths) => calls.push([deaths, semaphore.available]);
      await dieHolding(arena, semaphore, 2);
      expect(calls).toEqual([]);
      await take(semaphore);
      expect(calls).toEqual([[2, 1]]);
      semaphore.release();
      await take(semaphore);
      expect(calls).toHaveLength(1);
    },
  );

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire(2)],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 1000 })],
    ['acquire with a time-out of 0', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 0 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire(2)],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync(2)],
    ['hold', (semaphore: Semaphore) => semaphore.hold(2)],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync(2)],
  ] as [string, (semaphore: Semaphore) => unknown][])(
    'what onOwnerDied throws, %s throws, and the permits go back',
    async (_, take) => {
      const arena = new Arena();
      const semaphore = new Semaphore(3, { arena, robust: true });
      const reason = new Error('half-written');
      semaphore.onOwnerDied = () => {
        throw reason;
      };
      await dieHolding(arena, semaphore);
      expect(await failure(() => take(semaphore))).toBe(reason);
      expect(semaphore.available).toBe(3);
      expect(semaphore.inspect().holders).toEqual([]);
      // Nobody has repaired anything, so the next one is told again.
      expect(await failure(() => take(semaphore))).toBe(reason);
      semaphore.onOwnerDied = undefined;
      await take(semaphore);
      expect(semaphore.available).toBe(1);
    },
  );

  it('and when onOwnerDied throws, whoever waits behind gets the permits', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    semaphore.onOwnerDied = () => {
      throw new Error('half-written');
    };
    const dying = recruit(arena);
    await hold(semaphore, dying);
    const first = watch(semaphore.acquireAsync(), 0);
    const { entered } = await park(semaphore, member());
    await dying.kill();
    await entered;
    expect(first.error).toMatchObject({ message: 'half-written' });
    expect(semaphore.inspect().holders).toHaveLength(1);
  });

  it('nobody, of a semaphore that is not robust', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(2, { arena });
    semaphore.onOwnerDied = () => {
      throw new Error('never');
    };
    await dieHolding(arena, semaphore);
    expect(semaphore.hold().ownerDied).toBe(false);
    expect(semaphore.available).toBe(0);
    expect(semaphore.inspect()).toMatchObject({ robust: false, ownerDeaths: 0, holders: [] });
  });
});

/** A handle of the calling thread, but for these properties. */
const within = (arena: Arena, changed: unknown): unknown =>
  typeof changed === 'object' && changed !== null && !Array.isArray(changed)
    ? { ...arena.thread, ...changed }
    : changed;

describe('Arena.watch', () => {
  it.each([
    ['undefined', undefined, 'got undefined'],
    ['null', null, 'got null'],
    ['a number', 5, 'got 5'],
    ['a string', 'worker', 'got "worker"'],
    ['an empty object', {}, 'got an object (Object)'],
    ['something that cannot be ended', { terminate: true }, 'got an object (Object)'],
    ['something that cannot be listened to', { threadId: 1, once: true }, 'got an object (Object)'],
  ])('refuses %s', (_, worker, got) => {
    const arena = new Arena();
    expect(() => arena.watch(worker as never)).toThrow(
      new TypeError(`Arena.watch: worker must be a worker, ${got}`),
    );
  });

  it('refuses a worker that has ended', async () => {
    const arena = new Arena();
    const late = new Member();
    await late.leave();
    expect(() => arena.watch(late.worker)).toThrow(new Error('Arena.watch: the worker has ended already'));
  });

  it('may be called before the worker attaches or after, and twice', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(4, { arena, robust: true });
    const [early, late] = [recruit(arena), new Member()];
    await hold(semaphore, early);
    await hold(semaphore, late);
    arena.watch(early.worker);
    arena.watch(late.worker);
    await Promise.all([early.kill(), late.kill()]);
    expect(semaphore.available).toBe(4);
    expect(semaphore.inspect().ownerDeaths).toBe(2);
    expectBuried(arena);
  });

  it('does nothing for a worker that never attaches, or to another arena', async () => {
    const [arena, elsewhere] = [new Arena(), new Arena()];
    const semaphore = new Semaphore(1, { arena: elsewhere, robust: true });
    const [never, stranger] = [recruit(arena), recruit(arena)];
    await hold(semaphore, stranger);
    await Promise.all([never.kill(), stranger.kill()]);
    expect(arena.threads).toBe(1);
    expect([elsewhere.threads, semaphore.available]).toEqual([2, 0]);
    // Who watches is not bound to one arena.
    const twice = new Member();
    for (const each of [arena, elsewhere]) {
      each.watch(twice.worker);
      await hold(new Semaphore(1, { arena: each, robust: true }), twice);
    }
    expect([arena.threads, elsewhere.threads]).toEqual([2, 3]);
    await twice.kill();
    expect([arena.threads, elsewhere.threads]).toEqual([1, 2]);
  });

  it('reaps for a worker that has started one of its own', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(3, { arena, robust: true });
    await threadOf(semaphore, member());
    await member().run('watch-nested', { handle: semaphore.handle, permits: [2] });
    await until(() => semaphore.available === 3, 'it is reaped');
    expect(arena.threads).toBe(2);
  });

  it('is needed: a worker that is terminated unwatched stays where it was', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(1, { arena, robust: true });
    const unwatched = new Member();
    await hold(semaphore, unwatched);
    const handle = await threadOf(semaphore, unwatched);
    await unwatched.kill();
    expect([arena.threads, semaphore.available]).toEqual([2, 0]);
    expect(arena.reap(handle)).toBe(true);
    expect([arena.threads, semaphore.available]).toEqual([1, 1]);
  });
});

describe('Arena.watch of a worker of the web', () => {
  /** One that has no name and no event for its end, in front of a real one. */
  function webWorker(member: Member) {
    return {
      ended: 0,
      terminate() {
        this.ended++;
        return member.kill();
      },
    };
  }

  it('reaps it when it is terminated, and terminate does what it did', async () => {
    const arena = new Arena();
    const semaphore = taken(1, { arena });
    const dying = new Member();
    const worker = webWorker(dying);
    const thread = await threadOf(semaphore, dying);
    arena.watch(worker, thread);
    await park(semaphore, dying);
    const behind = watch(semaphore.acquireAsync(), 0);
    await turn();
    const ended = worker.terminate();
    expect(ended).toBeInstanceOf(Promise);
    expect(semaphore.waiting).toBe(1);
    await ended;
    expect(worker.ended).toBe(1);
    await worker.terminate();
    expect(worker.ended).toBe(2);
    semaphore.release();
    await reactions();
    expect(behind.state).toBe('fulfilled');
    expectBuried(arena);
  });

  it.each([
    ['no thread', undefined, TypeError, ' must be the handle of a thread (arena.thread), got undefined'],
    ['null', null, TypeError, ' must be the handle of a thread (arena.thread), got null'],
    ['a number', 2, TypeError, ' must be the handle of a thread (arena.thread), got 2'],
    [
      'another handle',
      { kind: 'Arena' },
      TypeError,
      ' must be the handle of a thread (arena.thread), got an object (Object)',
    ],
    ['a bad thread', { thread: 0 }, RangeError, '.thread must be an integer from 1 to 1, got 0'],
    ['a bad life', { life: '1' }, TypeError, '.life must be an integer from 1 to 2147483647, got "1"'],
  ])('refuses %s', async (_, thread, Kind, message) => {
    const arena = new Arena();
    const worker = webWorker(member());
    const { terminate } = worker;
    const error = await failure(() => arena.watch(worker, within(arena, thread) as never));
    expect(error.constructor).toBe(Kind);
    expect(error.message).toBe(`Arena.watch: thread (which a worker of the web needs)${message}`);
    expect(worker.terminate).toBe(terminate);
  });
});

describe('Arena.reap', () => {
  it.each([
    [undefined, TypeError, ' must be the handle of a thread (arena.thread), got undefined'],
    [null, TypeError, ' must be the handle of a thread (arena.thread), got null'],
    [3, TypeError, ' must be the handle of a thread (arena.thread), got 3'],
    ['Thread', TypeError, ' must be the handle of a thread (arena.thread), got "Thread"'],
    [
      { kind: undefined },
      TypeError,
      ' must be the handle of a thread (arena.thread), got an object (Object)',
    ],
    [[1, 1], TypeError, ' must be the handle of a thread (arena.thread), got an array'],
    [{ kind: 'Arena' }, TypeError, ' must be the handle of a thread (arena.thread), got an object (Object)'],
    [{ arena: 5n }, TypeError, ' is of another arena'],
    [{ thread: 0 }, RangeError, '.thread must be an integer from 1 to 1, got 0'],
    [{ thread: 4096 }, RangeError, '.thread must be an integer from 1 to 1, got 4096'],
    [{ thread: 1.5 }, RangeError, '.thread must be an integer from 1 to 1, got 1.5'],
    [{ thread: 1n }, TypeError, '.thread must be an integer from 1 to 1, got 1n'],
    [{ thread: undefined }, TypeError, '.thread must be an integer from 1 to 1, got undefined'],
    [{ life: 0 }, RangeError, '.life must be an integer from 1 to 2147483647, got 0'],
    [{ life: 2 ** 31 }, RangeError, '.life must be an integer from 1 to 2147483647, got 2147483648'],
    [{ life: '1' }, TypeError, '.life must be an integer from 1 to 2147483647, got "1"'],
  ])('refuses %o', async (handle, Kind, message) => {
    const arena = new Arena();
    const error = await failure(() => arena.reap(within(arena, handle) as never));
    expect(error.constructor).toBe(Kind);
    expect(error.message).toBe(`Arena.reap: thread${message}`);
  });

  it('refuses the thread itself, which stays what it was', () => {
    const arena = new Arena();
    const { thread } = arena;
    expect(thread).toEqual({
      kind: 'Thread',
      arena: expect.any(BigInt),
      thread: 1,
      life: expect.any(Number),
    });
    expect(() => arena.reap(thread)).toThrow(new Error('Arena.reap: a thread cannot declare itself dead'));
    expect(() => arena.reap(structuredClone(thread))).toThrow(/cannot declare itself dead/);
    expect(arena.thread).toEqual(thread);
    expect(arena.threads).toBe(1);
    // With another life it is somebody else, who is gone.
    expect(arena.reap({ ...thread, life: thread.life + 4 })).toBe(false);
    expect(arena.threads).toBe(1);
  });

  it.each(['here', 'in a worker'])('works once, %s', async (where) => {
    const arena = new Arena();
    const semaphore = new Semaphore(4, { arena, robust: true });
    await threadOf(semaphore, member());
    const unwatched = new Member();
    const thread = await threadOf(semaphore, unwatched);
    await hold(semaphore, unwatched, 3);
    const behind = watch(semaphore.acquireAsync(2), 0);
    await turn();
    await unwatched.kill();
    const reap = (): Promise<boolean> =>
      where === 'here'
        ? Promise.resolve(arena.reap(thread))
        : member().run<boolean>('reap', { arena: arena.handle, thread });
    expect(await reap()).toBe(true);
    await until(() => behind.state === 'fulfilled', 'the permits go on');
    expect(await reap()).toBe(false);
    expect(semaphore.available).toBe(2);
    semaphore.release(2);
    expectBuried(arena, 2);
    expect(semaphore.inspect().ownerDeaths).toBe(1);
    // The record is another's now, whom the old handle does not touch.
    const next = new Member();
    const fresh = await threadOf(semaphore, next);
    expect(fresh.thread).toBe(thread.thread);
    expect(await reap()).toBe(false);
    expect(await threadOf(semaphore, next)).toEqual(fresh);
    await next.leave();
    expect(arena.reap(fresh)).toBe(false);
  });
});

describe('a thread that is declared dead in its sleep', () => {
  it.each([
    ['without a time-out', []],
    ['with a time-out that ends', [{ timeout: 1500 }]],
  ])('%s does not wake again, and the arena goes on without it', async (_, patience) => {
    // Small, so that its element is soon another's.
    const arena = new Arena({ objects: 1, names: 1, threads: 4, waiters: 8 });
    const memory = new Memory(arena);
    const semaphore = taken(4, { arena });
    const sleeper = new Member();
    const thread = await threadOf(semaphore, sleeper);
    await park(semaphore, sleeper, 2, ...patience);
    const asleep = () => (memory.word(memory.record(thread.thread)) & at('LIFE_STATE')) === at('ASLEEP');
    await until(asleep, 'it sleeps');
    const [element] = memory.elementsIn(at('WAITING')) as [number];
    expect(arena.reap(thread)).toBe(true);
    expect([semaphore.waiting, arena.threads]).toEqual([0, 1]);
    semaphore.release(2);
    semaphore.acquire(2);
    // Another sleeps on the very element, and is woken there.
    for (const _ of upTo(3)) {
      const guests = upTo(3).map(() => new Member());
      for (const guest of guests) await park(semaphore, guest);
      expect(memory.elementsIn(at('WAITING'))).toContain(element);
      semaphore.release(3);
      await until(() => guests.every((guest) => !guest.busy), 'they are in');
      for (const guest of guests) await guest.leave();
      semaphore.release(4);
      expect(semaphore.available).toBe(4);
      semaphore.acquire(4);
    }
    if (patience.length) await sleep(1600);
    await sleep(20);
    expect(sleeper.busy).toBe(true);
    semaphore.release(4);
    expect(semaphore.available).toBe(4);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    await sleeper.kill();
  });
});

describe('a thread that was interrupted in its sleep', () => {
  it('leaves when it ends, as any other', async () => {
    const arena = new Arena();
    const semaphore = taken(1, { arena });
    const one = new Member();
    expect(await one.run('interrupt', { handle: semaphore.handle })).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
    expect(semaphore.waiting).toBe(1);
    await one.leave();
    expect(semaphore.waiting).toBe(0);
    expectBuried(arena);
  });
});

describe('a robust semaphore', () => {
  const robust = (permits: number, options: SemaphoreOptions = {}) =>
    new Semaphore(permits, { arena: new Arena(), robust: true, ...options });
  const held = (semaphore: Semaphore) => semaphore.inspect().holders.map(({ permits }) => permits);

  it('says so, in every thread and by every way to it', () => {
    const arena = new Arena();
    const [one, plain] = [robust(1, { arena }), new Semaphore(1, { arena })];
    expect([one.robust, Semaphore.from(one.handle).robust]).toEqual([true, true]);
    expect([plain.robust, Semaphore.from(plain.handle).robust]).toEqual([false, false]);
    expect(Semaphore.open('one', 1, { arena, robust: true }).robust).toBe(true);
    expect(Semaphore.open('one', undefined, { arena }).robust).toBe(true);
    expect(Semaphore.open('other', 1, { arena }).robust).toBe(false);
    expect(new Semaphore(1, { arena, robust: false }).robust).toBe(false);
  });

  it('is one by a boolean', () => {
    for (const [value, got] of [
      [1, '1'],
      ['yes', '"yes"'],
      [null, 'false'],
    ] as const) {
      if (value === null) continue;
      const error = new TypeError(`Semaphore: robust must be true or false, got ${got}`);
      expect(() => new Semaphore(1, { robust: value as never })).toThrow(error);
      expect(() => Semaphore.open('by a boolean', 1, { robust: value as never })).toThrow(error);
    }
    expect(() => Semaphore.open('by a boolean')).toThrow(/nothing of that name/);
  });

  it('is not what is opened as a plain one, and the other way round', () => {
    const arena = new Arena();
    for (const isRobust of [true, false]) {
      const name = `robust: ${isRobust}`;
      const semaphore = Semaphore.open(name, 2, { arena, robust: isRobust });
      expect(() => Semaphore.open(name, 2, { arena, robust: !isRobust })).toThrow(
        new RangeError(
          `Semaphore.open: name "${name}": it exists already, with other permits, another max, or robust where this is not`,
        ),
      );
      expect(Semaphore.open(name, 2, { arena, robust: isRobust }).tryAcquire(2)).toBe(true);
      semaphore.dispose();
    }
  });

  it.each([
    ['acquire', (semaphore: Semaphore) => semaphore.acquire(2)],
    ['acquire with a time-out', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 1000 })],
    ['acquire with a time-out of 0', (semaphore: Semaphore) => semaphore.acquire(2, { timeout: 0 })],
    ['tryAcquire', (semaphore: Semaphore) => semaphore.tryAcquire(2)],
    ['acquireAsync', (semaphore: Semaphore) => semaphore.acquireAsync(2)],
    ['acquireAsync with a time-out', (semaphore: Semaphore) => semaphore.acquireAsync(2, { timeout: 1000 })],
    [
      'acquireAsync with a time-out of 0',
      (semaphore: Semaphore) => semaphore.acquireAsync(2, { timeout: 0 }),
    ],
    ['hold', (semaphore: Semaphore) => semaphore.hold(2)],
    ['holdAsync', (semaphore: Semaphore) => semaphore.holdAsync(2)],
  ] as [string, (semaphore: Semaphore) => unknown][])('counts what a thread holds: %s', async (_, take) => {
    const semaphore = robust(3);
    await take(semaphore);
    expect(held(semaphore)).toEqual([2]);
    semaphore.release();
    expect(held(semaphore)).toEqual([1]);
    semaphore.release();
    expect(held(semaphore)).toEqual([]);
    expect(semaphore.available).toBe(3);
  });

  it('counts what threads and promises have waited for', async () => {
    const semaphore = robust(6, { spin: 0 });
    const { handle } = semaphore;
    semaphore.acquire(6);
    const { entered } = await park(semaphore, member(), 2);
    await promise(semaphore, other(), 1, 1);
    const here = watch(semaphore.acquireAsync(2), 0);
    await turn();
    // Of threads that wait, and have nothing.
    expect(held(semaphore)).toEqual([6]);
    // The thread, and the first of the two promises that stand in one run.
    semaphore.release(3);
    await entered;
    await until(() => held(semaphore).length === 3, 'two are in');
    expect(held(semaphore).toSorted()).toEqual([1, 2, 3]);
    expect(semaphore.waiting).toBe(2);
    semaphore.release(3);
    // A grant comes to a promise's thread by a task of its event loop: nothing says when.
    await until(
      () => held(semaphore).join() === '2,2,2' && here.state === 'fulfilled',
      'each of three has two',
    );
    expect(semaphore.inspect()).toMatchObject({ out: 6, waiting: 0 });
    await member().run('release', { handle, permits: [2] });
    await other().run('release', { handle, times: 2 });
    semaphore.release(2);
    expect(semaphore.available).toBe(6);
    expect(held(semaphore)).toEqual([]);
  });

  it('does not count what was given up', async () => {
    const semaphore = robust(3);
    await hold(semaphore, member(), 2);
    expect(() => semaphore.acquire(2, { timeout: 1 })).toThrow(TimeoutError);
    expect(() => semaphore.acquire(2, { timeout: 0 })).toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(2, { timeout: 1 })).rejects.toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(2, { timeout: 0 })).rejects.toThrow(TimeoutError);
    await expect(semaphore.acquireAsync(2, { signal: AbortSignal.abort() })).rejects.toThrow(/aborted/);
    const controller = new AbortController();
    const aborted = failure(() => semaphore.acquireAsync(2, { signal: controller.signal }));
    const behind = watch(semaphore.acquireAsync(), 0);
    await turn();
    controller.abort();
    await aborted;
    await reactions();
    expect(behind.state).toBe('fulfilled');
    expect(semaphore.tryAcquire()).toBe(false);
    expect(held(semaphore).toSorted()).toEqual([1, 2]);
    semaphore.release();
    expect(semaphore.available).toBe(1);
  });

  it.each([
    ['nobody waits', 0],
    ['others wait', 2],
  ])(
    'is released by nobody but the thread that holds it, and nothing has changed when %s',
    async (_, waiters) => {
      const arena = new Arena();
      const memory = new Memory(arena);
      const semaphore = robust(3, { arena });
      const { handle } = semaphore;
      await hold(semaphore, member(), 2);
      semaphore.acquire();
      const promises = upTo(waiters).map(() => watch(semaphore.acquireAsync(), 0));
      await turn();
      const words = () => [TICKET, GRANT].map((word) => memory.long(handle.address + word));
      const before = [...words(), semaphore.waiting, semaphore.available];
      const refused = (holds: number, permits: number) => ({
        name: 'RangeError',
        message:
          `Semaphore.release: this thread holds ${holds} permits of the semaphore, got ${permits}. ` +
          'A robust semaphore is released by the thread that holds its permits',
      });
      expect(await failure(() => semaphore.release(2))).toMatchObject(refused(1, 2));
      expect(await failure(() => other().run('release', { handle }))).toMatchObject(refused(0, 1));
      expect(await failure(() => member().run('release', { handle, permits: [3] }))).toMatchObject(
        refused(2, 3),
      );
      expect([...words(), semaphore.waiting, semaphore.available]).toEqual(before);
      expect(held(semaphore).toSorted()).toEqual([1, 2]);
      await member().run('release', { handle, permits: [2] });
      await until(() => promises.every(({ state }) => state === 'fulfilled'), 'they are in');
      expect(held(semaphore)).toEqual([1 + waiters]);
      expect(semaphore.available).toBe(2 - waiters);
    },
  );

  it('has a max as others do', async () => {
    const semaphore = robust(1, { max: 2 });
    semaphore.acquire();
    semaphore.release();
    expect(() => semaphore.release()).toThrow(/this thread holds 0 permits/);
    expect(() => semaphore.release(2)).toThrow(/more would make more than 2 \(its max\) available/);
    expect(() => semaphore.acquire(3)).toThrow(/from 1 to 2 \(its max\)/);
    expect(semaphore.available).toBe(1);
    const full = robust(2, { max: 2 });
    await hold(full, member(), 2);
    const dying = recruit(Arena.from(full.handle.arena));
    const { handle } = full;
    dying.run('enter', { handle, permits: [2] });
    await until(() => full.waiting === 1, 'it waits');
    await dying.kill();
    await member().run('release', { handle, permits: [2] });
    expect(full.available).toBe(2);
    expect(held(full)).toEqual([]);
  });

  it('is one for all objects of a thread', () => {
    const one = robust(3);
    const two = Semaphore.from(one.handle);
    const calls: string[] = [];
    one.onOwnerDied = () => calls.push('one');
    one.acquire(2);
    expect(held(two)).toEqual([2]);
    two.release();
    one.acquire();
    const guard = two.hold();
    expect(held(one)).toEqual([3]);
    one.release(2);
    guard.release();
    expect(() => one.release()).toThrow(/holds 0 permits/);
    expect(() => two.release()).toThrow(/holds 0 permits/);
    expect(one.available).toBe(3);
    expect(calls).toEqual([]);
  });

  it('that is disposed of takes no permits back, and its memory is used again', async () => {
    const arena = new Arena({ objects: 1, names: 1 });
    for (const who of ['here', 'there']) {
      const semaphore = robust(3, { arena });
      const { handle } = semaphore;
      const dying = recruit(arena);
      const guard = semaphore.hold();
      await hold(semaphore, dying);
      if (who === 'here') semaphore.dispose();
      else await dying.run('dispose', { handle });
      if (who === 'there') expect(() => semaphore.tryAcquire()).toThrow(DisposedError);
      semaphore.release();
      guard.release();
      await dying.run('release', { handle });
      await dying.kill();
    }
    const next = robust(2, { arena });
    expect(next.available).toBe(2);
    expect(next.inspect()).toMatchObject({ ownerDeaths: 0, holders: [] });
    expect(next.hold().ownerDied).toBe(false);
  });

  it('stays held by a thread whose objects are collected, until it releases', async () => {
    const arena = new Arena({ objects: 1, names: 1 });
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    const { handle } = (() => {
      const semaphores = [robust(2, { arena })];
      semaphores.push(Semaphore.from((semaphores[0] as Semaphore).handle));
      for (const semaphore of semaphores) registry.register(semaphore, undefined);
      semaphores[1]?.acquire(2);
      return semaphores[0] as Semaphore;
    })();
    for (let i = 0; i < 200 && collected < 2; i++) {
      await turn();
      collect();
    }
    expect(collected).toBe(2);
    for (const _ of upTo(5)) await turn();
    const again = Semaphore.from(handle);
    expect(again.available).toBe(0);
    expect(held(again)).toEqual([2]);
    again.release(2);
    expect(again.available).toBe(2);
    again.dispose();
    const isThereRoom = () => {
      try {
        return new Semaphore(1, { arena }).available === 1;
      } catch {
        return false;
      }
    };
    await until(isThereRoom, 'the memory is used again');
  });

  it('is given back once by a thread that releases and acquires at its very end', async () => {
    expect(await runProgram('robust-on-exit')).toEqual({
      code: 0,
      out: 'exit 0, 2 available, 1 has died\n',
      err: '',
    });
  });
});
