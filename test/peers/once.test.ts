/**
 * What others check of calling something once, as far as `Once` promises the same: once_test.go and oncefunc_test.go of
 * Go (src/sync), tst-once1 to 5 of glibc (nptl), src/once.rs of parking_lot and tests/sync_once_cell.rs of tokio. Each
 * test names the case that it follows.
 *
 * In Go a function that panics has been called, and in parking_lot its object is poisoned. Here, as in glibc and in
 * `call_once_force`, the next tries. Where the others cancel a thread, it is terminated here, or exits.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Once } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { isSettled } from '../support/settled.js';
import { Member, team, together } from '../support/team.js';
import { turn, until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const THREADS = 6;
const members = team(THREADS);
/** For what never happens. */
const timeout = 60_000;

interface Ran {
  readonly called: number;
  readonly early: number;
  readonly failed: number;
}

/** All threads run the same objects at the same moment. Returns what came of it, and how often each was called. */
async function stampede(objects: readonly Once[], args: object = {}) {
  const handles = objects.map(({ handle }) => handle);
  const words = new Int32Array(new SharedArrayBuffer(8 * objects.length));
  const ran = await together<Ran>(members, 'run-once', { handles, words, ...args });
  const sum = (what: keyof Ran) => ran.reduce((total, each) => total + each[what], 0);
  const counts = objects.map((_, i) => Atomics.load(words, 2 * i));
  return { called: sum('called'), early: sum('early'), failed: sum('failed'), counts };
}

const many = (count: number) => Array.from({ length: count }, () => new Once());

describe('once_test.go', () => {
  it('TestOnce: it is called once, and all see that it has been', async () => {
    const objects = many(100);
    const { called, early, counts } = await stampede(objects);
    expect([called, early]).toEqual([objects.length, 0]);
    expect(counts).toEqual(objects.map(() => 1));
    expect(objects.every(({ done }) => done)).toBe(true);
  });

  it('TestOncePanic: what fails may be tried again, and is not called after a success', () => {
    const once = new Once();
    for (const _ of [1, 2]) {
      expect(() =>
        once.run(() => {
          throw new Error('failed');
        }),
      ).toThrow('failed');
    }
    expect(once.run(() => {})).toBe(true);
    expect(once.run(() => expect.unreachable('called twice'))).toBe(false);
  });
});

describe('oncefunc_test.go', () => {
  it('TestOnceFunc, TestOnceFuncPanicTraceback: an error has the trace of where it was thrown', () => {
    function onceFuncPanic(): void {
      throw new Error('x');
    }
    try {
      new Once().run(onceFuncPanic);
      expect.unreachable();
    } catch (error) {
      expect((error as Error).stack).toContain('onceFuncPanic');
    }
  });

  it('TestOnceFuncGoexit: a thread that ends within the function has not done it', async () => {
    const once = new Once();
    const ending = new Member();
    const job = ending.run('end-in-once', { handle: once.handle, exits: true });
    await expect(job).rejects.toThrow('the worker has exited');
    expect(once.run(() => {}, { timeout })).toBe(true);
    expect(once.inspect().deaths).toBe(1);
  });

  it('TestOnceXGC: the function is kept until it has been called, and not afterwards', async () => {
    const [once, waits] = [new Once(), new Once()];
    let end = (): void => {};
    const first = waits.runAsync(() => new Promise<void>((resolve) => (end = resolve)));
    const make = () => {
      const functions = [once, waits].map((object) => {
        const fn = async () => {};
        return { object, fn, ref: new WeakRef(fn), run: object.runAsync(fn) };
      });
      return functions.map(({ ref, run }) => ({ ref, run }));
    };
    const [done, waiting] = make();
    await done?.run;
    await turn();
    collect();
    expect(waiting?.ref.deref(), 'the function of one that waits').toBeDefined();
    end();
    await Promise.all([first, waiting?.run]);
    await until(() => {
      collect();
      return done?.ref.deref() === undefined && waiting?.ref.deref() === undefined;
    }, 'the functions are collected');
    expect([once.done, waits.done]).toEqual([true, true]);
  });
});

