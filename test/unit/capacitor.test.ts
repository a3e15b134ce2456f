/** Capacitor and CapacitorLock in one thread and with one other; stress/capacitor.test.ts has crowds of threads. */
import { Arena, ArenaFullError, DisposedError, SelfDeadlockError, Semaphore } from 'taketurns';
import {
  Capacitor,
  CapacitorLock,
  type CapacitorOptions,
  ChannelSemaphore,
  type InnerSemaphore,
  LocationSemaphore,
  type Lock,
  lastTicket,
  MultilaneSemaphore,
  TicketLock,
  TtsLock,
} from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { Arena as SourceArena } from '../../src/arena/arena.js';
import { REFUSED } from '../../src/border/numbers.js';
import { Capacitor as SourceCapacitor } from '../../src/papers/algorithms/capacitor.js';
import { algorithmsOf } from '../../src/papers/algorithms/compiled.js';
import { membershipOf } from '../../src/runtime/own-arenas.js';
import { replaceable } from '../support/membership.js';
import { type Member, team } from '../support/team.js';

const crowd = team(1);
const member = () => crowd[0] as Member;

/** A lock that a user wrote, for one thread. */
class OwnLock implements Lock {
  locked = false;
  fails = false;

  lock(): void {
    if (this.fails) throw new Error('no lock today');
    if (this.locked) throw new Error('it is locked');
    this.locked = true;
  }

  unlock(): void {
    this.locked = false;
  }
}

const forms: CapacitorOptions[] = [
  {},
  { threshold: 0 },
  { semaphore: 'ticket' },
  { semaphore: 'chain' },
  { semaphore: 'chain', threshold: 2 },
  { lanes: 1 },
  { lanes: 3 },
  { lanes: 2, semaphore: 'multilane' },
  { firstTicket: 2n ** 53n - 3n },
  { firstTicket: 2n ** 61n, lanes: 7 },
];

describe.each(forms)('a Capacitor of %o', (options) => {
  it.each([1, 2, 5])('lets %i in, and the next ones when all these have left', (bypass) => {
    const arena = new Arena();
    const capacitor = new Capacitor(bypass, { ...options, arena });
    expect(capacitor.bypass).toBe(bypass);
    for (let platoon = 0; platoon < 4; platoon++) {
      for (let i = 0; i < bypass; i++) {
        if (i % 2) expect(capacitor.arrive()).toBeUndefined();
        else expect(capacitor.tryArrive()).toBe(true);
        expect(lastTicket(arena)).toBe((options.firstTicket ?? 0n) + BigInt(platoon * bypass + i));
      }
      for (let i = 0; i < bypass; i++) {
        expect(capacitor.tryArrive()).toBe(false);
        expect(capacitor.depart()).toBeUndefined();
      }
    }
  });

  it('refuses a departure when nobody is inside', () => {
    const capacitor = new Capacitor(3, options);
    const nobody = new Error('Capacitor.depart: every thread that has arrived has departed');
    for (let i = 0; i < 5; i++) {
      expect(() => capacitor.depart()).toThrow(nobody);
      capacitor.arrive();
      capacitor.depart();
    }
    expect(() => capacitor.depart()).toThrow(nobody);
  });

  it('is shared by its handle, and closed for all by dispose', () => {
    const arena = new Arena({ objects: 8 });
    const capacitor = new Capacitor(2, { ...options, arena });
    const same = Capacitor.from(structuredClone(capacitor.handle));
    expect(same.bypass).toBe(2);
    capacitor.arrive();
    same.arrive();
    expect([capacitor.tryArrive(), same.tryArrive()]).toEqual([false, false]);
    capacitor.depart();
    same.depart();
    same.arrive();
    capacitor.dispose();
    capacitor.dispose();
    expect(same.depart()).toBeUndefined();
    for (const one of [capacitor, same]) {
      expect(() => one.arrive()).toThrow(new DisposedError('the Capacitor has been disposed of'));
      expect(() => one.tryArrive()).toThrow(DisposedError);
      expect(() => one.handle).toThrow(DisposedError);
      expect(one.depart()).toBeUndefined();
    }
    // The memory of all its objects is free for others.
    for (let i = 0; i < 8; i++) new Capacitor(1, { arena });
  });
});

