/** Promises: their order, the one doorbell of a thread, and how they keep the process alive. */
import { Arena, ArenaFullError, DisposedError, Semaphore } from 'taketurns';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Memory } from '../support/memory.js';
import { runProgram } from '../support/program.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { reactions, turn, until } from '../support/until.js';

const crowd = team(2, { core: true });
const [member, other] = [() => crowd[0] as Member, () => crowd[1] as Member];
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

afterEach(() => {
  vi.restoreAllMocks();
});

describe('order', () => {
  it('is that of the calls, for 10,000 promises', async () => {
    const semaphore = new Semaphore(0);
    const log: number[] = [];
    const promises = upTo(10_000).map((i) => semaphore.acquireAsync().then(() => log.push(i)));
    expect(semaphore.waiting).toBe(10_000);
    // This thread releases some one by one and some together; another thread releases the rest.
    for (let i = 0; i < 3000; i++) semaphore.release();
    for (let i = 0; i < 30; i++) semaphore.release(100);
    await reactions();
    expect(log).toHaveLength(6000);
    expect(semaphore.waiting).toBe(4000);
    const { handle } = semaphore;
    await Promise.all([
      member().run('release', { handle, times: 2000 }),
      other().run('release', { handle, permits: [100], times: 20 }),
    ]);
    await Promise.all(promises);
    expect(log).toEqual(upTo(10_000));
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.available).toBe(0);
  });

  it('is kept by 10,000 promises that pass one permit on', async () => {
    const semaphore = new Semaphore(1);
    const log: number[] = [];
    let inside = 0;
    await Promise.all(
      upTo(10_000).map(async (i) => {
        await semaphore.acquireAsync();
        log.push(i);
        expect(++inside).toBe(1);
        if (i % 7 === 0) await undefined;
        inside--;
        semaphore.release();
      }),
    );
    expect(log).toEqual(upTo(10_000));
    expect(semaphore.available).toBe(1);
  });

  it('is kept by promises that are due, but not settled yet, when one more comes', async () => {
    const semaphore = new Semaphore(0);
    const { handle } = semaphore;
    const log: string[] = [];
    watch(semaphore.acquireAsync(), 'first', log);
    // The other thread releases while this one is not in its event loop.
    const done = new Int32Array(new SharedArrayBuffer(4));
    member().run('release-and-tell', { handle, permits: [2], done });
    expect(Atomics.wait(done, 0, 0, 20_000)).not.toBe('timed-out');
    watch(semaphore.acquireAsync(), 'second', log);
    await until(() => log.length === 2, 'both are in');
    expect(log).toEqual(['first', 'second']);
  });
});

describe('the doorbell', () => {
  /** Counts the waits that are pending in the runtime, and how many were pending at once at most. */
  function spy() {
    const real = Atomics.waitAsync;
    const count = { calls: 0, pending: 0, most: 0 };
    vi.spyOn(Atomics, 'waitAsync').mockImplementation(((...args: Parameters<typeof real>) => {
      const result = real.apply(Atomics, args);
      count.calls++;
      if (result.async) {
        count.most = Math.max(count.most, ++count.pending);
        result.value.then(() => count.pending--);
      }
      return result;
    }) as never);
    return count;
  }

  it('is waited for once, however many promises wait', async () => {
    const arena = new Arena();
    const count = spy();
    const semaphores = upTo(5).map(() => new Semaphore(0, { arena }));
    const promises = semaphores.flatMap((semaphore) => upTo(100).map(() => semaphore.acquireAsync()));
    expect(count.calls, 'before the thread can sleep').toBe(0);
    await turn();
    expect(count).toEqual({ calls: 1, pending: 1, most: 1 });
    for (const semaphore of semaphores) {
      // A release by this thread rings no bell.
      semaphore.release(50);
      await reactions();
      expect(count).toEqual({ calls: 1, pending: 1, most: 1 });
    }
    await Promise.all(
      semaphores.map((semaphore, i) =>
        (i % 2 ? member() : other()).run('release', { handle: semaphore.handle, times: 50 }),
      ),
    );
    await Promise.all(promises);
    // The next promises need no second wait beside the one that is still pending.
    for (const semaphore of semaphores) {
      for (let i = 0; i < 20; i++) {
        const promise = semaphore.acquireAsync();
        semaphore.release();
        await promise;
      }
    }
    expect(count.most).toBe(1);
    expect(count.calls).toBeLessThanOrEqual(500);
  });

  it.each([
    ['not entered', reactions],
    ['entered', turn],
  ])('is not rung by the thread itself, which settles its own promises before it returns (%s)', async (_, pass) => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const one = watch(semaphore.acquireAsync(), 1);
    const two = watch(semaphore.acquireAsync(2), 2);
    await pass();
    semaphore.release();
    await reactions();
    expect(one.state).toBe('fulfilled');
    expect(two.state).toBe('pending');
    await pass();
    semaphore.dispose();
    await reactions();
    expect(two.state).toBe('rejected');
    expect(memory.doorbell(arena.thread.thread), 'rings').toBe(0);
  });

  it.each([1, 2, 1024])(
    'leaves no due promise waiting, though another thread has not finished its release (slots %i)',
    async (slots) => {
      const arena = new Arena({ slots });
      const memory = new Memory(arena);
      for (const mine of [1, 2, 3]) {
        const semaphore = new Semaphore(0, { arena });
        const log: number[] = [];
        for (const i of upTo(4)) watch(semaphore.acquireAsync(), i, log);
        // The other thread has yet to look for waiters. It will find none: this thread has settled all that are due.
        memory.beginRelease(semaphore, 4 - mine);
        semaphore.release(mine);
        await reactions();
        expect(log).toEqual(upTo(4));
        semaphore.dispose();
      }
    },
  );

  it('is rung by other threads, once for all promises that they make due at once', async () => {
    const arena = new Arena();
    const memory = new Memory(arena);
    const semaphore = new Semaphore(0, { arena });
    const settlings = [1, 2, 3].map((i) => watch(semaphore.acquireAsync(), i));
    // Until the thread can sleep, it looks for grants itself.
    await turn();
    await member().run('release', { handle: semaphore.handle, permits: [2] });
    await until(() => settlings[0]?.state === 'fulfilled' && settlings[1]?.state === 'fulfilled', 'two are in');
    expect(memory.doorbell(arena.thread.thread), 'rings').toBe(1);
    await member().run('dispose', { handle: semaphore.handle });
    await until(() => settlings[2]?.state === 'rejected', 'the third is told');
    expect(settlings[2]?.error).toBeInstanceOf(DisposedError);
    expect(memory.doorbell(arena.thread.thread), 'rings').toBe(2);
  });
});

