/** Workers are killed by the dozen at any point: the others go on, nothing is lost, and memory stays flat. */
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { recruit, upTo } from '../support/dying.js';
import { at, Memory } from '../support/memory.js';
import { roundsOf } from '../support/rounds.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { until } from '../support/until.js';

// Each thread is watched here, and reaped by one thread alone, so that memory is as it was once that one has been told.
const crowd = team(2, { core: true });

describe.each([['acquire'], ['acquireAsync'], ['tryAcquire', 'acquire'], ['acquire', 'acquireAsync', 'tryAcquire']])(
  'workers that acquire and release without a pause (%s, %s, %s)',
  (...ways) => {
    it.each([
      [1, 1],
      [5, 5],
    ])('and are killed leave all of %i permits, up to %i at once', async (permits, most) => {
      const arena = new Arena({ watch: false, slots: 2 });
      const memory = new Memory(arena);
      const semaphore = tuned(new Semaphore(permits, { arena, robust: true }), { spin: 20 });
      const laps = new Int32Array(new SharedArrayBuffer(4 * 32));
      const hot = (member: Member, index: number) =>
        member.run('hot', { handle: semaphore.handle, most, ways, laps, index });
      const survivors = upTo(2).map(() => recruit(arena));
      for (const [index, member] of survivors.entries()) hot(member, index);
      for (const index of upTo(roundsOf(8)).map((i) => 2 + i)) {
        const doomed = recruit(arena);
        hot(doomed, index);
        await until(() => Atomics.load(laps, index) > 20 * (index % 4), 'it is at work');
        await doomed.kill();
        const before = [...laps.slice(0, 2)] as [number, number];
        const goOn = () => survivors.every((_, i) => Atomics.load(laps, i) > (before[i] as number) + 20);
        await until(goOn, 'the survivors go on');
      }
      for (const member of survivors) await member.kill();
      expect(semaphore.inspect()).toMatchObject({
        available: permits,
        out: 0,
        waiting: 0,
        cancelled: 0,
        holders: [],
      });
      expect(arena.threads).toBe(1);
      expect(memory.standing).toEqual([]);
      expect(memory.cells).toBe(0);
    });
  },
);

it('workers killed by the dozen leave memory as it was', { timeout: 180_000 }, async () => {
  const arena = new Arena({ watch: false, objects: 64, threads: 16, waiters: 64, slots: 2 });
  const memory = new Memory(arena);
  const robust = tuned(new Semaphore(2, { arena, robust: true }), { spin: 0 });
  const plain = tuned(new Semaphore(0, { arena }), { spin: 0 });
  let first = 0;
  const BATCHES = roundsOf(10);
  for (const _ of upTo(BATCHES)) {
    const passing = new Semaphore(1, { arena });
    const doomed = upTo(5).map(() => recruit(arena)) as [Member, Member, Member, Member, Member];
    const [holder, parked, promising, both, late] = doomed;
    await holder.run('enter', { handle: robust.handle, permits: [2] });
    await Promise.all(doomed.map((member) => member.run('thread', { handle: passing.handle })));
    parked.run('enter', { handle: plain.handle, permits: [3] });
    await until(() => plain.waiting === 1, 'it stands in line');
    await promising.run('promise', { handle: plain.handle, permits: [1, 2, 1] });
    await both.run('promise', { handle: robust.handle, permits: [1, 2] });
    both.run('enter', { handle: plain.handle, permits: [1] });
    late.run('enter', { handle: robust.handle, permits: [1] });
    await until(() => plain.waiting === 5 && robust.waiting === 3, 'they wait');
    // Two permits are too few for the head, which asks for three.
    plain.release(2);
    passing.dispose();
    await Promise.all(doomed.map((member) => member.kill()));
    expect([arena.threads, plain.waiting, robust.waiting, robust.available]).toEqual([1, 0, 0, 2]);
    expect(plain.tryAcquire(2)).toBe(true);
    const { elements, objects, cancelled } = arena.stats();
    first ||= elements.used;
    expect([elements.used, objects.used, cancelled]).toEqual([first, 2, 0]);
  }
  // The threads in use never exceeded what five workers need, though each batch started five.
  expect(memory.word(at('USED_THREADS'))).toBe(6);
  expect(memory.word(at('USED_OBJECTS'))).toBe(3);
  expect(memory.word(at('USED_ELEMENTS'))).toBeLessThan(50);
  expect(robust.inspect().ownerDeaths).toBeGreaterThanOrEqual(BATCHES);
});

it('what is disposed of is used again, though workers were attached to it that were killed', async () => {
  const arena = new Arena({ watch: false, objects: 8, threads: 4, waiters: 16 });
  for (const round of upTo(roundsOf(12))) {
    const semaphores = upTo(8).map((i) => new Semaphore(i, { arena, robust: i % 2 === 1 }));
    const doomed = [recruit(arena), recruit(arena)];
    for (const member of doomed) {
      for (const { handle } of semaphores) await member.run('attempts', { handle, rounds: 1 });
    }
    for (const semaphore of round % 2 ? semaphores : []) semaphore.dispose();
    if (round % 2) expect(() => new Semaphore(1, { arena })).toThrow(/no room for another object/);
    await Promise.all(doomed.map((member) => member.kill()));
    for (const semaphore of round % 2 ? [] : semaphores) semaphore.dispose();
  }
  expect(arena.stats()).toMatchObject({ objects: { used: 0 } });
});

it('threads that are killed while they make, dispose, acquire and release need no more room than there is', async () => {
  // Each worker leaves one object at most that no thread disposes of.
  const arena = new Arena({ watch: false, objects: 40, threads: 4, waiters: 32, slots: 2 });
  const progress = new Int32Array(new SharedArrayBuffer(4 * 32));
  const seen = (index: number) => Atomics.load(progress, 1 + index);
  const survivors = crowd.map((member, i) => member.run<number>('live', { arena: arena.handle, progress, index: i }));
  for (const i of upTo(roundsOf(16)).map((i) => 2 + i)) {
    const doomed = recruit(arena);
    doomed.run('live', { arena: arena.handle, progress, index: i });
    await Promise.race([
      until(() => seen(i) > 10 * (i % 5), `${i} is at work`),
      doomed.exited.then(() => Promise.reject(new Error(`${i} has failed`))),
    ]);
    await doomed.kill();
    const before = [seen(0), seen(1)] as [number, number];
    await Promise.race([
      until(() => seen(0) > before[0] + 20 && seen(1) > before[1] + 20, 'the survivors go on'),
      Promise.all(survivors),
    ]);
    expect(arena.threads).toBe(3);
  }
  Atomics.store(progress, 0, 1);
  for (const laps of await Promise.all(survivors)) expect(laps).toBeGreaterThan(roundsOf(16) * 20);
});