describe('Capacitor', () => {
  it('refuses bad arguments', () => {
    for (const bypass of [0, -1, 1.5, 2 ** 31])
      expect(() => new Capacitor(bypass)).toThrow(
        new RangeError(`Capacitor: bypass must be an integer from 1 to 2147483647, got ${bypass}`),
      );
    expect(() => new Capacitor('1' as never)).toThrow(TypeError);
    expect(() => new Capacitor(1, { semaphore: 'fifo' as never })).toThrow(
      new TypeError(
        `Capacitor: semaphore must be 'twa', 'ticket', 'chain', 'multilane' or a semaphore of your own, got "fifo"`,
      ),
    );
    for (const lanes of [0, 65])
      expect(() => new Capacitor(1, { lanes })).toThrow(
        new RangeError(`Capacitor: lanes must be an integer from 1 to 64, got ${lanes}`),
      );
    expect(() => new Capacitor(1, { lanes: 2, semaphore: 'twa' })).toThrow(/give one of both/);
    expect(() => new Capacitor(1, { semaphore: 'multilane' })).toThrow(/give one of both/);
    expect(() => new Capacitor(1, { random: true })).toThrow(new TypeError('Capacitor: random needs lanes'));
    expect(() => new Capacitor(1, { lanes: 2, random: 1 as never })).toThrow(
      new TypeError('Capacitor: random must be true or false, got 1'),
    );
    expect(() => new Capacitor(1, { lanes: 2, random: true, semaphore: 'multilane' })).toThrow(/and no multilane one/);
    expect(() => new Capacitor(1, { semaphore: { acquire() {} } as never })).toThrow(
      new TypeError('Capacitor: semaphore: release must be a function, got undefined'),
    );
    expect(() => new Capacitor(1, { semaphore: null as never })).toThrow(TypeError);
    expect(() => new Capacitor(1, { spin: -1 })).toThrow(RangeError);
    expect(() => Capacitor.from(new TtsLock().handle as never)).toThrow(
      'Capacitor.from: handle must be of a Capacitor, but it is of a TtsLock',
    );
  });

  it('takes no more lanes at random than threads of a platoon', () => {
    expect(() => new Capacitor(2, { lanes: 3, random: true })).toThrow(
      new RangeError('Capacitor: random lanes must be at most as many as bypass, which is 2, got 3'),
    );
    expect(new Capacitor(3, { lanes: 3, random: true, semaphore: 'ticket' }).tryArrive()).toBe(true);
  });

  it('leaves no object behind when its thread has no room to wait on chains', async () => {
    const arena = new Arena({ waiters: 8, threads: 1, objects: 2 });
    const hog = new Semaphore(0, { arena });
    // Two neighbours that ask for the same number would share an element.
    const asked = Array.from({ length: 20 }, (_, i) => hog.acquireAsync(1 + (i % 2)).catch(() => {}));
    let capacitor: Capacitor | undefined;
    let refusals = 0;
    while (!capacitor && refusals < 20) {
      try {
        capacitor = new Capacitor(1, { arena, semaphore: 'chain' });
      } catch (error) {
        refusals++;
        expect(error).toBeInstanceOf(ArenaFullError);
        expect((error as Error).message).toContain('{ waiters: ');
        hog.release();
        await new Promise(setImmediate);
      }
    }
    expect(refusals).toBeGreaterThan(1);
    expect(capacitor?.tryArrive()).toBe(true);
    hog.dispose();
    await Promise.all(asked);
  });

  it('does not attach by a handle that is bad', () => {
    const arena = new Arena({ objects: 1 });
    const inner = new LocationSemaphore(1);
    const [dead, lane] = [inner.handle, new Capacitor(1).handle];
    inner.dispose();
    const given = new OwnSemaphore(1);
    const what = 'Capacitor.from: ';
    const refused: [Error | RegExp | typeof DisposedError, object, unknown?][] = [
      [DisposedError, { semaphore: dead }],
      [new TypeError(`${what}semaphore must be left out, since the handle names 'twa'`), {}, given],
      [new TypeError(`${what}semaphore must be a semaphore of your own, got "twa"`), { semaphore: undefined }, 'twa'],
      [new TypeError(`${what}semaphore must be a semaphore of your own, got null`), { semaphore: undefined }, null],
      [new TypeError(`${what}semaphore: acquire must be a function, got undefined`), { semaphore: undefined }, {}],
      [/: handle: random lanes must have/, { semaphore: undefined, random: true, lanes: [lane] }, given],
      [new TypeError(`${what}lanes of the handle must be an array, got 7`), { lanes: 7 }],
      [new RangeError(`${what}lanes of the handle must be 1 to 64 handles, got 0`), { semaphore: 'multilane' }],
      [new RangeError(`${what}lanes of the handle must be 1 to 64 handles, got 0`), { random: true }],
      [new RangeError(`${what}lanes of the handle must be 0 to 64 handles, got 65`), { lanes: Array(65).fill(lane) }],
    ];
    for (const [error, changes, semaphore] of refused) {
      const capacitor = new Capacitor(1, { arena });
      const handle = { ...capacitor.handle, ...changes };
      expect(() => Capacitor.from(handle, semaphore as never)).toThrow(error);
      // Its memory is free again unless the thread is still attached, and there is room for one.
      capacitor.dispose();
    }
    expect(() => MultilaneSemaphore.from({ ...new MultilaneSemaphore(1).handle, lanes: [] })).toThrow(
      new RangeError('MultilaneSemaphore.from: lanes of the handle must be 1 to 64 handles, got 0'),
    );
  });

  it.each([0n, 1n, 2n])('departs from lanes that another has disposed of, from ticket %i', (firstTicket) => {
    const capacitor = new Capacitor(1, { lanes: 3, firstTicket });
    const same = Capacitor.from(capacitor.handle);
    const semaphore = new MultilaneSemaphore(0, { lanes: 3, firstTicket });
    const other = MultilaneSemaphore.from(semaphore.handle);
    same.arrive();
    capacitor.dispose();
    semaphore.dispose();
    expect(same.depart()).toBeUndefined();
    for (const permits of [1, 2, 7]) expect(other.release(permits)).toBeUndefined();
    expect(other.available).toBe(0);
    expect(() => other.tryAcquire()).toThrow(DisposedError);
  });

  it('leaves nothing behind when the arena has no room for its lanes', () => {
    const arena = new Arena({ objects: 4 });
    expect(() => new Capacitor(1, { arena, lanes: 4 })).toThrow(ArenaFullError);
    for (let i = 0; i < 4; i++) new Capacitor(1, { arena });
  });
});

