/**
 * A request that times out or is aborted leaves the queue at once, and no permit is lost or made.
 * test/stress/cancelling.test.ts has threads that cancel at the same instant, and check/ has every interleaving.
 */
import { getEventListeners } from 'node:events';
import {
  Arena,
  ArenaFullError,
  DisposedError,
  HeldPermits,
  Mutex,
  Semaphore,
  TimeoutError,
  type WaitOptions,
} from 'taketurns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, tombstones, upTo } from '../support/cancelling.js';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(4, { core: true });
const member = () => crowd[0] as Member;
const other = () => crowd[1] as Member;
const LONG = 600_000;
const LONGEST = 2 ** 31 - 1;

afterEach(() => {
  vi.restoreAllMocks();
});

const ways = ['acquire', 'acquireAsync', 'hold', 'holdAsync'] as const;

/** Puts a worker in line. The function that it returns makes the worker cancel, and returns the core's answers. */
async function beginParking(semaphore: Semaphore, permits: number, who = member()) {
  const told = new Int32Array(new SharedArrayBuffer(12));
  const answers = who.run<number[]>('cancel-when-told', { handle: semaphore.handle, permits, told });
  await until(() => Atomics.load(told, 1) === 1, 'it stands in line');
  const cancel = () => {
    Atomics.store(told, 0, 1);
    Atomics.notify(told, 0);
    return answers;
  };
  return Object.assign(cancel, { told });
}

describe.each(ways)('%s: bad options', (way) => {
  const bad: [object | unknown, typeof RangeError | typeof TypeError, string][] = [
    [{ timeout: Number.NaN }, RangeError, `timeout must be from 0 to ${LONGEST} milliseconds or Infinity, got NaN`],
    [{ timeout: -1 }, RangeError, 'or Infinity, got -1'],
    [{ timeout: Number.NEGATIVE_INFINITY }, RangeError, 'or Infinity, got -Infinity'],
    [{ timeout: LONGEST + 1 }, RangeError, 'or Infinity, got 2147483648'],
    [{ timeout: '5' }, TypeError, 'timeout must be from 0 to 2147483647 milliseconds or Infinity, got "5"'],
    [{ timeout: 5n }, TypeError, 'timeout must be from 0 to 2147483647 milliseconds or Infinity, got 5n'],
    [{ timeout: null }, TypeError, 'timeout must be from 0 to 2147483647 milliseconds or Infinity, got null'],
    [{ signal: null }, TypeError, 'signal must be an AbortSignal, got null'],
    [{ signal: 'stop' }, TypeError, 'signal must be an AbortSignal, got "stop"'],
    [{ signal: { aborted: false } }, TypeError, 'signal must be an AbortSignal, got an object (Object)'],
    [{ signal: new AbortController() }, TypeError, 'signal must be an AbortSignal, got an object (AbortController)'],
    [{ signal: new EventTarget() }, TypeError, 'signal must be an AbortSignal, got an object (EventTarget)'],
    [null, TypeError, 'options must be of { timeout, signal }, got null'],
    [100, TypeError, 'options must be of { timeout, signal }, got 100'],
    ['soon', TypeError, 'options must be of { timeout, signal }, got "soon"'],
  ];

  it.each(bad)('%o', async (patience, Kind, message) => {
    // They are refused whether there are permits or not.
    for (const permits of [0, 1]) {
      const semaphore = new Semaphore(permits);
      const error = await failure(() => semaphore[way](1, patience as WaitOptions));
      expect((error as Error).constructor).toBe(Kind);
      expect((error as Error).message).toMatch(new RegExp(`^Semaphore.${way}: `));
      expect((error as Error).message).toContain(message);
      expect(semaphore.available).toBe(permits);
      expect(semaphore.waiting).toBe(0);
      semaphore.dispose();
    }
  });

  it('checks the number of permits first', async () => {
    const semaphore = new Semaphore(1);
    const error = await failure(() => semaphore[way](0, { timeout: -1 }));
    expect((error as Error).message).toContain('permits must be');
  });

  it.each([{}, { timeout: undefined, signal: undefined }, { timeout: Number.POSITIVE_INFINITY }, { timeout: LONGEST }])(
    'accepts %o',
    async (patience) => {
      const semaphore = new Semaphore(1);
      const { signal } = new AbortController();
      await semaphore[way](1, patience as WaitOptions);
      expect(semaphore.available).toBe(0);
      semaphore.release();
      await semaphore[way](1, { signal, ...patience } as WaitOptions);
      expect(semaphore.available).toBe(0);
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    },
  );
});

