/**
 * Threads die while they hold, wait or are attached: what they had goes back, once. The search in check/ kills a thread
 * at every moment, and test/stress/dying.test.ts and chaos.test.ts kill threads at random.
 */
import { Arena, Semaphore, type ThreadHandle } from 'taketurns';
import { TicketSemaphore, TwaSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import {
  end,
  expectBuried,
  hold,
  park,
  promise,
  recruit,
  stop,
  taken,
  threadOf,
  upTo,
  ways,
} from '../support/dying.js';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { allInCi, roundsInCi } from '../support/rounds.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(2);
const member = () => crowd[0] as Member;
const TICKET = at('TICKET');

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

  it('keeps what it held of another semaphore: another thread may release it', async () => {
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
    const arena = new Arena({ objects: 4 });
    const objects = [
      new Semaphore(1, { arena }),
      new Semaphore(1, { arena, robust: true }),
      new TicketSemaphore(1, { arena }),
      new TwaSemaphore(1, { arena }),
    ];
    const dying = recruit(arena, false);
    for (const { handle } of objects) await dying.run('call', { handle, method: 'acquire' });
    for (const object of objects) object.dispose();
    expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
    await end(dying, way);
    for (const i of upTo(4)) expect(new Semaphore(i, { arena }).available).toBe(i);
  });

  it('makes room for another thread, and its handle names no thread any more', async () => {
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

// A worker does not end by itself while promises of it are in the queue.
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
      // The keeper may be in the midst of it.
      await until(() => semaphore.waiting === 4, 'its requests have left');
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
      expect(semaphore.inspect()).toMatchObject({ out: 5, ownerDeaths: 0, cancelled: 0 });
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
      expectBuried(arena, 2);
    });
  },
);

describe.each(allInCi([1, 2, 1024]))('a worker that is terminated in the queue (slots %i)', (slots) => {
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
  ] as const)('at its head (%s), wanting 3 with %i granted, frees the light ones behind it', async (step, granted) => {
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
  });

  it.each([
    ['and another waits', 'acquire', 1],
    ['and another waits', 'enqueue', 1],
    ['and nobody waits', 'acquire', 0],
    ['and nobody waits', 'enqueue', 0],
  ] as const)('when it has not seen its grant, %s: the permits go on (%s)', async (_, step, behind) => {
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
  });

  it('at the very moment of a grant: the permit comes back, or ends with the worker', async () => {
    for (const robust of [true, false]) {
      for (const i of upTo(roundsInCi(6, 2))) {
        const semaphore = taken(1, { arena, robust });
        const dying = recruit(arena);
        await park(semaphore, dying);
        semaphore.release();
        if (i % 2) await turn();
        await dying.kill();
        // Of a semaphore that is not robust the worker may have seen the grant.
        if (robust) expect(semaphore.available).toBe(1);
        else expect(semaphore.inspect()).toMatchObject({ waiting: 0, cancelled: 0 });
        semaphore.dispose();
      }
    }
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it.each(['asleep', 'enqueue', 'acquire', 'promise'] as const)('at its end (%s) leaves no trace', async (step) => {
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
  });

  it('with a time-out behaves like one without', async () => {
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
    'with promises that were granted and not settled: their permits go on (robust: %s)',
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
      // The worker never had the permits, so it did not die as their owner.
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
  ])('leaves one tombstone at most, with others that cancelled (%i, %i, %i)', async (...order) => {
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
    expect(memory.elementsIn(at('TOMBSTONE'))).toHaveLength(1);
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
