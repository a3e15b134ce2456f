/**
 * Time-outs and abort signals: who gives up leaves the queue at once, and no permit is lost or made. What
 * threads do at the same instant is in test/stress/giving-up.test.ts, and every interleaving in check/.
 */
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Arena, DisposedError, HeldPermits, type WaitOptions, Semaphore, TimeoutError } from 'taketurns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { type Settling, watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(4);
const [member, other] = [() => crowd[0] as Member, () => crowd[1] as Member];
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);
const LONG = 600_000;
const LONGEST = 2 ** 31 - 1;

afterEach(() => {
  vi.restoreAllMocks();
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const ways = ['acquire', 'acquireAsync', 'hold', 'holdAsync'] as const;

/** What a call throws, or its promise rejects with. */
async function failure(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

const tombstones = (memory: Memory) => memory.standing.filter((state) => state === at('ABANDONED')).length;

/** A promise that may be aborted. */
interface Request extends Settling<number> {
  abort(reason?: unknown): void;
}

function ask(semaphore: Semaphore, n: number, label = n, log: number[] = []): Request {
  const controller = new AbortController();
  const settling = watch(semaphore.acquireAsync(n, { signal: controller.signal }), label, log);
  return Object.assign(settling, { abort: (reason?: unknown) => controller.abort(reason) });
}

/** Has another thread release, while this one is not in its event loop. */
function releaseUnseen(semaphore: Semaphore, permits: number): void {
  const done = new Int32Array(new SharedArrayBuffer(4));
  member().run('release-and-tell', { handle: semaphore.handle, permits: [permits], done });
  expect(Atomics.wait(done, 0, 0, 20_000)).not.toBe('timed-out');
}

/** Has a worker stand in line; what it returns makes it give up, and returns what the core answered. */
async function standInLine(semaphore: Semaphore, permits: number, who = member()) {
  const told = new Int32Array(new SharedArrayBuffer(12));
  const answers = who.run<number[]>('give-up-when-told', { handle: semaphore.handle, permits, told });
  await until(() => Atomics.load(told, 1) === 1, 'it stands in line');
  const giveUp = () => {
    Atomics.store(told, 0, 1);
    Atomics.notify(told, 0);
    return answers;
  };
  return Object.assign(giveUp, { told });
}

describe.each(ways)('%s: bad options', (way) => {
  const name = way === 'hold' ? 'acquire' : way === 'holdAsync' ? 'acquireAsync' : way;
  const bad: [object | unknown, typeof RangeError | typeof TypeError, string][] = [
    [
      { timeout: Number.NaN },
      RangeError,
      `timeout must be from 0 to ${LONGEST} milliseconds or Infinity, got NaN`,
    ],
    [{ timeout: -1 }, RangeError, 'or Infinity, got -1'],
    [{ timeout: Number.NEGATIVE_INFINITY }, RangeError, 'or Infinity, got -Infinity'],
    [{ timeout: LONGEST + 1 }, RangeError, 'or Infinity, got 2147483648'],
    [{ timeout: '5' }, TypeError, 'timeout must be a number of milliseconds, got "5"'],
    [{ timeout: 5n }, TypeError, 'timeout must be a number of milliseconds, got 5n'],
    [{ timeout: null }, TypeError, 'timeout must be a number of milliseconds, got null'],
    [{ signal: null }, TypeError, 'signal must be an AbortSignal, got null'],
    [{ signal: 'stop' }, TypeError, 'signal must be an AbortSignal, got "stop"'],
    [{ signal: { aborted: false } }, TypeError, 'signal must be an AbortSignal, got an object (Object)'],
    [
      { signal: new AbortController() },
      TypeError,
      'signal must be an AbortSignal, got an object (AbortController)',
    ],
    [{ signal: new EventTarget() }, TypeError, 'signal must be an AbortSignal, got an object (EventTarget)'],
    [null, TypeError, 'options must be an object, got null'],
    [100, TypeError, 'options must be an object, got 100'],
    ['soon', TypeError, 'options must be an object, got "soon"'],
  ];

  it.each(bad)('%o', async (patience, Kind, message) => {
    // Refused whether there are permits or not.
    for (const permits of [0, 1]) {
      const semaphore = new Semaphore(permits);
      const error = await failure(() => semaphore[way](1, patience as WaitOptions));
      expect((error as Error).constructor).toBe(Kind);
      expect((error as Error).message).toMatch(new RegExp(`^Semaphore.${name}: `));
      expect((error as Error).message).toContain(message);
      expect(semaphore.available).toBe(permits);
      expect(semaphore.waiting).toBe(0);
      semaphore.dispose();
    }
  });

  it('asks for a good number of permits first', async () => {
    const semaphore = new Semaphore(1);
    const error = await failure(() => semaphore[way](0, { timeout: -1 }));
    expect((error as Error).message).toContain('permits must be');
  });

  it.each([
    {},
    { timeout: undefined, signal: undefined },
    { timeout: Number.POSITIVE_INFINITY },
    { timeout: LONGEST },
  ])('does not mind %o', async (patience) => {
    const semaphore = new Semaphore(1);
    const { signal } = new AbortController();
    await semaphore[way](1, patience as WaitOptions);
    expect(semaphore.available).toBe(0);
    semaphore.release();
    await semaphore[way](1, { signal, ...patience } as WaitOptions);
    expect(semaphore.available).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe.each(ways)('%s', (way) => {
  it('with a time-out of 0 takes what is there', async () => {
    const semaphore = new Semaphore(3);
    await semaphore[way](2, { timeout: 0 });
    expect(semaphore.available).toBe(1);
  });

  it('with a time-out of 0 does not queue and does not overtake', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const wanting = async (n: number) => {
      const error = await failure(() => semaphore[way](n, { timeout: 0 }));
      expect(error).toBeInstanceOf(TimeoutError);
      expect((error as Error).name).toBe('TimeoutError');
    };
    await wanting(1);
    expect(semaphore.waiting).toBe(0);
    expect(new Memory(arena).standing).toEqual([]);
    const heavy = watch(semaphore.acquireAsync(3), 3);
    semaphore.release(2);
    await wanting(1);
    await wanting(2);
    expect(semaphore.waiting).toBe(1);
    semaphore.release();
    await reactions();
    expect(heavy.state).toBe('fulfilled');
    await wanting(1);
    semaphore.release(2);
    await wanting(3);
    expect(semaphore.available).toBe(2);
  });

  it.each([0, 1, LONG])('whose signal is aborted already never queues (time-out %i)', async (timeout) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    for (const permits of [0, 1]) {
      const semaphore = new Semaphore(permits, { arena });
      const reason = { why: 'closing time' };
      expect(await failure(() => semaphore[way](1, { timeout, signal: AbortSignal.abort(reason) }))).toBe(
        reason,
      );
      expect(await failure(() => semaphore[way](1, { signal: AbortSignal.abort() }))).toMatchObject({
        name: 'AbortError',
      });
      expect(semaphore.available).toBe(permits);
      expect(semaphore.waiting).toBe(0);
      expect(memory.long(semaphore.handle.address + at('TICKET'))).toBe(0n);
      expect(memory.standing).toEqual([]);
    }
  });

  it.each([0.01, 1, 1.5])('gives up after %d ms, and leaves nothing behind', async (timeout) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(1, { arena, spin: 0 });
    semaphore.acquire();
    for (const n of [1, 3]) {
      const error = await failure(() => semaphore[way](n, { timeout }));
      expect(error).toBeInstanceOf(TimeoutError);
      expect((error as Error).name).toBe('TimeoutError');
      expect((error as Error).message).toContain(`${timeout} ms`);
      expect(semaphore.waiting).toBe(0);
      expect(semaphore.available).toBe(0);
    }
    semaphore.release();
    expect(semaphore.available).toBe(1);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    await semaphore[way](1, { timeout });
    expect(semaphore.available).toBe(0);
  });

  it('of a semaphore that is disposed of is told so, whatever the time-out', async () => {
    for (const timeout of [0, 1, LONG, Number.POSITIVE_INFINITY]) {
      const semaphore = new Semaphore(0);
      semaphore.dispose();
      expect(await failure(() => semaphore[way](1, { timeout }))).toBeInstanceOf(DisposedError);
    }
  });

  it('gets its permits in time, from another thread', async () => {
    const semaphore = new Semaphore(0, { spin: 0 });
    // Not a promise of this thread's own: it may block meanwhile.
    member().run('release', { handle: semaphore.handle, permits: [2] });
    const held = await semaphore[way](2, { timeout: LONG, signal: new AbortController().signal });
    expect(semaphore.available).toBe(0);
    if (held instanceof HeldPermits) held.release();
    else semaphore.release(2);
    expect(semaphore.available).toBe(2);
  });
});

describe.each([
  ['not entered', reactions],
  ['entered', turn],
])('a promise (%s)', (_, pass) => {
  it('rejects with the reason of its signal, and those behind it move up', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const requests = upTo(4).map((i) => ask(semaphore, 1, i, log));
    await pass();
    const reason = new Error('not any more');
    requests[1]?.abort(reason);
    expect(semaphore.waiting).toBe(3);
    await reactions();
    expect(requests[1]).toMatchObject({ state: 'rejected', error: reason });
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0, 2]);
    expect(semaphore.waiting).toBe(1);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0, 2, 3]);
    expect(semaphore.available).toBe(1);
    expect(new Memory(arena).standing).toEqual([]);
  });

  it('last in line goes without a trace', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const [a, b] = [ask(semaphore, 1), ask(semaphore, 2)];
    await pass();
    b.abort();
    a.abort();
    await reactions();
    expect([a.state, b.state]).toEqual(['rejected', 'rejected']);
    expect(memory.standing).toEqual([]);
    expect(memory.long(semaphore.handle.address + at('TICKET'))).toBe(0n);
  });

  it.each([0, 1, 2])(
    'at the head that wants 3, and has been granted %i, frees the light ones behind it',
    async (granted) => {
      const arena = new Arena();
      const semaphore = new Semaphore(0, { arena });
      const log: number[] = [];
      const heavy = ask(semaphore, 3, 3, log);
      const light = upTo(3).map((i) => watch(semaphore.acquireAsync(), i, log));
      await pass();
      if (granted) semaphore.release(granted);
      await reactions();
      expect(log).toEqual([]);
      heavy.abort();
      await reactions();
      expect(heavy.state).toBe('rejected');
      expect(log).toEqual(upTo(granted));
      expect(semaphore.waiting).toBe(3 - granted);
      semaphore.release(3);
      await reactions();
      expect(light.every(({ state }) => state === 'fulfilled')).toBe(true);
      expect(log).toEqual([0, 1, 2]);
      expect(semaphore.available).toBe(granted);
      expect(new Memory(arena).standing).toEqual([]);
    },
  );

  it('at the head frees blocked threads behind it, and promises of others', async () => {
    const semaphore = new Semaphore(0, { spin: 0 });
    const heavy = ask(semaphore, 3);
    await pass();
    const { handle } = semaphore;
    const one = member().run('enter', { handle });
    const two = other().run('enter', { handle, async: true });
    await until(() => semaphore.waiting === 3, 'they stand in line');
    semaphore.release(2);
    expect(semaphore.waiting).toBe(3);
    heavy.abort();
    await Promise.all([one, two]);
    expect(heavy.state).toBe('rejected');
    expect(semaphore.available).toBe(0);
    expect(semaphore.waiting).toBe(0);
  });

  it('that is granted first stays fulfilled', async () => {
    const semaphore = new Semaphore(0);
    const requests = [ask(semaphore, 1), ask(semaphore, 2)] as const;
    await pass();
    semaphore.release();
    requests[0].abort();
    semaphore.release(2);
    requests[1].abort();
    await turn();
    expect(requests.map(({ state }) => state)).toEqual(['fulfilled', 'fulfilled']);
    expect(semaphore.available).toBe(0);
  });

  it.each([
    ['the only one', 0],
    ['one of three', 2],
  ])('%s, granted by another thread and then aborted, has its permits or does not', async (_, behind) => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const first = ask(semaphore, 2, -1, log);
    const rest = upTo(behind).map((i) => watch(semaphore.acquireAsync(2), i, log));
    await pass();
    releaseUnseen(semaphore, 2);
    first.abort();
    await until(() => first.state !== 'pending', 'it is settled');
    // Whoever is next has them, if not the first; and whoever did not get them is not told so.
    expect(semaphore.available + 2 * log.length).toBe(2);
    expect(semaphore.waiting).toBe(behind + 1 - log.length - (first.state === 'rejected' ? 1 : 0));
    if (behind) semaphore.release(2 * behind);
    await until(() => rest.every(({ state }) => state === 'fulfilled'), 'the others are in');
    const others = first.state === 'fulfilled' ? [-1, ...upTo(behind)] : upTo(behind);
    expect(log).toEqual(others);
    expect(semaphore.available).toBe(2 * (behind + 1 - others.length));
    expect(new Memory(arena).standing).toEqual([]);
  });

  it('that gives up is not granted afterwards', async () => {
    const semaphore = new Semaphore(0);
    const requests = upTo(3).map((i) => ask(semaphore, 1, i));
    await pass();
    for (const request of requests.slice(0, 2)) request.abort();
    releaseUnseen(semaphore, 3);
    await until(() => requests[2]?.state === 'fulfilled', 'the third is in');
    await turn();
    expect(requests.map(({ state }) => state)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(semaphore.available).toBe(2);
  });

  it.each([
    ['front to back', (order: number[]) => order],
    ['back to front', (order: number[]) => order.reverse()],
    ['the odd ones first', (order: number[]) => order.sort((a, b) => (b % 2) - (a % 2))],
  ])('and its neighbours leave one tombstone at most: %s', async (_, reorder) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    const front = watch(semaphore.acquireAsync(), -1, log);
    const requests = upTo(9).map((i) => ask(semaphore, 1 + (i % 3), i, log));
    const back = watch(semaphore.acquireAsync(), 9, log);
    await pass();
    for (const i of reorder(upTo(9))) {
      requests[i]?.abort();
      expect(tombstones(memory)).toBeLessThanOrEqual(semaphore.waiting + 1);
    }
    expect(tombstones(memory)).toBe(1);
    expect(semaphore.waiting).toBe(2);
    // One release passes all of them.
    semaphore.release(2);
    await reactions();
    expect([front.state, back.state]).toEqual(['fulfilled', 'fulfilled']);
    expect(log).toEqual([-1, 9]);
    expect(semaphore.available).toBe(0);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('is one of several that share a signal', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const controller = new AbortController();
    const { signal } = controller;
    const log: number[] = [];
    const settlings = upTo(30).map((i) => watch(semaphore.acquireAsync(1 + (i % 2), { signal }), i, log));
    const plain = watch(semaphore.acquireAsync(), 30, log);
    await pass();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await reactions();
    // The second had one of its two permits, which the third has got before its own turn to give up.
    expect(log).toEqual([0, 2]);
    expect(semaphore.available).toBe(0);
    expect(semaphore.waiting).toBe(1);
    expect(settlings.every(({ state }) => state !== 'pending')).toBe(true);
    semaphore.release();
    await reactions();
    expect(plain.state).toBe('fulfilled');
    expect(semaphore.available).toBe(0);
    expect(new Memory(arena).standing).toEqual([]);
  });

  // Shows: the listener goes on to a request that was granted by what another one, on the same signal, gave up.
  it('last in line, granted because one of its own signal gave up, keeps its permit', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(0, { arena });
    const controller = new AbortController();
    const { signal } = controller;
    const heavy = watch(semaphore.acquireAsync(3, { signal }), 3);
    const light = watch(semaphore.acquireAsync(1, { signal }), 1);
    await pass();
    semaphore.release();
    controller.abort();
    await reactions();
    expect([heavy.state, light.state]).toEqual(['rejected', 'fulfilled']);
    expect(semaphore.available).toBe(0);
    expect(semaphore.tryAcquire()).toBe(false);
    expect(new Memory(arena).standing).toEqual([]);
    semaphore.release();
    expect(semaphore.available).toBe(1);
  });

  it('and dispose: one of the two tells it, and nothing is left', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    for (const first of ['abort', 'dispose here', 'dispose elsewhere'] as const) {
      const semaphore = new Semaphore(0, { arena });
      const requests = upTo(3).map((i) => ask(semaphore, 1 + i, i));
      const plain = watch(semaphore.acquireAsync(), 3);
      await pass();
      if (first === 'dispose elsewhere') {
        const told = new Int32Array(new SharedArrayBuffer(4));
        member()
          .run('dispose', { handle: semaphore.handle })
          .then(() => Atomics.store(told, 0, 1));
        await until(() => plain.state !== 'pending', 'they are told');
      }
      if (first === 'dispose here') semaphore.dispose();
      for (const request of requests) request.abort();
      if (first === 'abort') semaphore.dispose();
      await until(() => plain.state === 'rejected', 'it is told');
      expect(plain.error).toBeInstanceOf(DisposedError);
      for (const { state, error } of requests) {
        expect(state).toBe('rejected');
        if (first === 'abort') expect(error).toMatchObject({ name: 'AbortError' });
        else expect(error).toBeInstanceOf(DisposedError);
      }
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
    }
  });
});