describe('tst-once of glibc', () => {
  it('tst-once1: the second call does nothing', () => {
    const once = new Once();
    let global = 0;
    expect([once.run(() => void global++), once.run(() => void global++), global]).toEqual([true, false, 1]);
  });

  it('tst-once2: those who come while it runs go on when it has ended', async () => {
    const objects = many(5);
    const { called, early, counts } = await stampede(objects, { lasts: 20_000_000 });
    expect([called, early]).toEqual([objects.length, 0]);
    expect(counts).toEqual(objects.map(() => 1));
  });

  it('tst-once3: after the death of the thread that runs it another calls it', async () => {
    const once = new Once();
    const dying = new Member();
    dying.run('end-in-once', { handle: once.handle });
    await until(() => once.inspect().runner !== undefined, 'it runs');
    await dying.kill();
    expect(once.run(() => {}, { timeout })).toBe(true);
    expect(once.done).toBe(true);
  });

  it('tst-once4: one that waits for a thread which dies calls it, also twice in turn', async () => {
    const once = new Once();
    const dying = [new Member(), new Member()];
    for (const [i, member] of dying.entries()) {
      member.run('end-in-once', { handle: once.handle });
      await until(() => (i === 0 ? once.inspect().runner !== undefined : once.waiting === i), 'it runs, or waits');
    }
    const barrier = new Int32Array(new SharedArrayBuffer(4));
    const words = new Int32Array(new SharedArrayBuffer(8));
    const last = members[0]?.run<Ran>('run-once', { handles: [once.handle], words, barrier, parties: 1 });
    await until(() => once.waiting === 2, 'the last waits, too');
    for (const deaths of [1, 2]) {
      const runner = deaths === 1 ? dying[0] : dying[1];
      if (once.done) break; // The last one came first.
      await runner?.kill();
      await until(() => once.inspect().deaths === deaths || once.done, 'the death is noticed');
      await until(() => once.done || once.inspect().runner !== undefined, 'the next runs it');
    }
    expect(await last).toEqual({ called: 1, early: 0, failed: 0 });
    expect(Atomics.load(words, 0)).toBe(1);
    for (const member of dying) await member.kill();
  });

  it('tst-once5: what throws is thrown to its caller, and the next call tries, until one succeeds', () => {
    const once = new Once();
    let tries = 0;
    const init = () => {
      if (tries++ < 2) throw new RangeError('not yet');
    };
    for (const _ of [1, 2]) expect(() => once.run(init)).toThrow(RangeError);
    expect([once.run(init), once.done, tries]).toEqual([true, true, 3]);
  });
});

describe('once.rs of parking_lot', () => {
  it('smoke_once: by a promise and by a blocking call', async () => {
    const once = new Once();
    let a = 0;
    await once.runAsync(() => void a++);
    once.run(() => void a++);
    await once.runAsync(() => void a++);
    expect(a).toBe(1);
  });

  it.each(['run', 'runAsync'])('stampede_once, poison_bad: by %s, where the first fails', async (method) => {
    const objects = many(50);
    const { called, early, failed, counts } = await stampede(objects, { method, fails: true, lasts: 2000 });
    expect([called, early, failed]).toEqual([objects.length, 0, objects.length]);
    expect(counts).toEqual(objects.map(() => 2));
  });

  it('wait_for_force_to_finish: after a failure one runs it, and another waits for that', async () => {
    const once = new Once();
    await expect(once.runAsync(() => Promise.reject(new Error('poison')))).rejects.toThrow('poison');
    let end = (): void => {};
    const forced = once.runAsync(() => new Promise<void>((resolve) => (end = resolve)));
    const words = new Int32Array(new SharedArrayBuffer(8));
    Atomics.store(words, 1, 1);
    const barrier = new Int32Array(new SharedArrayBuffer(4));
    const other = members[0]?.run<Ran>('run-once', { handles: [once.handle], words, barrier, parties: 1 });
    await until(() => once.waiting === 1, 'the other waits');
    end();
    expect(await forced).toBe(true);
    expect(await other).toEqual({ called: 0, early: 0, failed: 0 });
  });
});

describe('sync_once_cell.rs', () => {
  it('get_or_init: the second waits for the first, and its function is not called', async () => {
    const once = new Once();
    let end = (): void => {};
    const first = once.runAsync(() => new Promise<void>((resolve) => (end = resolve)));
    const second = once.runAsync(() => expect.unreachable('called twice'));
    expect(await isSettled(second)).toBe(false);
    end();
    expect([await first, await second, once.done]).toEqual([true, false, true]);
  });

  it('get_or_init_panic: a second function that would fail is not called', async () => {
    const once = new Once();
    const runs = [once.runAsync(async () => {}), once.runAsync(() => Promise.reject(new Error('panic')))];
    expect(await Promise.all(runs)).toEqual([true, false]);
  });

  it('set_while_initializing: nobody else does it while one is at it', async () => {
    const once = new Once();
    let end = (): void => {};
    const first = once.runAsync(() => new Promise<void>((resolve) => (end = resolve)));
    expect(() => once.run(() => expect.unreachable('at once'), { timeout: 0 })).toThrow('timed out after 0 ms');
    await expect(once.runAsync(() => expect.unreachable('at once'), { timeout: 0 })).rejects.toThrow(
      'timed out after 0 ms',
    );
    end();
    expect(await first).toBe(true);
  });
});