describe.each(ways)('%s', (way) => {
  it('with a time-out of 0 takes free permits', async () => {
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
      expect(await failure(() => semaphore[way](1, { timeout, signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(await failure(() => semaphore[way](1, { signal: AbortSignal.abort() }))).toMatchObject({
        name: 'AbortError',
      });
      expect(semaphore.available).toBe(permits);
      expect(semaphore.waiting).toBe(0);
      expect(memory.long(semaphore.handle.address + at('TICKET'))).toBe(0n);
      expect(memory.standing).toEqual([]);
    }
  });

  it.each([0.01, 1, 1.5])('cancels after %d ms, and leaves nothing behind', async (timeout) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = tuned(new Semaphore(1, { arena, max: 3 }), { spin: 0 });
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

  it('of a disposed semaphore gets a DisposedError, whatever the time-out', async () => {
    for (const timeout of [0, 1, LONG, Number.POSITIVE_INFINITY]) {
      const semaphore = new Semaphore(0);
      semaphore.dispose();
      expect(await failure(() => semaphore[way](1, { timeout }))).toBeInstanceOf(DisposedError);
    }
  });

  it('gets its permits in time, from another thread', async () => {
    const semaphore = tuned(new Semaphore(0), { spin: 0 });
    // The permits do not come from a promise of this thread, which may be blocked meanwhile.
    member().run('release', { handle: semaphore.handle, permits: [2] });
    const held = await semaphore[way](2, { timeout: LONG, signal: new AbortController().signal });
    expect(semaphore.available).toBe(0);
    if (held instanceof HeldPermits) held.release();
    else semaphore.release(2);
    expect(semaphore.available).toBe(2);
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

describe.each([1, 2, 1024])('a blocked thread that cancels (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const memory = new Memory(arena);

  it.each([0, 1, 2])('frees those behind it, when %i of its 3 permits were granted', async (granted) => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const log: number[] = [];
    const cancel = await beginParking(semaphore, 3);
    for (const i of upTo(3)) watch(semaphore.acquireAsync(), i, log);
    const last = await beginParking(semaphore, 1, other());
    await turn();
    if (granted) semaphore.release(granted);
    expect(semaphore.waiting).toBe(5);
    expect(await cancel()).toEqual([at('QUEUED'), at('CANCELLED')]);
    await until(() => log.length === granted, 'they are in');
    expect(semaphore.waiting).toBe(4 - granted);
    semaphore.release(4 - granted);
    await until(() => log.length === 3, 'all promises are in');
    expect(log).toEqual(upTo(3));
    // It is granted and last in line: it may take the permit or leave it.
    const [, answer] = await last();
    expect(semaphore.available).toBe(answer === at('ADMITTED') ? 0 : 1);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('says what was waited for, what is available, and how many others wait', async () => {
    const semaphore = new Semaphore(1, { max: 3 });
    semaphore.acquire();
    const others = [semaphore.acquireAsync(), semaphore.acquireAsync()];
    const one = 'waiting for 1 permit of the Semaphore (0 available, 2 waiting)';
    expect(() => semaphore.acquire({ timeout: 0 })).toThrow(new TimeoutError(`timed out after 0 ms ${one}`));
    expect(() => semaphore.acquire({ timeout: 2 })).toThrow(new TimeoutError(`timed out after 2 ms ${one}`));
    await expect(semaphore.acquireAsync({ timeout: 2 })).rejects.toThrow(`timed out after 2 ms ${one}`);
    await expect(semaphore.acquireAsync(3, { timeout: 0 })).rejects.toThrow(
      'timed out after 0 ms waiting for 3 permits of the Semaphore (0 available, 2 waiting)',
    );
    semaphore.release();
    semaphore.release();
    await Promise.all(others);
  });

  it('says what is available to others once the request has left, of a call that blocks and of a promise alike', async () => {
    const semaphore = new Semaphore(3);
    semaphore.acquire();
    const all = 'timed out after 2 ms waiting for 3 permits of the Semaphore (2 available, 0 waiting)';
    expect(() => semaphore.acquire(3, { timeout: 2 })).toThrow(all);
    await expect(semaphore.acquireAsync(3, { timeout: 2 })).rejects.toThrow(all);
    const behind = semaphore.acquireAsync(3, { timeout: 2 });
    const one = semaphore.acquireAsync();
    await expect(behind).rejects.toThrow(
      'timed out after 2 ms waiting for 3 permits of the Semaphore (1 available, 0 waiting)',
    );
    await one;
  });

  it('last in line leaves no trace', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const cancel = await beginParking(semaphore, 3);
    semaphore.release(2);
    expect(semaphore.available).toBe(0);
    expect(await cancel()).toEqual([at('QUEUED'), at('CANCELLED')]);
    expect(semaphore.available).toBe(2);
    expect(semaphore.waiting).toBe(0);
    expect(memory.cells).toBe(0);
  });

  it('keeps its permits if they came first, and those behind it wait', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const cancel = await beginParking(semaphore, 3);
    const behind = watch(semaphore.acquireAsync(), 0);
    semaphore.release(3);
    expect(await cancel()).toEqual([at('QUEUED'), at('ADMITTED')]);
    await turn();
    expect(behind.state).toBe('pending');
    semaphore.release();
    await reactions();
    expect(behind.state).toBe('fulfilled');
    expect(semaphore.available).toBe(0);
  });

  it('gets a DisposedError if a dispose came first', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const cancel = await beginParking(semaphore, 3);
    const behind = watch(semaphore.acquireAsync(), 0);
    semaphore.dispose();
    expect(await cancel()).toEqual([at('QUEUED'), at('ANSWER_CLOSED')]);
    await reactions();
    expect(behind.error).toBeInstanceOf(DisposedError);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('leaves a tombstone that a dispose removes', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const front = watch(semaphore.acquireAsync(), 0);
    const cancel = await beginParking(semaphore, 3);
    const behind = watch(semaphore.acquireAsync(), 1);
    expect(await cancel()).toEqual([at('QUEUED'), at('CANCELLED')]);
    expect(tombstones(memory)).toBe(1);
    semaphore.dispose();
    await reactions();
    expect([front.state, behind.state]).toEqual(['rejected', 'rejected']);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('and its neighbours leave one tombstone at most', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const log: number[] = [];
    watch(semaphore.acquireAsync(), 0, log);
    const one = await beginParking(semaphore, 3);
    const promise = ask(semaphore, 2);
    const two = await beginParking(semaphore, 1, other());
    watch(semaphore.acquireAsync(), 1, log);
    expect(await two()).toEqual([at('QUEUED'), at('CANCELLED')]);
    expect(await one()).toEqual([at('QUEUED'), at('CANCELLED')]);
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

  it('gets a TimeoutError in its own thread', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const { handle } = semaphore;
    const error = await failure(() => member().run('enter', { handle, permits: [1, { timeout: 1 }] }));
    expect((error as Error).name).toBe('TimeoutError');
    expect(semaphore.waiting).toBe(0);
  });
});

describe('an arena without a free element', () => {
  /** Queues promises until the arena has no element left. Returns how many permits they wait for. */
  async function fill(semaphore: Semaphore): Promise<number> {
    let taken = 0;
    for (let i = 0; ; i++) {
      // Each asks for another number of permits than the one before, and so needs an element of its own.
      const n = 1 + (i % 2);
      const request = watch(semaphore.acquireAsync(n), n);
      await reactions();
      if (request.state === 'rejected') return taken;
      taken += n;
    }
  }

  it('does not keep a thread that waits from its time-out, with others behind it', async () => {
    const arena = new Arena({ objects: 1, threads: 2, waiters: 8 });
    const memory = new Memory(arena);
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const cancel = await beginParking(semaphore, 3);
    const taken = await fill(semaphore);
    const { waiting } = semaphore;
    expect(await cancel()).toEqual([at('QUEUED'), at('CANCELLED')]);
    expect(semaphore.inspect()).toMatchObject({ waiting: waiting - 1, cancelled: 3, timeouts: 1 });
    semaphore.release(taken);
    expect(semaphore.inspect()).toMatchObject({ waiting: 0, cancelled: 0, available: 0 });
    await reactions();
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
  });

  it('refuses a request with a time-out that would have to wait, since it could not cancel it', async () => {
    const arena = new Arena({ objects: 3, threads: 2, waiters: 8 });
    const filler = new Semaphore(0, { arena });
    const [semaphore, mutex] = [new Semaphore(1, { arena }), new Mutex({ arena })];
    await fill(filler);
    const { elements } = arena.stats();
    expect(elements.used).toBe(elements.capacity);
    // What waits for nothing needs no element.
    semaphore.acquire(1, { timeout: LONG });
    mutex.lock({ timeout: LONG });
    mutex.unlock();
    for (const timeout of [0.1, LONG]) {
      expect(() => semaphore.acquire(1, { timeout })).toThrow(ArenaFullError);
      await expect(semaphore.acquireAsync(1, { timeout })).rejects.toBeInstanceOf(ArenaFullError);
    }
    expect(() => semaphore.acquire(1, { timeout: 0 })).toThrow(TimeoutError);
    expect(semaphore.inspect()).toMatchObject({ waiting: 0, cancelled: 0, timeouts: 0, available: 0 });
    filler.dispose();
    await reactions();
    expect(() => semaphore.acquire(1, { timeout: 1 })).toThrow(TimeoutError);
  });

  it('refuses a lock with a time-out, too, and has room again later', async () => {
    const arena = new Arena({ objects: 2, threads: 2, waiters: 8 });
    const filler = new Semaphore(0, { arena });
    const mutex = new Mutex({ arena });
    await member().run('mutex-hold', { handle: mutex.handle });
    await fill(filler);
    for (const timeout of [0.1, LONG]) expect(() => mutex.lock({ timeout })).toThrow(ArenaFullError);
    expect(mutex.inspect()).toMatchObject({ waiting: 0, timeouts: 0, locked: true });
    filler.dispose();
    await reactions();
    expect(() => mutex.lock({ timeout: 1 })).toThrow(TimeoutError);
  });
});

describe('a thread that is delayed between reading the clock and sleeping', () => {
  it('does not sleep for a negative time, which would be for ever', () => {
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
