/** How the arena learns of a death: `Arena.watch`, `Arena.reap`, and threads that are declared dead in their sleep. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { expectBuried, hold, park, recruit, taken, threadOf, upTo } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { Member, team } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(2, { core: true });
const member = () => crowd[0] as Member;

/** Returns a handle of the calling thread with some properties changed. */
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
    const arena = new Arena({ watch: false });
    expect(() => arena.watch(worker as never)).toThrow(new TypeError(`Arena.watch: worker must be a worker, ${got}`));
  });

  it('refuses a worker that has ended', async () => {
    const arena = new Arena({ watch: false });
    const late = new Member(undefined, { core: true });
    await late.leave();
    expect(() => arena.watch(late.worker)).toThrow(new Error('Arena.watch: the worker has ended already'));
  });

  it('may be called before the worker attaches or after, and twice', async () => {
    const arena = new Arena({ watch: false });
    const semaphore = new Semaphore(4, { arena, robust: true });
    const [early, late] = [recruit(arena), new Member(undefined, { core: true })];
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
    const [arena, elsewhere] = [new Arena({ watch: false }), new Arena({ watch: false })];
    const semaphore = new Semaphore(1, { arena: elsewhere, robust: true });
    const [never, stranger] = [recruit(arena), recruit(arena)];
    await hold(semaphore, stranger);
    await Promise.all([never.kill(), stranger.kill()]);
    expect(arena.threads).toBe(1);
    expect([elsewhere.threads, semaphore.available]).toEqual([2, 0]);
    // The watching thread is not bound to one arena.
    const twice = new Member(undefined, { core: true });
    for (const each of [arena, elsewhere]) {
      each.watch(twice.worker);
      await hold(new Semaphore(1, { arena: each, robust: true }), twice);
    }
    expect([arena.threads, elsewhere.threads]).toEqual([2, 3]);
    await twice.kill();
    expect([arena.threads, elsewhere.threads]).toEqual([1, 2]);
  });

  it('can be called in a worker for one that it has started', async () => {
    const arena = new Arena({ watch: false });
    const semaphore = new Semaphore(3, { arena, robust: true });
    await threadOf(semaphore, member());
    await member().run('watch-nested', { handle: semaphore.handle, permits: [2] });
    await until(() => semaphore.available === 3, 'it is reaped');
    expect(arena.threads).toBe(2);
  });

  it('is needed with { watch: false }: an unwatched worker that is terminated keeps its place', async () => {
    const arena = new Arena({ watch: false });
    const semaphore = new Semaphore(1, { arena, robust: true });
    const unwatched = new Member(undefined, { core: true });
    await hold(semaphore, unwatched);
    const handle = await threadOf(semaphore, unwatched);
    await unwatched.kill();
    expect([arena.threads, semaphore.available]).toEqual([2, 0]);
    expect(arena.reap(handle)).toBe(true);
    expect([arena.threads, semaphore.available]).toEqual([1, 1]);
  });
});

describe('Arena.watch of a worker of the web', () => {
  /** Wraps a real worker in one that has no name and no event for its end. */
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
    const arena = new Arena({ watch: false });
    const semaphore = taken(1, { arena });
    const dying = new Member(undefined, { core: true });
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
    const arena = new Arena({ watch: false });
    const worker = webWorker(member());
    const { terminate } = worker;
    const error = await failure(() => arena.watch(worker, within(arena, thread) as never));
    expect(error.constructor).toBe(Kind);
    expect(error.message).toBe(`Arena.watch: thread${message}`);
    expect(worker.terminate).toBe(terminate);
  });
});

describe('Arena.reap', () => {
  it.each([
    [undefined, TypeError, ' must be the handle of a thread (arena.thread), got undefined'],
    [null, TypeError, ' must be the handle of a thread (arena.thread), got null'],
    [3, TypeError, ' must be the handle of a thread (arena.thread), got 3'],
    ['Thread', TypeError, ' must be the handle of a thread (arena.thread), got "Thread"'],
    [{ kind: undefined }, TypeError, ' must be the handle of a thread (arena.thread), got an object (Object)'],
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
    const arena = new Arena({ watch: false });
    const error = await failure(() => arena.reap(within(arena, handle) as never));
    expect(error.constructor).toBe(Kind);
    expect(error.message).toBe(`Arena.reap: thread${message}`);
  });

  it('refuses the thread itself, which stays what it was', () => {
    const arena = new Arena({ watch: false });
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
    // With another life, the handle names another thread, which is gone.
    expect(arena.reap({ ...thread, life: thread.life + 4 })).toBe(false);
    expect(arena.threads).toBe(1);
  });

  it.each(['here', 'in a worker'])('works once, %s', async (where) => {
    const arena = new Arena({ watch: false });
    const semaphore = new Semaphore(4, { arena, robust: true });
    await threadOf(semaphore, member());
    const unwatched = new Member(undefined, { core: true });
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
    // The record belongs to another thread now, which the old handle does not affect.
    const next = new Member(undefined, { core: true });
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
    // The arena is small, so that the element soon goes to another thread.
    const arena = new Arena({ objects: 1, threads: 4, waiters: 8, watch: false });
    const memory = new Memory(arena);
    const semaphore = taken(4, { arena });
    const sleeper = new Member(undefined, { core: true });
    const thread = await threadOf(semaphore, sleeper);
    await park(semaphore, sleeper, 2, ...patience);
    const asleep = () => (memory.word(memory.record(thread.thread)) & at('LIFE_STATE')) === at('ASLEEP');
    await until(asleep, 'it sleeps');
    const [element] = memory.elementsIn(at('WAITING')) as [number];
    expect(arena.reap(thread)).toBe(true);
    expect([semaphore.waiting, arena.threads]).toEqual([0, 1]);
    semaphore.release(2);
    semaphore.acquire(2);
    // Another thread sleeps on that very element, and is woken there.
    for (const _ of upTo(3)) {
      const guests = upTo(3).map(() => new Member(undefined, { core: true }));
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
  it('is removed when it ends, as any other', async () => {
    const arena = new Arena({ watch: false });
    const semaphore = taken(1, { arena });
    const one = new Member(undefined, { core: true });
    expect(await one.run('interrupt', { handle: semaphore.handle })).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
    expect(semaphore.waiting).toBe(1);
    await one.leave();
    expect(semaphore.waiting).toBe(0);
    expectBuried(arena);
  });

  it('leaves alone what another thread has by now, if it was declared dead', async () => {
    const arena = new Arena({ threads: 2, watch: false });
    const semaphore = taken(2, { arena, robust: true });
    const [one, next] = [new Member(undefined, { core: true }), new Member(undefined, { core: true })];
    const thread = await threadOf(semaphore, one);
    expect(await one.run('interrupt', { handle: semaphore.handle })).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
    expect(arena.reap(thread)).toBe(true);
    // The next thread has the record of the first.
    expect((await threadOf(semaphore, next)).thread).toBe(thread.thread);
    semaphore.release(2);
    await hold(semaphore, next);
    await one.leave();
    expect([arena.threads, semaphore.available, semaphore.inspect().ownerDeaths]).toEqual([2, 1, 0]);
    await next.leave();
    expectBuried(arena);
  });
});