/** A FIFO semaphore that a user wrote, for one thread. */
class OwnSemaphore implements InnerSemaphore {
  permits: number;

  constructor(permits: number) {
    this.permits = permits;
  }

  acquire(): void {
    if (this.permits-- === 0) throw new Error('it would wait for ever');
  }

  release(permits: number): void {
    this.permits += permits;
  }
}

class TryOwnSemaphore extends OwnSemaphore {
  tryAcquire(): boolean {
    if (this.permits === 0) return false;
    this.permits--;
    return true;
  }
}

describe("a Capacitor with a semaphore of the user's own inside", () => {
  it('waits there, and gives the permits of a platoon back at once', () => {
    const own = new OwnSemaphore(2);
    const capacitor = new Capacitor(2, { semaphore: own });
    for (let i = 0; i < 3; i++) {
      capacitor.arrive();
      capacitor.arrive();
      expect(own.permits).toBe(0);
      capacitor.depart();
      expect(own.permits).toBe(0);
      capacitor.depart();
      expect(own.permits).toBe(2);
    }
    expect(() => capacitor.depart()).toThrow('every thread that has arrived has departed');
    expect(() => capacitor.tryArrive()).toThrow(
      new TypeError('Capacitor.tryArrive: the semaphore inside has no function tryAcquire'),
    );
    expect(capacitor.handle.semaphore).toBeUndefined();
    expect(() => Capacitor.from(capacitor.handle)).toThrow(
      new TypeError('Capacitor.from: semaphore must be given, since the handle knows no semaphore of this entry'),
    );
    const same = Capacitor.from(capacitor.handle, own);
    same.arrive();
    expect(own.permits).toBe(1);
    capacitor.depart();
    capacitor.dispose();
    expect(() => same.arrive()).toThrow(DisposedError);
  });

  it('refuses a thread that the semaphore lets in too early, and goes on', () => {
    const own = new TryOwnSemaphore(3);
    const capacitor = new Capacitor(2, { semaphore: own });
    for (let i = 0; i < 4; i++) {
      capacitor.arrive();
      capacitor.arrive();
      for (const arrive of [() => capacitor.arrive(), () => capacitor.tryArrive()])
        expect(arrive).toThrow(/has let in more threads than a platoon has/);
      expect(own.permits).toBe(1);
      capacitor.depart();
      capacitor.depart();
      expect(own.permits).toBe(3);
    }
  });

  it('draws another ticket if a thread has drawn the one that was due', () => {
    // The sources have a thread of their own, whose functions can be replaced here.
    const arena = new SourceArena();
    const own = new TryOwnSemaphore(2);
    const capacitor = new SourceCapacitor(2, { arena, semaphore: own });
    const algorithms = replaceable(algorithmsOf(membershipOf('test', arena)));
    const { takeIfDue } = algorithms;
    let refusals = 0;
    algorithms.takeIfDue = (at) => (refusals++ % 3 < 2 ? REFUSED : takeIfDue(at));
    capacitor.arrive();
    expect(capacitor.tryArrive()).toBe(true);
    algorithms.takeIfDue = takeIfDue;
    expect(refusals).toBe(6);
    expect(own.permits).toBe(0);
    capacitor.depart();
    capacitor.depart();
    expect(own.permits).toBe(2);
  });

  it('is closed without an error, and gives one permit to those who wait', () => {
    const own = new OwnSemaphore(1);
    const lock = new CapacitorLock(new TtsLock(), { bypass: 1, semaphore: own });
    const same = CapacitorLock.from(lock.handle, undefined, own);
    const third = CapacitorLock.from(lock.handle, undefined, own);
    lock.lock();
    expect(own.permits).toBe(0);
    lock.dispose();
    third.dispose();
    expect(own.permits).toBe(1);
    expect(() => same.lock()).toThrow(DisposedError);
    expect(own.permits).toBe(1);

    const full = new Semaphore(4);
    const capacitor = new Capacitor(4, { semaphore: full });
    const other = Capacitor.from(capacitor.handle, full);
    expect(capacitor.dispose()).toBeUndefined();
    expect(full.available).toBe(4);
    expect(() => other.arrive()).toThrow(DisposedError);
    expect(full.available).toBe(4);
  });

  it('passes an error of the semaphore on while it is open', () => {
    const full = new Semaphore(3);
    const capacitor = new Capacitor(2, { semaphore: full });
    capacitor.arrive();
    capacitor.arrive();
    full.release(2);
    capacitor.depart();
    expect(() => capacitor.depart()).toThrow(RangeError);
  });

  it('refuses a robust semaphore', () => {
    const message = 'must not be robust: the last of a platoon gives back the permits of other threads';
    const robust = new Semaphore(2, { robust: true });
    expect(() => new Capacitor(2, { semaphore: robust })).toThrow(new TypeError(`Capacitor: semaphore ${message}`));
    const { handle } = new Capacitor(2, { semaphore: new OwnSemaphore(2) });
    expect(() => Capacitor.from(handle, robust)).toThrow(new TypeError(`Capacitor.from: semaphore ${message}`));
  });

  it('has no whenContended, since its waiters have no ticket', () => {
    const why =
      'whenContended must not be true with a semaphore of your own: its waiters have no ticket, and would be passed without bound';
    const semaphore = new OwnSemaphore(1);
    expect(() => new CapacitorLock(new TtsLock(), { bypass: 1, semaphore, whenContended: true })).toThrow(
      new TypeError(`CapacitorLock: ${why}`),
    );
    for (const inside of [semaphore, new LocationSemaphore(1)]) {
      const { handle } = new CapacitorLock(new TtsLock(), { bypass: 1, semaphore: inside });
      expect(() => CapacitorLock.from({ ...handle, whenContended: true }, undefined, inside)).toThrow(
        new TypeError(`CapacitorLock.from: handle: ${why}`),
      );
    }
  });

  it('finds a semaphore of the library by its handle', () => {
    const semaphores = [() => new MultilaneSemaphore(2), () => new ChannelSemaphore(2), () => new LocationSemaphore(2)];
    for (const make of semaphores) {
      const lock = new CapacitorLock(new TtsLock(), { semaphore: make(), bypass: 2 });
      const same = CapacitorLock.from(structuredClone(lock.handle));
      for (let i = 0; i < 5; i++) {
        same.lock();
        expect(() => lock.lock()).toThrow('holds the lock already');
        lock.unlock();
      }
      lock.dispose();
      expect(() => same.lock()).toThrow(DisposedError);
    }
  });
});

