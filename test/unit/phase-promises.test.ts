/** What promises of taketurns/sync cost together, in steps, and what those leave behind that have given up. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { Arena, DisposedError } from 'taketurns';
import { Barrier, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import type { Sync } from '../../dist/border/sync.js';
import { syncOf } from '../../dist/sync/compiled.js';
import { membershipOf } from '../support/membership.js';
import { runProgram } from '../support/program.js';
import { until } from '../support/until.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Counts the calls of a function while another runs. */
async function count<T, K extends keyof T>(of: T, name: K, run: () => unknown): Promise<number> {
  const real = of[name] as unknown as (...given: unknown[]) => unknown;
  let calls = 0;
  of[name] = ((...given: unknown[]) => {
    calls++;
    return real.apply(of, given);
  }) as never;
  try {
    await run();
  } finally {
    of[name] = real as never;
  }
  return calls;
}

const kinds: readonly [string, (arena: Arena, n: number) => { wait(): Promise<unknown>; end(): void }][] = [
  [
    'Latch',
    (arena) => {
      const latch = new Latch(1, { arena });
      return { wait: () => latch.waitAsync(), end: () => latch.countDown() };
    },
  ],
  [
    'Event, with time-outs',
    (arena) => {
      const event = new Event({ arena });
      return { wait: () => event.waitAsync({ timeout: 60_000 }), end: () => event.set() };
    },
  ],
  [
    'WaitGroup, with a signal',
    (arena) => {
      const group = new WaitGroup({ arena });
      const { signal } = new AbortController();
      group.add();
      return { wait: () => group.waitAsync({ signal }), end: () => group.done() };
    },
  ],
  [
    'Barrier',
    (arena, n) => {
      const barrier = new Barrier(n + 1, { arena });
      return { wait: () => barrier.arriveAndWaitAsync(), end: () => barrier.arriveAndWait() };
    },
  ],
  [
    'Once',
    (arena) => {
      const once = new Once({ arena });
      let end = (): void => {};
      once.runAsync(() => new Promise<void>((resolve) => (end = resolve)));
      return { wait: () => once.runAsync(() => {}), end: () => end() };
    },
  ],
  [
    'RwLock',
    (arena) => {
      const lock = new RwLock({ arena });
      lock.lockWrite();
      return { wait: () => lock.lockReadAsync(), end: () => lock.unlockWrite() };
    },
  ],
];

describe.each(kinds)('promises of a %s', (_, make) => {
  const arena = new Arena();
  const sync = syncOf(membershipOf(arena)) as { -readonly [K in keyof Sync]: Sync[K] };

  async function looks(n: number): Promise<number> {
    const { wait, end } = make(arena, n);
    let waits: Promise<unknown>[] = [];
    const begun = await count(sync, 'announce', () => {
      waits = Array.from({ length: n }, wait);
    });
    const ended = await count(sync, 'announce', () => {
      end();
      return Promise.all(waits);
    });
    return begun + ended;
  }

  it('cost no more looks each, however many wait', async () => {
    expect(await looks(1000)).toBeLessThanOrEqual(100 * (await looks(10)));
  });
});

describe('promises of a Once whose functions fail', () => {
  const arena = new Arena();
  const sync = syncOf(membershipOf(arena)) as { -readonly [K in keyof Sync]: Sync[K] };
  const fails = async (): Promise<void> => {
    await undefined;
    throw new Error('no');
  };

  it('try one after the other, and the others need not look', async () => {
    const once = new Once({ arena });
    const n = 300;
    const tries = await count(sync, 'begin', async () => {
      const ends = await Promise.allSettled(Array.from({ length: n }, () => once.runAsync(fails)));
      expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    });
    expect(tries).toBeLessThanOrEqual(3 * n);
    expect(await Promise.all([once.runAsync(() => {}), once.runAsync(() => {})])).toEqual([true, false]);
  });

  it('go on behind one that is aborted just when it is its turn', async () => {
    const once = new Once({ arena });
    // It is aborted between the end of its wait and its next step.
    const signal = {
      aborted: false,
      reason: new Error('enough'),
      addEventListener() {},
      removeEventListener() {
        signal.aborted = true;
      },
    };
    const first = once.runAsync(fails);
    const second = once.runAsync(fails, { signal });
    const third = once.runAsync(() => {});
    const fourth = once.runAsync(() => {});
    await expect(first).rejects.toThrow('no');
    await expect(second).rejects.toThrow('enough');
    expect(await Promise.all([third, fourth])).toEqual([true, false]);
    expect(once.waiting).toBe(0);
  });
});

