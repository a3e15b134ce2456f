/** What reports say of programs that hang: test/programs/hangs.mjs. Each program is a process of its own. */
import type { ArenaReport, Deadlocks } from 'taketurns/report';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { allInCi } from '../support/rounds.js';

type Hung = ArenaReport & { readonly found: Deadlocks };

async function hang(...args: (string | number)[]): Promise<[Hung, string]> {
  const { out, err } = await runProgram('hangs', args);
  return [JSON.parse(out) as Hung, err];
}

/** Returns the names of what the threads of a deadlock hold and wait for. */
const namesIn = ({ deadlocks }: ArenaReport) =>
  deadlocks.map(({ edges }) => edges.map(({ holds, waitsFor }) => `${holds?.name} ${waitsFor.name}`).sort());

describe.concurrent('a ring of threads that each hold what another waits for', () => {
  it.each(allInCi([2, 3, 8]))('of %i is named whole, and warned of once', async (size) => {
    const [report, err] = await hang('ring', size);
    const ring = Array.from({ length: size }, (_, i) => `m${i} m${(i + 1) % size}`).sort();
    expect(namesIn(report)).toEqual([ring]);
    expect(report.found.certain).toHaveLength(1);
    expect(report.deadlocks[0]?.behind).toEqual([]);
    expect(err.match(/TaketurnsWarning: deadlock: /g)).toHaveLength(1);
    for (let i = 0; i < size; i++) expect(err).toContain(`Mutex "m${i}"`);
    for (const { threadId } of report.threads) if (threadId !== 0) expect(err).toContain(`threadId ${threadId},`);
  });

  it('is warned of once, although the thread looks again', async () => {
    const [, err] = await hang('ring', 2, 'warn', 20, 3500);
    expect(err.match(/TaketurnsWarning: deadlock: /g)).toHaveLength(1);
  });

  it('says nothing if deadlocks are to be ignored', async () => {
    const [report, err] = await hang('ring', 2, 'ignore');
    expect(report.deadlocks).toHaveLength(1);
    expect(err).toBe('');
  });

  it.each(allInCi([2, 3]))('of %i ends if deadlocks throw: one thread leaves, and all go on', async (size) => {
    const { out, err } = await runProgram('hangs', ['thrown', size, 'throw']);
    const { heard, left } = JSON.parse(out) as {
      heard: { error?: string; edges?: number; done?: number }[];
      left: number;
    };
    expect(heard.filter(({ error }) => error !== undefined)).toMatchObject([{ error: 'DeadlockError', edges: size }]);
    expect(heard.filter(({ done }) => done !== undefined)).toHaveLength(size);
    expect(left).toBe(0);
    expect(err).toBe('');
  });
});

describe.concurrent('a circle in which the youngest waiter cannot leave', () => {
  it('ends if deadlocks throw: another thread leaves', async () => {
    const { out, err } = await runProgram('hangs', ['locks again', 2, 'throw']);
    const { heard, left } = JSON.parse(out) as {
      heard: { error?: string; edges?: { name: string; waited: number }[]; done?: number }[];
      left: number;
    };
    const thrown = heard.find(({ error }) => error !== undefined);
    expect(thrown?.error).toBe('DeadlockError');
    const waitedBy = (name: string) => thrown?.edges?.find((edge) => edge.name === name)?.waited ?? Number.NaN;
    expect(waitedBy('worker 0')).toBeLessThan(waitedBy('worker 1'));
    expect(heard.flatMap(({ done }) => done ?? []).sort()).toEqual([0, 1]);
    expect(left).toBe(0);
    expect(err).toBe('');
  });
});