describe('a Capacitor with lanes at random', () => {
  it('departs where the thread has arrived, and nowhere else', () => {
    const capacitor = new Capacitor(6, { lanes: 3, random: true });
    const same = Capacitor.from(structuredClone(capacitor.handle));
    expect(same.bypass).toBe(6);
    const message = 'Capacitor.depart: this thread has departed as often as it has arrived';
    for (let i = 0; i < 200; i++) {
      capacitor.arrive();
      same.depart();
      expect(() => capacitor.depart()).toThrow(new Error(message));
    }
  });

  it('goes to every lane', () => {
    // A lane takes one in. So a thread that has come to all of them is let in nowhere any more.
    const capacitor = new Capacitor(3, { lanes: 3, random: true });
    let inside = 0;
    for (let i = 0; i < 1000; i++) if (capacitor.tryArrive()) inside++;
    expect(inside).toBe(3);
    for (let i = 0; i < 3; i++) capacitor.depart();
    expect(capacitor.tryArrive()).toBe(true);
  });
});

describe.each([
  {},
  { bypass: 1 },
  { semaphore: 'ticket' },
  { lanes: 2 },
  { lanes: 3, random: true },
  { lanes: 2, random: true, semaphore: 'chain', whenContended: true },
  { semaphore: 'chain' },
  { fraction: 0.5 },
  { whenContended: true },
  { whenContended: true, fraction: 0.9, lanes: 3 },
] as const)('a CapacitorLock with %o', (options) => {
  it('is held by one, and free again', () => {
    const lock = new CapacitorLock(new TtsLock(), options);
    for (let i = 0; i < 300; i++) {
      expect(lock.lock()).toBeUndefined();
      expect(lock.tryLock()).toBe(false);
      expect(lock.unlock()).toBeUndefined();
      expect(lock.tryLock()).toBe(true);
      lock.unlock();
    }
  });

  it('refuses to be locked twice by one thread, and unlocked by a thread that does not hold it', async () => {
    const lock = new CapacitorLock(new TtsLock(), options);
    const same = CapacitorLock.from(structuredClone(lock.handle));
    expect(same.bypass).toBe('bypass' in options ? options.bypass : 10);
    const twice =
      'CapacitorLock.lock: this thread holds the lock already, and would wait for itself for ever: unlock first, or do not lock again';
    const notHeld = 'CapacitorLock.unlock: this thread does not hold the lock';
    expect(() => lock.unlock()).toThrow(new Error(notHeld));
    for (let i = 0; i < 30; i++) {
      lock.lock();
      expect(() => lock.lock()).toThrow(new SelfDeadlockError(twice));
      expect(() => same.lock()).toThrow(new SelfDeadlockError(twice));
      expect(same.tryLock()).toBe(false);
      same.unlock();
      expect(() => lock.unlock()).toThrow(new Error(notHeld));
    }
    lock.lock();
    await expect(member().run('misuse-lock', { handle: lock.handle })).rejects.toThrow(notHeld);
    lock.unlock();
    await expect(member().run('misuse-lock', { handle: lock.handle })).rejects.toThrow('the lock was free');
    expect(lock.tryLock()).toBe(false);
  });

  it('is closed by dispose, which frees its memory', () => {
    const inner = new TtsLock();
    const lock = new CapacitorLock(inner, options);
    const same = CapacitorLock.from(lock.handle);
    lock.lock();
    lock.dispose();
    lock.dispose();
    for (const one of [lock, same]) {
      expect(() => one.lock()).toThrow(new DisposedError('the CapacitorLock has been disposed of'));
      expect(() => one.tryLock()).toThrow(DisposedError);
      expect(() => one.handle).toThrow(DisposedError);
      expect(one.unlock()).toBeUndefined();
    }
    // The inner lock belongs to its maker.
    expect(inner.tryLock()).toBe(true);
  });
});