describe('a promise whose signal ends the phase while it takes a listener', () => {
  it('leaves those that wait for the next phase to that', async () => {
    const event = new Event();
    let [later, isOver]: [Promise<unknown> | undefined, boolean] = [undefined, false];
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener() {
        event.set();
        event.reset();
        later = event.waitAsync().then(() => {
          isOver = true;
        });
      },
      removeEventListener() {},
    };
    expect(await event.waitAsync({ signal })).toBe(true);
    expect(isOver).toBe(false);
    expect(event.waiting).toBe(1);
    event.set();
    await later;
  });
});

describe('a promise whose signal disposes of the object while it takes a listener', () => {
  it('is told, and is not counted in memory that may be that of another object', async () => {
    const latch = new Latch(1);
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: () => latch.dispose(),
      removeEventListener() {},
    };
    const sync = syncOf(membershipOf(Arena.default));
    let wait: Promise<unknown> | undefined;
    const counted = await count(sync, 'waitsBegin', () => {
      wait = latch.waitAsync({ signal });
      wait.catch(() => {});
    });
    await expect(wait).rejects.toThrow(DisposedError);
    expect(counted).toBe(0);
  });
});

describe('a promise that gives up as the last one', () => {
  it('wakes no thread that sleeps there', async () => {
    const latch = new Latch(1);
    const worker = new Worker(new URL('../workers/sleeps.mjs', import.meta.url), { workerData: latch.handle });
    const sleeps = new Promise((resolve) => worker.once('message', resolve));
    await until(() => latch.waiting === 1, 'the worker waits');
    const notified = await count(Atomics, 'notify', async () => {
      for (let i = 0; i < 20; i++) {
        expect(await latch.waitAsync({ timeout: 1 })).toBe(false);
        await latch.waitAsync({ signal: AbortSignal.timeout(1) }).catch(() => {});
      }
    });
    expect(notified).toBe(0);
    latch.countDown();
    expect(await sleeps).toBe(1);
  });

  it('leaves the wait of its thread to the next, of any phase and library object', async () => {
    const event = new Event();
    const rounds = 1000;
    const waits = await count(Atomics, 'waitAsync', async () => {
      for (let i = 0; i < rounds; i++) {
        const abort = new AbortController();
        const { signal } = abort;
        const promises = Array.from({ length: 100 }, () => Event.from(event.handle).waitAsync({ signal }));
        abort.abort();
        await Promise.allSettled(promises);
        // Nobody waits, so this notifies nobody.
        if (i % 10 === 0) event.set();
        event.reset();
        if (i % 100 === 0) await sleep(1);
      }
    });
    // Each set ends the pending wait at most once.
    expect(waits).toBeLessThanOrEqual(rounds / 10 + 1);
    const [one, other] = [event.waitAsync(), Event.from(event.handle).waitAsync()];
    event.set();
    expect(await Promise.all([one, other])).toEqual([true, true]);
  });

  it('lets objects come and go at an address, in whatever phase', async () => {
    const arena = new Arena({ objects: 1 });
    const collected = async (): Promise<void> => {
      collect();
      await until(() => arena.stats().objects.used === 0, 'the object has been collected');
    };
    const giveUp = async (phase: number): Promise<void> => {
      const event = new Event({ arena });
      for (let i = 0; i < phase; i++) {
        event.set();
        event.reset();
      }
      expect(await event.waitAsync({ timeout: 1 })).toBe(false);
    };
    const waits = await count(Atomics, 'waitAsync', async () => {
      for (let i = 0; i < 30; i++) {
        await giveUp(i % 3);
        await collected();
      }
    });
    // Each object ends the wait at its address when it goes.
    expect(waits).toBe(30);
    const last = new Event({ arena });
    const promise = last.waitAsync();
    last.set();
    expect(await promise).toBe(true);
  });

  it('keeps neither the process nor the memory', async () => {
    expect(await runProgram('gives-up')).toEqual({ code: 0, out: 'false, false, 0 left\n', err: '' });
  });
});
