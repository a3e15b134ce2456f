/**
 * The observed order of admission. Waiters line up one after another: each is seen in the queue before the next one
 * comes. Then they are admitted a few at a time.
 */
import { Arena, Semaphore } from 'taketurns';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';
import { watch } from '../support/settled.js';
import { type Member, team } from '../support/team.js';
import { tuned } from '../support/tuned.mjs';
import { until } from '../support/until.js';

const crowd = team(16, { core: true });
const releaser = team(1, { core: true });
const sizes = { objects: 64, threads: 40, waiters: 512 };

/** A queue of waiters, and the log that they write when they are admitted. */
class Queue {
  readonly semaphore: Semaphore;
  readonly #log = new Int32Array(new SharedArrayBuffer(4 * 256));
  #come = 0;

  constructor(semaphore: Semaphore) {
    this.semaphore = semaphore;
  }

  /** The numbers of the waiters admitted so far, in the order of admission. */
  get admitted(): number[] {
    return [...this.#log.subarray(1, 1 + Atomics.load(this.#log, 0))];
  }

  #note(entry: number): void {
    Atomics.store(this.#log, 1 + Atomics.add(this.#log, 0, 1), entry);
  }

  /** Has a worker, or this thread if none is given, line up for n permits. Returns the number of the waiter. */
  async enter(how: 'acquire' | 'acquireAsync', n: number, member?: Member): Promise<number> {
    const entry = this.#come++;
    const before = this.semaphore.waiting;
    if (member) {
      const { handle } = this.semaphore;
      const args = { handle, permits: [n], log: this.#log, entry, async: how === 'acquireAsync' };
      const entering = member.run('enter', args);
      await Promise.race([
        until(() => this.semaphore.waiting === before + 1, `waiter ${entry} stands in line`),
        // The waiter must not be admitted yet. If it is, or fails, the error shows here.
        entering.then(() => Promise.reject(new Error(`waiter ${entry} did not wait`))),
      ]);
    } else {
      this.semaphore.acquireAsync(n).then(() => this.#note(entry));
      expect(this.semaphore.waiting).toBe(before + 1);
    }
    return entry;
  }

  /** Waits until so many are admitted. */
  async see(count: number): Promise<void> {
    await until(() => this.admitted.length >= count, `${count} are in`);
    expect(this.admitted).toHaveLength(count);
  }
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

describe.each([1, 2, 4, 1024])('a waiting array of %i', (slots) => {
  const arena = new Arena({ ...sizes, slots });

  it.each([0n, 2n ** 32n - 8n, 2n ** 53n - 8n, 2n ** 61n])(
    'admits parked threads in the order of arrival, from ticket %i on',
    async (firstTicket) => {
      const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0, firstTicket });
      const queue = new Queue(semaphore);
      for (const member of crowd) await queue.enter('acquire', 1, member);
      for (const i of upTo(crowd.length)) {
        semaphore.release();
        await queue.see(i + 1);
        expect(semaphore.waiting).toBe(crowd.length - i - 1);
      }
      expect(queue.admitted).toEqual(upTo(crowd.length));
      expect(semaphore.available).toBe(0);
      semaphore.dispose();
    },
  );

  it('admits threads and promises, here and in workers, in the order in which they came', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0, firstTicket: 2n ** 32n - 20n });
    const queue = new Queue(semaphore);
    for (const [i, member] of crowd.entries()) {
      await queue.enter('acquireAsync', 1);
      await queue.enter(i % 2 ? 'acquire' : 'acquireAsync', 1, member);
      // The worker gets a second promise beside one that waits already.
      if (i % 4 === 0) await queue.enter('acquireAsync', 1, member);
    }
    const count = semaphore.waiting;
    expect(count).toBe(36);
    for (const i of upTo(count)) {
      if (i % 2) semaphore.release();
      else await releaser[0]?.run('release', { handle: semaphore.handle });
      await queue.see(i + 1);
    }
    expect(queue.admitted).toEqual(upTo(count));
    semaphore.dispose();
  });