describe('promises that give up and those that do not', () => {
  // Not some reactions later than the plain one behind it.
  it('are told in the order of their turns', async () => {
    const semaphore = new Semaphore(0);
    const log: number[] = [];
    for (const i of upTo(8)) watch(semaphore.acquireAsync(1, i % 2 ? undefined : { timeout: LONG }), i, log);
    semaphore.release(8);
    await reactions();
    expect(log).toEqual(upTo(8));
  });

  // One that is admitted at once settles those first that are due and not settled yet.
  it('are told in order when one more comes with a time-out', async () => {
    for (const timeout of [0, LONG]) {
      const semaphore = new Semaphore(0);
      const log: string[] = [];
      watch(semaphore.acquireAsync(), 'first', log);
      releaseUnseen(semaphore, 2);
      watch(semaphore.acquireAsync(1, { timeout }), 'second', log);
      await until(() => log.length === 2, 'both are in');
      expect(log, `time-out ${timeout}`).toEqual(['first', 'second']);
    }
  });

  it('stand in runs again once the last of them has gone', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const log: number[] = [];
    watch(semaphore.acquireAsync(), 0, log);
    const impatient = ask(semaphore, 1, 1, log);
    impatient.abort();
    for (const i of [2, 3, 4]) watch(semaphore.acquireAsync(), i, log);
    expect(memory.standing).toHaveLength(1);
    semaphore.release(4);
    await reactions();
    expect(log).toEqual([0, 2, 3, 4]);
    expect(semaphore.available).toBe(0);
  });
});