describe.concurrent('a report of a program that hangs', () => {
  it('names the owner that has forgotten to unlock, and is no alarm', async () => {
    const [report, err] = await hang('forgotten', 3);
    expect(report).toMatchObject({ deadlocks: [], suspected: [], waiting: 2 });
    const mutex = report.objects.find(({ name }) => name === 'm0');
    expect(mutex).toMatchObject({ kind: 'Mutex', state: 'locked', waiting: 2, holders: [{ name: 'worker 0' }] });
    expect(mutex?.waiters.map(({ blocked }) => blocked)).toEqual([true, true]);
    const owner = report.threads.find(({ name }) => name === 'worker 0');
    expect(owner).toMatchObject({ state: 'awake', holds: [{ kind: 'Mutex', name: 'm0' }], waits: [] });
    expect(err).toBe('');
  });

  it('says that a plain semaphore has no owners', async () => {
    const [report] = await hang('no owner', 2);
    const pool = report.objects.find(({ name }) => name === 'pool');
    expect(pool).toMatchObject({ waiting: 2 });
    expect(pool?.holders).toBeUndefined();
    expect(report.unseen).toEqual([expect.stringMatching(/^Semaphore "pool" has no owners/)]);
    expect(report.found.unseen).toEqual(report.unseen);
    expect(report.deadlocks).toEqual([]);
  });

  it('suspects a task that waits for itself', async () => {
    const [report, err] = await hang('self wait', 1);
    expect(report.deadlocks).toEqual([]);
    expect(report.suspected).toMatchObject([
      { edges: [{ thread: { name: 'worker 0' }, holds: { name: 'm0' }, waitsFor: { name: 'm0' }, blocked: false }] },
    ]);
    expect(err).toBe('');
  });

  it('works while the main thread blocks in the deadlock', async () => {
    const { out } = await runProgram('hangs', ['blocked main']);
    const report = JSON.parse(out) as ArenaReport;
    expect(namesIn(report)).toEqual([['m0 m1', 'm1 m0']]);
    expect(report.deadlocks[0]?.edges.map(({ thread }) => thread.threadId)).toContain(0);
  });

  it('names a writer that waits for a reader, who waits for the writer', async () => {
    const [report, err] = await hang('starved writer', 2);
    expect(namesIn(report)).toEqual([['config m0', 'm0 config']]);
    expect(report.objects.find(({ kind }) => kind === 'RwLock')).toMatchObject({
      holders: [{ name: 'worker 0' }],
      turn: { name: 'worker 1' },
    });
    expect(err).toContain('RwLock "config"');
  });

  it('names threads that each hold permits that another needs', async () => {
    const [report, err] = await hang('robust', 2);
    expect(report.deadlocks).toMatchObject([{ edges: [{ holds: { name: 'pool' } }, { holds: { name: 'pool' } }] }]);
    expect(err.match(/TaketurnsWarning: deadlock: /g)).toHaveLength(1);
  });
});

/** What test/programs/crosswise.mjs prints. */
interface Crosswise {
  readonly heard: readonly {
    readonly done: number;
    readonly error?: { readonly name: string; readonly edges: number };
  }[];
  readonly waiting: number;
  readonly reports: readonly ArenaReport[];
  readonly texts: readonly string[];
}

describe.concurrent('a ring of threads over several arenas', () => {
  const cross = async (...args: (string | number)[]): Promise<[Crosswise, string]> => {
    const { out, err } = await runProgram('crosswise', args);
    return [JSON.parse(out) as Crosswise, err];
  };

  it.each(allInCi([2, 3, 5]))('of %i threads is named whole in each of them, and warned of once', async (size) => {
    const places = 2;
    const [{ reports }, err] = await cross('ring', size, places);
    const ring = Array.from({ length: size }, (_, i) => `m${i} m${(i + 1) % size}`).sort();
    for (const report of reports) {
      expect(namesIn(report)).toEqual([ring]);
      expect(report.deadlocks[0]).toMatchObject({ arenas: places, behind: [] });
      expect(report.threads.filter(({ state }) => state === 'asleep')).not.toHaveLength(0);
    }
    expect(err.match(/TaketurnsWarning: deadlock: /g)).toHaveLength(1);
    for (let i = 0; i < size; i++) expect(err).toMatch(new RegExp(`holds Mutex "m${i}" of arena [12]`));
  });

  it('ends if deadlocks throw: one thread leaves, and all go on', async () => {
    const [{ heard, waiting }, err] = await cross('ring', 4, 2, 'throw');
    expect(heard.flatMap(({ error }) => error ?? [])).toEqual([{ name: 'DeadlockError', edges: 4 }]);
    expect(heard).toHaveLength(4);
    expect(waiting).toBe(0);
    expect(err).toBe('');
  });

  it('is no circle if one thread waits in another arena for a thread that runs: it does not read as awake', async () => {
    const [{ reports, texts }, err] = await cross('apart');
    expect(reports.map(({ deadlocks }) => deadlocks)).toEqual([[], []]);
    expect(reports[0]?.threads.find(({ name }) => name === 'worker 0')).toMatchObject({
      state: 'asleep',
      elsewhere: true,
      holding: 1,
    });
    expect(texts[0]).toMatch(/"worker 0"\): asleep, holds Mutex "m0", waits for an object of another arena/);
    expect(texts[1]).toMatch(/"worker 0"\): asleep, holds nothing, waits for Mutex "m1"/);
    expect(err).toBe('');
  });
});