  it('keeps the order whichever thread releases', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const queue = new Queue(semaphore);
    for (const [i, member] of crowd.entries()) {
      await queue.enter(i % 2 ? 'acquire' : 'acquireAsync', 1, i % 3 ? member : undefined);
    }
    for (const i of upTo(crowd.length)) {
      await releaser[0]?.run('release', { handle: semaphore.handle });
      await queue.see(i + 1);
    }
    expect(queue.admitted).toEqual(upTo(crowd.length));
    semaphore.dispose();
  });

  it('release(n) wakes every waiter whose turn has come, and no other', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0, firstTicket: 2n ** 53n - 6n });
    const queue = new Queue(semaphore);
    const [a, b, c, d, e, f, g] = crowd as Member[];
    await queue.enter('acquire', 1, a);
    await queue.enter('acquireAsync', 2, b);
    await queue.enter('acquire', 1, c);
    await queue.enter('acquire', 5, d);
    await queue.enter('acquire', 1, e);
    await queue.enter('acquireAsync', 1);
    await queue.enter('acquire', 1, f);
    await queue.enter('acquireAsync', 1, g);

    semaphore.release(4);
    await queue.see(3);
    expect(queue.admitted.toSorted()).toEqual([0, 1, 2]);
    expect(semaphore.waiting).toBe(5);

    // The heavy request at the head holds up the light ones behind it, until it gets all five at once.
    for (const given of [1, 2, 3, 4]) {
      semaphore.release();
      expect(semaphore.waiting, `after ${given} of the 5 permits`).toBe(5);
      expect(semaphore.available).toBe(0);
      expect(semaphore.tryAcquire()).toBe(false);
    }
    expect(queue.admitted).toHaveLength(3);
    semaphore.release();
    await queue.see(4);
    expect(queue.admitted[3]).toBe(3);
    expect(semaphore.waiting).toBe(4);

    semaphore.release(10);
    await queue.see(8);
    expect(queue.admitted.slice(4).toSorted()).toEqual([4, 5, 6, 7]);
    expect(semaphore.waiting).toBe(0);
    expect(semaphore.available).toBe(6);
    semaphore.dispose();
  });

  it('wakes all waiters when enough permits come at once', async () => {
    const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
    const queue = new Queue(semaphore);
    for (const [i, member] of crowd.entries())
      await queue.enter(i % 2 ? 'acquire' : 'acquireAsync', 1 + (i % 3), member);
    semaphore.release(1000);
    await queue.see(crowd.length);
    expect(semaphore.available).toBe(1000 - crowd.reduce((sum, _, i) => sum + 1 + (i % 3), 0));
    semaphore.dispose();
  });

  it('leaves no cell of the array taken', () => {
    expect(new Memory(arena).cells).toBe(0);
  });
});

it('an overflowing bucket loses no waiter', async () => {
  const arena = new Arena({ ...sizes, slots: 1 });
  const memory = new Memory(arena);
  const semaphore = tuned(new Semaphore(0, { arena }), { spin: 0 });
  const queue = new Queue(semaphore);
  for (const member of crowd) await queue.enter('acquire', 1, member);
  const cells = (at('LINE') - at('B_CELLS')) / 4;
  expect(memory.cells).toBeGreaterThanOrEqual(cells);
  await until(() => memory.cells === crowd.length, 'all are entered');
  expect(memory.longestLook).toBe(1);
  for (const i of upTo(crowd.length)) {
    semaphore.release();
    await queue.see(i + 1);
  }
  expect(queue.admitted).toEqual(upTo(crowd.length));
  await queue.enter('acquire', 1, crowd[0] as Member);
  semaphore.release();
  await queue.see(crowd.length + 1);
  expect(memory.longestLook, 'a burst makes no later look longer').toBe(0);
  semaphore.dispose();
});

it('a bucket whose overflow lines have run out loses no waiter', async () => {
  // So many heavy waiters enter two buckets, and two others in the next round, that the private lines run out. There
  // are many semaphores, because only the first of a semaphore's promises in this thread is entered.
  const arena = new Arena({ objects: 200, threads: 8, waiters: 200, slots: 16 });
  const PROMISES = 190;
  const memory = new Memory(arena);
  const semaphores = upTo(PROMISES + 4).map(() => tuned(new Semaphore(0, { arena }), { spin: 0 }));
  for (const semaphore of semaphores) {
    while (memory.nextBucket(semaphore) !== 0) {
      semaphore.release();
      semaphore.acquire();
    }
  }
  let most = 0;
  let longest = 0;
  for (const round of upTo(4)) {
    const log: number[] = [];
    for (const i of upTo(PROMISES)) watch((semaphores[i] as Semaphore).acquireAsync(4), i, log);
    await until(() => memory.cells === 2 * PROMISES, 'the promises are entered');
    // Threads come last, so their cells are in the last lines.
    const queues = upTo(4).map((i) => new Queue(semaphores[PROMISES + i] as Semaphore));
    for (const [i, queue] of queues.entries()) await queue.enter('acquire', 4, crowd[i] as Member);
    await until(() => memory.cells === 2 * (PROMISES + 4), 'all are entered');
    most = Math.max(most, memory.cellsInCommon);
    longest = Math.max(longest, memory.longestLook);
    for (const queue of queues) {
      queue.semaphore.release(4);
      await queue.see(1);
    }
    // Another thread releases half of them, and has to find them there.
    for (const i of upTo(PROMISES)) {
      const { handle } = semaphores[i] as Semaphore;
      if (i % 2) (semaphores[i] as Semaphore).release(4);
      else await releaser[0]?.run('release', { handle, permits: [4] });
    }
    await until(() => log.length === PROMISES, `all are in, in round ${round}`);
    expect(log.toSorted((a, b) => a - b)).toEqual(upTo(PROMISES));
    expect(memory.cells).toBe(0);
    // The next round begins five buckets further on.
    for (const semaphore of semaphores) {
      semaphore.release();
      semaphore.acquire();
    }
  }
  expect(most).toBeGreaterThan(12);
  expect(longest).toBeGreaterThan(memory.rounds + 1);
  for (const semaphore of semaphores) semaphore.dispose();
});