describe('CapacitorLock', () => {
  it("wraps a lock of the user's own", () => {
    const own = new OwnLock();
    const lock = new CapacitorLock(own, { bypass: 1 });
    for (let i = 0; i < 3; i++) {
      lock.lock();
      expect(own.locked).toBe(true);
      expect(() => lock.lock()).toThrow('holds the lock already');
      lock.unlock();
      expect(own.locked).toBe(false);
      // An error of the inner lock comes through, and leaves nobody inside the capacitor.
      own.fails = true;
      expect(() => lock.lock()).toThrow('no lock today');
      expect(() => lock.unlock()).toThrow('does not hold');
      own.fails = false;
    }
    expect(lock.handle.inner).toBeUndefined();
    expect(() => CapacitorLock.from(lock.handle)).toThrow(/inner must be given/);
    const same = CapacitorLock.from(lock.handle, own);
    same.lock();
    expect(own.locked).toBe(true);
    lock.unlock();
    expect(() => lock.tryLock()).toThrow(
      new TypeError('CapacitorLock.tryLock: the inner lock has no function tryLock'),
    );
  });

  it('runs a section, and gives the lock back whatever happens', () => {
    for (const lock of [new CapacitorLock(new TtsLock()), new TtsLock(), new TicketLock()]) {
      const kind = lock.constructor.name;
      expect(
        lock.run(() => {
          expect(lock.tryLock()).toBe(false);
          return 7;
        }),
      ).toBe(7);
      expect(() =>
        lock.run(() => {
          throw new RangeError('the section fails');
        }),
      ).toThrow(new RangeError('the section fails'));
      expect(() => lock.run(async () => 7)).toThrow(
        new TypeError(
          `${kind}.run: section must not be async: it has returned a promise, and the lock is given back before that is settled`,
        ),
      );
      expect(() => lock.run(7 as never)).toThrow(new TypeError(`${kind}.run: section must be a function, got 7`));
      expect(lock.tryLock()).toBe(true);
      expect(() => lock.run(() => 7)).toThrow('holds the lock already');
      lock.unlock();
    }
  });

  it('wraps a lock that is wrapped', () => {
    const lock = new CapacitorLock(new CapacitorLock(new TicketLock(), { bypass: 2 }), { bypass: 3 });
    const same = CapacitorLock.from(structuredClone(lock.handle));
    for (let i = 0; i < 10; i++) {
      lock.lock();
      expect(same.tryLock()).toBe(false);
      same.unlock();
      expect(same.tryLock()).toBe(true);
      lock.unlock();
    }
  });

  it('goes past the capacitor as often as fraction says', () => {
    const arena = new Arena();
    const passed = (fraction: number) => {
      const lock = new CapacitorLock(new TtsLock({ arena }), { arena, fraction, bypass: 7 });
      for (let i = 0; i < 2000; i++) {
        lock.lock();
        lock.unlock();
      }
      return lastTicket(arena) + 1n;
    };
    expect(passed(0)).toBe(2000n);
    // The bounds are further from the mean of 2000 draws than twenty standard deviations.
    expect(Number(passed(0.5))).toBeGreaterThan(500);
    expect(Number(passed(0.5))).toBeLessThan(1500);
    expect(Number(passed(0.99))).toBeLessThan(300);
  });

  it('goes past the capacitor when nobody is inside, if so asked', () => {
    const arena = new Arena();
    const inner = new TtsLock({ arena });
    const lock = new CapacitorLock(inner, { arena, whenContended: true });
    for (let i = 0; i < 100; i++) {
      lock.lock();
      lock.unlock();
    }
    expect(lastTicket(arena)).toBe(-1n);
    const always = CapacitorLock.from({ ...lock.handle, whenContended: false });
    always.lock();
    expect(lastTicket(arena)).toBe(0n);
    always.unlock();
    lock.lock();
    lock.unlock();
    expect(lastTicket(arena)).toBe(0n);
  });

  it('refuses bad arguments', () => {
    for (const inner of [undefined, null, 5, 'lock'])
      expect(() => new CapacitorLock(inner as never)).toThrow(/^CapacitorLock: inner must be a lock, got /);
    expect(() => new CapacitorLock({ lock() {} } as never)).toThrow(
      new TypeError('CapacitorLock: inner must be a lock, but it has no function unlock'),
    );
    expect(() => new CapacitorLock({} as never)).toThrow(TypeError);
    const inner = new TtsLock();
    for (const fraction of [-0.1, 1, Number.NaN])
      expect(() => new CapacitorLock(inner, { fraction })).toThrow(
        new RangeError(`CapacitorLock: fraction must be from 0 to below 1, got ${fraction}`),
      );
    expect(() => new CapacitorLock(inner, { fraction: '0' as never })).toThrow(TypeError);
    expect(() => new CapacitorLock(inner, { bypass: 0 })).toThrow(RangeError);
    expect(() => new CapacitorLock(inner, null as never)).toThrow(TypeError);
    expect(() => new CapacitorLock(inner, { whenContended: 1 as never })).toThrow(TypeError);
    expect(() => new CapacitorLock(new OwnLock(), { whenContended: true })).toThrow(
      new TypeError('CapacitorLock: whenContended needs an inner lock with a function tryLock'),
    );
    expect(() => CapacitorLock.from(inner.handle as never)).toThrow(
      'CapacitorLock.from: handle must be of a CapacitorLock, but it is of a TtsLock',
    );
    expect(() => CapacitorLock.from(7 as never)).toThrow(TypeError);
  });
});