describe.concurrent('a circle that ends by itself', () => {
  it.each([
    ['time-out', ['TimeoutError']],
    ['cancelAll', ['CancelledError']],
    ['dispose', ['DisposedError']],
    ['death', []],
  ])('by a %s is no deadlock then', async (end, errors) => {
    const { out, err } = await runProgram('hangs', ['ended', 2, 'warn', 60_000, end]);
    expect(JSON.parse(out)).toEqual({ errors, most: 0, waiting: 0, suspected: [] });
    expect(err).toBe('');
  });
});

describe.concurrent('a thread that stands in line for permits', () => {
  it('is stuck although enough permits are free, behind a stuck one that asks for more', async () => {
    const [report, err] = await hang('line', 3);
    expect(namesIn(report)).toEqual([['m0 pool', 'pool m0']]);
    expect(report.deadlocks[0]?.behind).toMatchObject([{ thread: { name: 'worker 1' } }]);
    expect(err.match(/TaketurnsWarning: deadlock: /g)).toHaveLength(1);
  });
});

describe.concurrent('a thread whose look fails', () => {
  it('goes on waiting', async () => {
    const [report, err] = await hang('broken look', 2);
    expect(namesIn(report)).toEqual([['m0 m1', 'm1 m0']]);
    expect(err).toBe('');
  });
});

describe.concurrent('threads that lock in no order at all', () => {
  it.each(['', 'noise'])('leave each circle by a DeadlockError that tells the truth %s', async (noise) => {
    const { out, err } = await runProgram('tangled', [1500, noise]);
    const { rounds, thrown, wrong, left } = JSON.parse(out) as Record<'rounds' | 'thrown' | 'left', number> & {
      wrong: string[];
    };
    expect(wrong).toEqual([]);
    expect(err).toBe('');
    expect(left).toBe(0);
    expect(rounds).toBeGreaterThan(0);
    expect(thrown).toBeGreaterThan(0);
  });
});

describe.concurrent('threads that lock in two arenas in no order, some of which are killed', () => {
  it('leave each circle by a DeadlockError that tells the truth', async () => {
    const { out, err } = await runProgram('tangled-arenas', [1500, 200]);
    expect(err).toBe('');
    const { rounds, across, kills, ...rest } = JSON.parse(out) as Record<'rounds' | 'across' | 'kills', number>;
    expect(rest).toMatchObject({ wrong: [], left: 0, crashes: 0 });
    expect(rounds).toBeGreaterThan(0);
    expect(across).toBeGreaterThan(0);
    expect(kills).toBeGreaterThan(0);
  });
});

describe.concurrent('a busy program', () => {
  it('gives no alarm', async () => {
    const { out, err } = await runProgram('busy');
    const { looks, found } = JSON.parse(out) as { looks: number; found: number };
    expect(found).toBe(0);
    expect(looks).toBeGreaterThan(0);
    expect(err).toBe('');
  });
});

describe.concurrent('a wait that is likely to be a mistake', () => {
  const said = async (how: string): Promise<string[]> => {
    const { out, err } = await runProgram('likely-mistakes', [how]);
    expect(out).toBe('got it\n');
    return err.split('\n').filter(Boolean);
  };

  it.each([
    ['await acquire', 'Semaphore "pool"', 'acquireAsync'],
    ['lock', 'Mutex "accounts", held by thread 2 (threadId', 'lockAsync'],
  ])('is told if the main thread blocks: %s', async (how, what, call) => {
    const lines = await said(how);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/TaketurnsWarning: the main thread has blocked for \d+ ms, and waits for /);
    expect(lines[0]).toContain(what);
    expect(lines[0]).toContain(`await ${call}()`);
  });

  it('is told if a promise of the thread stands before its own request', async () => {
    const lines = await said('behind a promise');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /thread 1 \(threadId 0\) has blocked for \d+ ms, and waits for Semaphore "pool" behind a /,
    );
  });

  it('is told once in a thread', async () => {
    expect(await said('twice')).toHaveLength(1);
  });

  it.each(['with a time-out', 'ignored', 'latch'])('is not told: %s', async (how) => {
    expect(await said(how)).toEqual([]);
  });

  it('does not name a promise that stands behind', async () => {
    expect(await said('before a promise')).toEqual([expect.stringContaining('the main thread has blocked')]);
  });
});
