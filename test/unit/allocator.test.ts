/** An exhausted arena says so, and the memory of disposed objects is used again. */
import { Arena, ArenaFullError, DisposedError, Semaphore } from 'taketurns';
import {
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { shared } from '../support/shared.js';
import { tuned } from '../support/tuned.mjs';

describe('objects', () => {
  it('run out with an error, and come back with dispose', () => {
    const arena = new Arena({ objects: 4 });
    const all = Array.from({ length: 4 }, (_, i) => shared(new Semaphore(i, { arena })));
    for (const make of [
      Semaphore,
      TicketSemaphore,
      TwaSemaphore,
      ChainSemaphore,
      ChannelSemaphore,
      LocationSemaphore,
    ]) {
      expect(() => new make(1, { arena })).toThrow(ArenaFullError);
      expect(() => new make(1, { arena })).toThrow(/no room for another object.*{ objects: /);
    }
    expect(all.map((semaphore) => semaphore.available)).toEqual([0, 1, 2, 3]);
    all[1]?.dispose();
    const next = shared(new Semaphore(9, { arena }));
    expect(next.available).toBe(9);
    expect(() => new Semaphore(1, { arena })).toThrow(ArenaFullError);
    expect([all[0], all[2], all[3]].map((semaphore) => semaphore?.available)).toEqual([0, 2, 3]);
  });

  it('are at least 60,000 by default', () => {
    const arena = new Arena();
    const all = Array.from({ length: 60_000 }, () => shared(new Semaphore(1, { arena })));
    expect(arena.stats().objects.used).toBe(60_000);
    for (const semaphore of all) semaphore.dispose();
    expect(arena.stats().objects.used).toBe(0);
  });

  it('are used again 100,000 times', () => {
    const arena = new Arena({ objects: 2 });
    const bystander = new Semaphore(7, { arena });
    for (let i = 0; i < 100_000; i++) {
      const semaphore = new Semaphore(i & 3, { arena, max: 4 });
      if (semaphore.available !== (i & 3)) throw new Error(`${semaphore.available} available after ${i}`);
      semaphore.release();
      semaphore.acquire();
      semaphore.dispose();
    }
    expect(bystander.available).toBe(7);
  });

  it('are used again for any kind, and nothing of the last one is left', () => {
    const arena = new Arena({ objects: 1 });
    for (let i = 0; i < 300; i++) {
      const bounded = tuned(new Semaphore(1, { arena, max: 3 }), { spin: 5, firstTicket: 2n ** 60n });
      bounded.release();
      bounded.dispose();
      const ticket = new TicketSemaphore(1, { arena });
      ticket.acquire();
      ticket.dispose();
      const twa = new TwaSemaphore(2, { arena, threshold: 2 });
      twa.acquire();
      expect(twa.available).toBe(1);
      twa.dispose();
      const plain = new Semaphore(5, { arena });
      expect(plain.available).toBe(5);
      expect(plain.max).toBe(5);
      plain.dispose();
    }
  });

  it('are not given back by a thread that fails to attach', () => {
    const arena = new Arena({ objects: 1 });
    const one = new Semaphore(1, { arena });
    const { handle } = one;
    for (let i = 0; i < 10; i++) {
      expect(() => TicketSemaphore.from({ ...handle, kind: 'TicketSemaphore' })).toThrow(TypeError);
      expect(() => Semaphore.from({ ...handle, generation: handle.generation + 1 })).toThrow(DisposedError);
    }
    expect(() => new Semaphore(1, { arena })).toThrow(ArenaFullError);
    one.dispose();
    new Semaphore(1, { arena });
  });
});

describe('an old handle', () => {
  it('is refused once the memory is used again', () => {
    const arena = new Arena({ objects: 1 });
    const handles = [];
    for (let i = 0; i < 5; i++) {
      const semaphore = new Semaphore(1, { arena });
      handles.push(semaphore.handle);
      semaphore.dispose();
      for (const handle of handles) expect(() => Semaphore.from(handle)).toThrow(DisposedError);
    }
    const semaphore = new Semaphore(1, { arena });
    for (const handle of handles) {
      expect(handle.address).toBe(semaphore.handle.address);
      expect(() => Semaphore.from(handle)).toThrow(DisposedError);
    }
    expect(semaphore.available).toBe(1);
    semaphore.dispose();
    new Semaphore(1, { arena });
  });
});

describe('arenas', () => {
  it('may be of the smallest size', async () => {
    const arena = new Arena({ objects: 1, threads: 1, waiters: 8, slots: 1 });
    const semaphore = Semaphore.open('x', 0, { arena });
    const promises = [semaphore.acquireAsync(), semaphore.acquireAsync(3), semaphore.acquireAsync()];
    semaphore.release(5);
    await Promise.all(promises);
    expect(semaphore.available).toBe(0);
  });

  it('may be many in one process', () => {
    const arenas = Array.from({ length: 20 }, () => new Arena({ objects: 1, threads: 1, waiters: 8 }));
    const semaphores = arenas.map((arena, i) => new Semaphore(i, { arena }));
    expect(semaphores.map((semaphore) => semaphore.available)).toEqual(arenas.map((_, i) => i));
  });
});
