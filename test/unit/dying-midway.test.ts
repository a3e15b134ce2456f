/**
 * Threads die in the middle of a call. The tests do half a call, or write a few words of shared memory, by hand; the
 * search in check/ covers every moment.
 */
import { Arena, DisposedError, Semaphore, type ThreadHandle } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { expectBuried, hold, park, promise, recruit, taken, threadOf, upTo } from '../support/dying.js';
import { failure } from '../support/failure.js';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(2, { core: true });
const member = () => crowd[0] as Member;
const other = () => crowd[1] as Member;
const TICKET = at('TICKET');
const GRANT = at('GRANT');

describe.each([1, 1024])('a worker that dies in the middle of something (slots %i)', (slots) => {
  const arena = new Arena({ slots });
  const memory = new Memory(arena);

  it('of a release: the waiters whose turn has come are admitted, and no others', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
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
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
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
    expect(memory.elementsIn(at('TOMBSTONE'))).toHaveLength(1);
    await dying.run('half-release', { handle, permits: 2 });
    // The thread of the first may find by itself that it is due.
    expect(back.state).toBe('pending');
    await dying.kill();
    await until(() => back.state === 'fulfilled', 'the last is in');
    expect(front.state).toBe('fulfilled');
    expect(semaphore.available).toBe(0);
    expect(memory.standing).toEqual([]);
    expect(memory.cells).toBe(0);
    semaphore.dispose();
  });

  it('before it has woken a waiter that it has granted: the waiter is woken', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
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
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const life = semaphore.handle.address + at('O_LIFE');
    const dying = recruit(arena);
    await threadOf(semaphore, dying);
    const { entered } = await park(semaphore, member());
    const here = watch(semaphore.acquireAsync(), 0);
    await turn();
    // The object is live and has three references and a handle. The write marks it as disposed of.
    expect(memory.long(life) & 0xffffffffn).toBe(0x2000003n + BigInt(at('KEPT')));
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

  it('after it has filled the queue: its spare elements come back', async () => {
    const small = new Arena({ objects: 1, threads: 2, waiters: 8, slots });
    const semaphore = taken(1, { arena: small });
    // Each worker can take as many places as the one before.
    for (const round of upTo(3)) {
      const dying = recruit(small);
      await promise(semaphore, dying, ...upTo(20).map((i) => 1 + (i % 2)));
      // One tombstone may be left for the next release to pass.
      expect(semaphore.waiting).toBe(round === 0 ? 10 : 9);
      await expect(semaphore.acquireAsync()).rejects.toThrow(/no room for another waiter/);
      await dying.kill();
      expect(semaphore.waiting).toBe(0);
    }
  });

  it('of making an object: its memory is free again', async () => {
    const arena = new Arena({ objects: 2, slots });
    const memory = new Memory(arena);
    const semaphore = new Semaphore(1, { arena });
    const next = new Semaphore(1, { arena });
    const life = next.handle.address + at('O_LIFE');
    next.dispose();
    const dying = recruit(arena);
    const { thread } = await threadOf(semaphore, dying);
    // The object is free, in generation 1. The write says that the worker builds it; see core/arena/objects.ts.
    expect(memory.long(life)).toBe(1n << 32n);
    memory.write(life, (1n << 32n) | 0x1000000n | BigInt(thread));
    expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
    await dying.kill();
    expect(new Semaphore(7, { arena }).available).toBe(7);
  });

  it('of reaping: the next thread finishes it', async () => {
    const arena = new Arena({ slots, watch: false });
    const memory = new Memory(arena);
    const semaphore = new Semaphore(2, { arena, robust: true });
    // Both are unwatched: the first is declared dead, and the reaper dies before it has buried the first.
    const [first, reaper, third] = [
      new Member(undefined, { core: true }),
      new Member(undefined, { core: true }),
      new Member(undefined, { core: true }),
    ];
    arena.watch(third.worker);
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
    // The registered reaper is alive as far as any thread knows, so it keeps the job.
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