describe('a guard', () => {
  it('is not made when the time is over', async () => {
    const semaphore = new Semaphore(1);
    const held = await semaphore.holdAsync(1, { timeout: LONG });
    expect(held.held).toBe(true);
    await expect(semaphore.holdAsync(1, { timeout: 1 })).rejects.toBeInstanceOf(TimeoutError);
    expect(() => semaphore.hold(1, { timeout: 1 })).toThrow(TimeoutError);
    held.release();
    expect(semaphore.available).toBe(1);
    {
      using _ = semaphore.hold(1, { timeout: 1 });
      expect(semaphore.available).toBe(0);
    }
    {
      await using _ = await semaphore.holdAsync(1, { timeout: 1 });
      expect(semaphore.available).toBe(0);
    }
    expect(semaphore.available).toBe(1);
  });
});

describe.each([1, 2, 1024])('a blocked thread that gives up (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const memory = new Memory(arena);

  it.each([0, 1, 2])('frees those behind it, when %i of its 3 permits were there', async (granted) => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const log: number[] = [];
    const giveUp = await standInLine(semaphore, 3);
    for (const i of upTo(3)) watch(semaphore.acquireAsync(), i, log);
    const last = await standInLine(semaphore, 1, other());
    await turn();
    if (granted) semaphore.release(granted);
    expect(semaphore.waiting).toBe(5);
    expect(await giveUp()).toEqual([at('QUEUED'), at('REFUSED')]);
    await until(() => log.length === granted, 'they are in');
    expect(semaphore.waiting).toBe(4 - granted);
    semaphore.release(4 - granted);
    await until(() => log.length === 3, 'all promises are in');
    expect(log).toEqual(upTo(3));
    // Granted and last in line: it may take the permit or leave it.
    const [, answer] = await last();
    expect(semaphore.available).toBe(answer === at('ADMITTED') ? 0 : 1);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('last in line leaves no trace', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const giveUp = await standInLine(semaphore, 3);
    semaphore.release(2);
    expect(semaphore.available).toBe(0);
    expect(await giveUp()).toEqual([at('QUEUED'), at('REFUSED')]);
    expect(semaphore.available).toBe(2);
    expect(semaphore.waiting).toBe(0);
    expect(memory.cells).toBe(0);
  });

  it('has its permits if they came first, and those behind it wait', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const giveUp = await standInLine(semaphore, 3);
    const behind = watch(semaphore.acquireAsync(), 0);
    semaphore.release(3);
    expect(await giveUp()).toEqual([at('QUEUED'), at('ADMITTED')]);
    await turn();
    expect(behind.state).toBe('pending');
    semaphore.release();
    await reactions();
    expect(behind.state).toBe('fulfilled');
    expect(semaphore.available).toBe(0);
  });

  it('is told of a dispose that came first', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const giveUp = await standInLine(semaphore, 3);
    const behind = watch(semaphore.acquireAsync(), 0);
    semaphore.dispose();
    expect(await giveUp()).toEqual([at('QUEUED'), at('ANSWER_CLOSED')]);
    await reactions();
    expect(behind.error).toBeInstanceOf(DisposedError);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('leaves a tombstone that a dispose removes', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const front = watch(semaphore.acquireAsync(), 0);
    const giveUp = await standInLine(semaphore, 3);
    const behind = watch(semaphore.acquireAsync(), 1);
    expect(await giveUp()).toEqual([at('QUEUED'), at('REFUSED')]);
    expect(tombstones(memory)).toBe(1);
    semaphore.dispose();
    await reactions();
    expect([front.state, behind.state]).toEqual(['rejected', 'rejected']);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('and its neighbours leave one tombstone at most', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const log: number[] = [];
    watch(semaphore.acquireAsync(), 0, log);
    const one = await standInLine(semaphore, 3);
    const promise = ask(semaphore, 2);
    const two = await standInLine(semaphore, 1, other());
    watch(semaphore.acquireAsync(), 1, log);
    expect(await two()).toEqual([at('QUEUED'), at('REFUSED')]);
    expect(await one()).toEqual([at('QUEUED'), at('REFUSED')]);
    expect(tombstones(memory)).toBe(2);
    promise.abort();
    expect(tombstones(memory)).toBe(1);
    semaphore.release(2);
    await reactions();
    expect(log).toEqual([0, 1]);
    expect(semaphore.available).toBe(0);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('is told by a TimeoutError in its own thread', async () => {
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const { handle } = semaphore;
    const error = await failure(() => member().run('enter', { handle, permits: [1, { timeout: 1 }] }));
    expect((error as Error).name).toBe('TimeoutError');
    expect(semaphore.waiting).toBe(0);
  });
});

describe('an arena without another element', () => {
  it('has a thread wait on whose time is over: it could not leave one behind', async () => {
    const arena = new Arena({ objects: 1, threads: 2, waiters: 8 });
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const giveUp = await standInLine(semaphore, 3);
    const promises: Settling<number>[] = [];
    let taken = 0;
    do {
      const n = 1 + (promises.length % 2);
      promises.push(watch(semaphore.acquireAsync(n), n));
      await reactions();
      if (promises.at(-1)?.state === 'pending') taken += n;
    } while (promises.at(-1)?.state === 'pending');
    const answers = giveUp();
    await until(() => Atomics.load(giveUp.told, 2) === at('ANSWER_FULL'), 'it cannot give up');
    expect(semaphore.waiting).toBe(promises.length);
    semaphore.release(3 + taken);
    expect(await answers).toEqual([at('QUEUED'), at('ADMITTED')]);
    await until(() => promises.every(({ state }) => state !== 'pending'), 'all are in');
    expect(semaphore.available).toBe(0);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });
});

describe('what is left of a request', () => {
  // In a process of its own: here the test runner has timers too, which come and go.
  it('is no listener and no timer', async () => {
    const { code, out, err } = await runProgram('leaves-nothing');
    expect(out.trim().split('\n')).toEqual([
      'at first: 0, 0',
      'four wait: 1, 4',
      'one has its permit: 1, 3',
      'TimeoutError',
      'one has given up, and one timer keeps the process alive for those who wait: 1, 4',
      'disposed of: 0, 0',
      'one waits: 1, 1',
      'aborted: 0, 0',
      'AbortError',
    ]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  it('does not keep the process alive, and one that waits does', async () => {
    expect(await runProgram('gives-up')).toEqual({ code: 0, out: 'TimeoutError\n2\n', err: '' });
  });
});

describe('many requests', () => {
  // Node warns of a leak from the eleventh listener of one signal on.
  it('may share one signal', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    const controller = new AbortController();
    const semaphore = new Semaphore(0);
    const promises = upTo(30).map(() => semaphore.acquireAsync(1, { signal: controller.signal }));
    await turn();
    controller.abort();
    await Promise.allSettled(promises);
    await turn();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});

describe('tens of thousands that give up on one exhausted semaphore', () => {
  const ROUNDS = 400;
  const BATCH = 100;

  it.each([
    ['one signal', true],
    ['one by one, from the back', false],
  ])('leave memory as it was: promises, %s', async (_, together) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    let [used, heap] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const controllers = upTo(together ? 1 : BATCH).map(() => new AbortController());
      const promises = upTo(BATCH).map((i) =>
        semaphore.acquireAsync(1 + (i % 3), {
          signal: (controllers[i] ?? controllers[0])?.signal as AbortSignal,
        }),
      );
      for (const controller of controllers.reverse()) controller.abort();
      const outcomes = await Promise.allSettled(promises);
      if (outcomes.some(({ status }) => status === 'fulfilled')) throw new Error('nobody has released');
      // The engine lets go of the signals between two turns of the event loop.
      await turn();
      if (round === ROUNDS / 10) {
        used = memory.word(at('USED_ELEMENTS'));
        heap = heapUsed();
      }
    }
    expect(memory.word(at('USED_ELEMENTS'))).toBe(used);
    expect(memory.standing.length).toBeLessThanOrEqual(1);
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.available).toBe(0);
    // 36,000 of anything would take more.
    expect(heapUsed() - heap).toBeLessThan(1e6);
    semaphore.release(7);
    expect(semaphore.available).toBe(7);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('leave memory as it was: threads', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena, spin: 0 });
    const args = { handle: semaphore.handle, times: 10_000, timeout: 0.001 };
    const shorter = { ...args, times: 100 };
    await Promise.all(crowd.map((one) => one.run('time-out', shorter)));
    const used = memory.word(at('USED_ELEMENTS'));
    await Promise.all([
      ...crowd.map((one) => one.run('time-out', args)),
      (async () => {
        for (let i = 0; i < 100; i++) await failure(() => semaphore.acquireAsync(2, { timeout: 1 }));
      })(),
    ]);
    // Only a few are ever in use at once, and the pool is not drawn out for ever.
    expect(memory.word(at('USED_ELEMENTS')) - used).toBeLessThanOrEqual(32);
    expect(memory.standing.length).toBeLessThanOrEqual(1);
    semaphore.release(7);
    expect(semaphore.available).toBe(7);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });
});

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/**
 * Random sequences in one thread against a count of permits and a list: after each step the semaphore must tell
 * what the model tells, and promises must have been settled as it says.
 */
describe('random requests, aborts and releases', () => {
  const step = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('ask' as const), n: fc.integer({ min: 1, max: 5 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), n: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('abort' as const), n: fc.nat({ max: 30 }) }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('release' as const), n: fc.integer({ min: 1, max: 6 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('try' as const), n: fc.integer({ min: 1, max: 3 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('block' as const), n: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn' as const), n: fc.constant(0) }) },
  );

  it.each([1, 2, 1024])('do what a plain list does (slots %i)', async (slots) => {
    const arena = new Arena({ slots });
    const memory = new Memory(arena);
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(0n, 2n ** 32n - 20n, 2n ** 53n - 20n),
      async (steps, firstTicket) => {
        const semaphore = new Semaphore(0, { arena, spin: 0, firstTicket });
        let free = 0;
        let queue: { label: number; n: number; controller: AbortController | undefined }[] = [];
        const expected: string[] = [];
        const log: string[] = [];
        const serve = () => {
          for (let head = queue[0]; head && head.n <= free; head = queue[0]) {
            free -= head.n;
            expected.push(`${head.label} in`);
            queue.shift();
          }
        };
        for (const [label, { kind, n }] of steps.entries()) {
          const fits = queue.length === 0 && n <= free;
          switch (kind) {
            case 'ask':
            case 'wait': {
              const controller = kind === 'ask' ? new AbortController() : undefined;
              const promise = controller
                ? semaphore.acquireAsync(n, { signal: controller.signal })
                : semaphore.acquireAsync(n);
              promise.then(
                () => log.push(`${label} in`),
                () => log.push(`${label} out`),
              );
              queue.push({ label, n, controller });
              break;
            }
            case 'abort': {
              const who = queue[n];
              if (!who?.controller) break;
              queue = queue.filter((one) => one !== who);
              expected.push(`${who.label} out`);
              who.controller.abort();
              break;
            }
            case 'release':
              free += n;
              semaphore.release(n);
              break;
            case 'try':
              expect(semaphore.tryAcquire(n)).toBe(fits);
              if (fits) free -= n;
              break;
            case 'block':
              try {
                semaphore.acquire(n, { timeout: 0.001 });
                expect(fits).toBe(true);
                free -= n;
              } catch (error) {
                expect(error).toBeInstanceOf(TimeoutError);
                expect(fits).toBe(false);
              }
              break;
            case 'turn':
              await turn();
          }
          serve();
          expect(semaphore.waiting).toBe(queue.length);
          expect(semaphore.available).toBe(queue.length ? 0 : free);
          expect(tombstones(memory)).toBeLessThanOrEqual(queue.length + 1);
          await reactions();
          // In one step promises are told in some order: that of runs and of single ones is tested above.
          expect(log.splice(0).toSorted()).toEqual(expected.splice(0).toSorted());
        }
        semaphore.dispose();
        await reactions();
        expect(log.toSorted()).toEqual(queue.map(({ label }) => `${label} out`).toSorted());
        expect(memory.standing).toEqual([]);
        expect(memory.cells).toBe(0);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

describe('a thread that is held up between its clock and its sleep', () => {
  it('does not sleep for less than no time, which is for ever', () => {
    const semaphore = new Semaphore(0);
    const clock = vi.spyOn(performance, 'now');
    try {
      for (const times of [
        [0, 10],
        [0, 4, 10, 10],
      ]) {
        for (const time of times) clock.mockReturnValueOnce(time);
        expect(() => semaphore.acquire(1, { timeout: 5 })).toThrow(TimeoutError);
      }
    } finally {
      clock.mockRestore();
    }
    expect(semaphore.waiting).toBe(0);
  });
});