describe('a promise', () => {
  it('is settled when its semaphore is reachable through it alone', async () => {
    const handles: Semaphore['handle'][] = [];
    const promises = upTo(50).map(() => {
      const semaphore = new Semaphore(0);
      handles.push(semaphore.handle);
      return semaphore.acquireAsync();
    });
    await collect();
    for (const handle of handles) await member().run('release', { handle });
    await Promise.all(promises);
  });

  it('lets go of a semaphore that another thread disposes of, when it is rejected', async () => {
    const arena = new Arena({ objects: 1 });
    const semaphore = new Semaphore(0, { arena });
    const settling = watch(semaphore.acquireAsync(), 0);
    await member().run('dispose', { handle: semaphore.handle });
    await until(() => settling.state === 'rejected', 'it is told');
    expect(settling.error).toBeInstanceOf(DisposedError);
    expect(semaphore.disposed).toBe(true);
    // No thread refers to the object any more.
    expect(() => new Semaphore(1, { arena })).not.toThrow();
  });
});

describe('a semaphore that is garbage-collected', () => {
  it('gives its memory back once it is disposed of', async () => {
    const arena = new Arena({ objects: 1 });
    const { handle } = new Semaphore(0, { arena });
    await member().run('dispose', { handle });
    // The library object in this thread was collected without dispose, and has not noticed the disposal.
    let next: Semaphore | undefined;
    for (let i = 0; i < 200 && !next; i++) {
      await collect();
      try {
        next = new Semaphore(1, { arena });
      } catch (error) {
        expect(error).toBeInstanceOf(ArenaFullError);
      }
    }
    expect(next?.available).toBe(1);
  });
});

describe('no room for another waiter', () => {
  it.each([8, 20])('rejects, loses nothing, and has room again later (%i waiters)', async (waiters) => {
    const arena = new Arena({ objects: 1, threads: 1, waiters });
    const semaphore = new Semaphore(0, { arena });
    for (let round = 0; round < 3; round++) {
      const log: number[] = [];
      let count = 0;
      while (true) {
        // Each asks for another number of permits than the one before, and so needs an element of its own.
        const settling = watch(semaphore.acquireAsync(1 + (count % 2)), count, log);
        await reactions();
        if (settling.state === 'rejected') {
          expect(settling.error).toBeInstanceOf(ArenaFullError);
          expect((settling.error as Error).message).toContain('waiters');
          break;
        }
        count++;
      }
      // The arena has four elements more: one is the thread's spare, one is its attachment to the semaphore.
      expect(count).toBe(waiters + 2);
      expect(semaphore.waiting).toBe(count);
      await expect(semaphore.acquireAsync(3)).rejects.toBeInstanceOf(ArenaFullError);
      // A thread may still block, since it has an element of its own. Attempts need none.
      expect(semaphore.tryAcquire()).toBe(false);
      for (let i = 0; i < count; i++) semaphore.release(1 + (i % 2));
      await reactions();
      expect(log).toEqual(upTo(count));
      expect(semaphore.available).toBe(0);
      semaphore.release(2);
      await semaphore.acquireAsync(2);
      expect(semaphore.available).toBe(0);
    }
  });
});

describe('the process', () => {
  it('stays alive while a promise is pending, and ends by itself', async () => {
    expect(await runProgram('pending-released')).toEqual({ code: 0, out: 'admitted\n', err: '' });
  });

  it('ends at once when no promise is pending any more', async () => {
    expect(await runProgram('nothing-pending')).toEqual({ code: 0, out: 'done\n', err: '' });
  });

  it('a worker stays alive while a promise of its own is pending, and ends by itself', async () => {
    expect(await runProgram('worker-pending')).toEqual({ code: 0, out: 'admitted\nexit 0\n', err: '' });
  });

  it('a worker that exits does not disturb the promises of others', async () => {
    expect(await runProgram('worker-exits')).toEqual({
      code: 0,
      out: 'main admitted\nworker admitted\n',
      err: '',
    });
  });
});

async function collect(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  await new Promise((resolve) => setImmediate(resolve));
}
