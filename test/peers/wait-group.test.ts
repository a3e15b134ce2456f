/**
 * What others check of a wait group, as far as `WaitGroup` promises the same: src/sync/waitgroup_test.go of Go, and the
 * registration of PhaserTest in JSR-166's TCK. Each test names the case that it follows.
 */
import { Arena } from 'taketurns';
import { WaitGroup } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { roundsInCi } from '../support/rounds.js';
import { isSettled } from '../support/settled.js';
import { together } from '../support/team.js';
import { until } from '../support/until.js';

const THREADS = 8;
/** For what never happens. */
const timeout = 60_000;

const { members, calls } = callers(THREADS);

/** Makes many groups, each with so many tasks, in an arena with room for the attachments of five threads to each. */
function groups(count: number, tasks: number) {
  const arena = new Arena({ objects: count, threads: 16, waiters: 5 * count });
  const made = Array.from({ length: count }, () => new WaitGroup({ arena }));
  for (const group of made) group.add(tasks);
  return { made, handles: made.map(({ handle }) => handle) };
}

describe('waitgroup_test.go', () => {
  it('TestWaitGroup: none goes on too soon, and all do, again and again', async () => {
    const [first, second] = [new WaitGroup(), new WaitGroup()];
    for (let round = 0; round < 8; round++) {
      first.add(THREADS);
      second.add(THREADS);
      const log = new Int32Array(new SharedArrayBuffer(4 * (1 + THREADS)));
      const args = { first: first.handle, second: second.handle, log };
      const jobs = members.map((member, entry) => member.run('done-and-wait', { ...args, entry }));
      expect(first.wait({ timeout })).toBe(true);
      for (let i = 0; i < THREADS; i++) {
        expect(Atomics.load(log, 0), 'who went on too soon').toBe(0);
        second.done();
      }
      await Promise.all(jobs);
      expect([...log.subarray(1)].sort()).toEqual(members.map((_, entry) => entry));
    }
  });

  it('TestWaitGroupMisuse: done once more than there are tasks is an error', () => {
    const group = new WaitGroup();
    group.add();
    group.done();
    expect(() => group.done()).toThrow(RangeError);
    expect([group.pending, group.wait()]).toEqual([0, true]);
  });

  // In Go these two are misuse, and may panic. Here they are allowed, and nobody is lost.
  it.each([
    ['TestWaitGroupMisuse2: a task is added while another thread waits', ['wait', 'done', 'add'], 300],
    ['TestWaitGroupMisuse3: it is used again before all have gone on', ['reuse', 'done', 'wait'], 900],
  ] as const)('%s', async (_, use, waits) => {
    const { made, handles } = groups(300, 1);
    const waited = await together<number>(members.slice(0, 3), 'misuse-groups', { handles, use });
    expect(waited.reduce((sum, count) => sum + count)).toBe(waits);
    for (const group of made) expect([group.pending, group.waiting]).toEqual([0, 0]);
  });

  it('TestWaitGroupRace: a wait ends when both have counted, in many groups', async () => {
    const { made, handles } = groups(roundsInCi(1000, 300), 2);
    const words = new Int32Array(new SharedArrayBuffer(4 * made.length));
    const round = new Int32Array(new SharedArrayBuffer(4));
    const jobs = members.slice(0, 2).map((member) => member.run('count-and-done', { handles, words, round }));
    for (const [i, group] of made.entries()) {
      Atomics.add(round, 0, 1);
      expect(group.wait({ timeout })).toBe(true);
      expect(Atomics.load(words, i)).toBe(2);
    }
    await Promise.all(jobs);
  });

  it('TestWaitGroupGo: a function that is run is a task until it ends', async () => {
    const group = new WaitGroup();
    let count = 0;
    const runs = [group.run(() => void count++), group.run(async () => void count++)];
    expect(await group.waitAsync()).toBe(true);
    expect(count).toBe(2);
    await Promise.all(runs);
  });
});

describe('PhaserTest', () => {
  it('testRegister2, testBulkRegister3: more than there may be are refused, and nothing has changed', () => {
    const group = new WaitGroup();
    group.add(2 ** 30 - 1);
    expect(() => group.add()).toThrow(RangeError);
    expect(() => group.add(2)).toThrow(RangeError);
    expect(group.pending).toBe(2 ** 30 - 1);
  });

  it('testBulkRegister1: a negative number is refused', () => {
    expect(() => new WaitGroup().add(-1)).toThrow(RangeError);
  });

  it('testArriveAndDeregister1: nobody can be done where nobody is registered', () => {
    expect(() => new WaitGroup().done()).toThrow(RangeError);
  });

  it('testAwaitAdvance: those who wait go on when the last has arrived, and are as many as they were', async () => {
    const group = new WaitGroup();
    group.add(2);
    const waits = calls(4, group, 'wait');
    const mine = group.waitAsync();
    await until(() => group.waiting === 5, 'all wait');
    group.done();
    expect(await isSettled(mine)).toBe(false);
    expect(group.waiting).toBe(5);
    group.done();
    expect(await Promise.all([...waits, mine])).toEqual([true, true, true, true, true]);
  });
});
