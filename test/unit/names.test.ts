/** Objects by name. */
import { Arena, ArenaFullError, DisposedError, Mutex, Semaphore } from 'taketurns';
import { TicketLock } from 'taketurns/algorithms';
import { Event, RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { recruit } from '../support/dying.js';
import { at, firstObject, Memory, nameHeads } from '../support/memory.js';
import { report } from '../support/program.js';
import { roundsInCi } from '../support/rounds.js';
import { shared } from '../support/shared.js';
import { type Member, team } from '../support/team.js';

const crowd = team(1, { core: true });

/** How many objects of the arena are in use. */
const used = (arena: Arena) => arena.stats().objects.used;

/** Lets go of the shared object, as the thread does when this library object is collected. */
function drop(object: object): void {
  (object as { [closed](): void })[closed]();
}
const closed: unique symbol = Symbol.for('taketurns:closed') as never;

describe('open', () => {
  it('makes a semaphore, and finds it again', () => {
    const one = Semaphore.open('found again', 3);
    const same = Semaphore.open('found again', 3);
    const found = Semaphore.open('found again');
    one.acquire();
    same.acquire();
    expect(found.available).toBe(1);
    expect(found.handle.address).toBe(one.handle.address);
    expect(found.max).toBe(one.max);
  });

  it('gives different names different semaphores', () => {
    const names = Array.from({ length: 600 }, (_, i) => `different ${i}`);
    const addresses = new Set(names.map((name) => Semaphore.open(name, 1).handle.address));
    expect(addresses.size).toBe(600);
    for (const name of names) expect(Semaphore.open(name).tryAcquire()).toBe(true);
    for (const name of names) expect(Semaphore.open(name).tryAcquire()).toBe(false);
  });

  it('tells names apart by every byte, and by length', () => {
    const names = ['a', 'A', 'aa', 'a\0', '\0a', '\0', 'ä', 'a\u0308', ' a', 'toString', '__proto__', '🙂', '🙃'];
    expect(new Set(names.map((name) => Semaphore.open(name, 1).handle.address)).size).toBe(names.length);
  });

  it('refuses a name with half a character, which UTF-8 cannot tell from another half', () => {
    const halves = ['\ud800', '\udc00', 'a\ud83d', '\udf42b', '\udc00\ud800', '🙂\ud800'];
    for (const name of halves) {
      const error = new TypeError(`open: name must be well-formed Unicode, got ${JSON.stringify(name)}`);
      expect(() => Semaphore.open(name, 1)).toThrow(new TypeError(`Semaphore.${error.message}`));
      expect(() => Mutex.open(name)).toThrow(new TypeError(`Mutex.${error.message}`));
      expect(() => TicketLock.open(name)).toThrow(new TypeError(`TicketLock.${error.message}`));
    }
    expect(Semaphore.open('\ufffd', 1).tryAcquire()).toBe(true);
    expect(Semaphore.open('\u{10ffff}', 1).tryAcquire()).toBe(true);
  });

  it('keeps to its arena', () => {
    const [one, other] = [new Arena(), new Arena()];
    Semaphore.open('mine', 1, { arena: one }).acquire();
    expect(Semaphore.open('mine', 1, { arena: other }).available).toBe(1);
    expect(() => Semaphore.open('mine')).toThrow(/nothing of that name exists/);
  });

  it('takes the options of the call that makes it', () => {
    Semaphore.open('with a max', 2, { max: 5 });
    expect(Semaphore.open('with a max').max).toBe(5);
    expect(Semaphore.open('with a max', 2, { max: 5 }).max).toBe(5);
  });

  it('has one queue with the threads that opened it elsewhere', async () => {
    const semaphore = Semaphore.open('in one line', 0);
    const promise = Semaphore.open('in one line', 0).acquireAsync();
    expect(semaphore.waiting).toBe(1);
    await (crowd[0] as Member).run('release', { handle: Semaphore.open('in one line').handle });
    await promise;
  });
});

describe('open refuses', () => {
  it('other permits, or another max', () => {
    Semaphore.open('as it is', 3, { max: 9 });
    for (const [permits, max, differs] of [
      [2, 9, 'permits 3, not 2'],
      [4, 9, 'permits 3, not 4'],
      [3, 8, 'max 9, not 8'],
      [0, 8, 'permits 3, not 0; max 9, not 8'],
    ] as const) {
      expect(() => Semaphore.open('as it is', permits, { max })).toThrow(RangeError);
      expect(() => Semaphore.open('as it is', permits, { max })).toThrow(
        `Semaphore.open: name "as it is": it exists already with ${differs}`,
      );
    }
    expect(() => Semaphore.open('as it is', 3)).toThrow(
      new RangeError('Semaphore.open: name "as it is": it exists already with max 9, not 3'),
    );
    expect(Semaphore.open('as it is', 3, { max: 9 }).available).toBe(3);
    Semaphore.open('without max', 2147483647);
    expect(() => Semaphore.open('without max', 3, { max: 9 })).toThrow(
      'with permits 2147483647, not 3; max 2147483647, not 9',
    );
  });

  it('a name that nothing has, when no permits are given', () => {
    expect(() => Semaphore.open('nobody')).toThrow(
      new Error(
        'Semaphore.open: name "nobody": nothing of that name exists; give permits to create it: Semaphore.open(name, permits)',
      ),
    );
    // The call has not made it either.
    expect(() => Semaphore.open('nobody')).toThrow(/nothing of that name/);
    expect(Semaphore.open('nobody', 1).available).toBe(1);
  });

  it.each(['', 'x'.repeat(117), 'ä'.repeat(59), '🙂'.repeat(30)])(
    'a name that is too short or too long: %s',
    (name) => {
      const length = new TextEncoder().encode(name).length;
      expect(() => Semaphore.open(name, 1)).toThrow(
        new RangeError(`Semaphore.open: name must be 1 to 116 bytes of UTF-8, got ${length}`),
      );
    },
  );

  it.each([undefined, null, 5, {}, ['a'], Symbol('a')])('a value that is no name: %s', (name) => {
    expect(() => Semaphore.open(name as never, 1)).toThrow(TypeError);
    expect(() => Semaphore.open(name as never, 1)).toThrow(/^Semaphore.open: name must be a string, got /);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 31, '1', 1n, null])('%s permits', (permits) => {
    expect(() => Semaphore.open('bad permits', permits as never)).toThrow(
      /^Semaphore.open: permits must be an integer from 0 to 2147483647, got /,
    );
    expect(() => Semaphore.open('bad permits')).toThrow(/nothing of that name/);
  });
});

describe('open accepts', () => {
  it.each(['x', 'x'.repeat(116), 'ä'.repeat(58), '🙂'.repeat(29)])('the shortest and longest names: %s', (name) => {
    const semaphore = Semaphore.open(name, 1);
    expect(Semaphore.open(name).handle.address).toBe(semaphore.handle.address);
    // A name that is one character shorter is another name.
    if (name.length > 2) expect(() => Semaphore.open(name.slice(0, -2))).toThrow(/nothing of that name/);
  });
});

describe('after dispose', () => {
  it('a name stands for a new semaphore', async () => {
    const old = Semaphore.open('anew', 2);
    old.acquire();
    const { handle } = old;
    old.dispose();
    expect(() => Semaphore.open('anew')).toThrow(/nothing of that name/);
    const next = Semaphore.open('anew', 5, { max: 7 });
    expect(next.available).toBe(5);
    expect(next.max).toBe(7);
    expect(() => Semaphore.from(handle)).toThrow(DisposedError);
    old.release();
    expect(next.available).toBe(5);
  });

  it('a name is not lost while another thread still refers to the old semaphore', async () => {
    const old = Semaphore.open('still in use', 2);
    await (crowd[0] as Member).run('attempts', { handle: old.handle, rounds: 1 });
    const { address } = old.handle;
    old.dispose();
    const next = Semaphore.open('still in use', 1);
    expect(next.handle.address).not.toBe(address);
    expect(next.available).toBe(1);
  });

  it('a name that has been used a thousand times takes the room of one entry', () => {
    const arena = new Arena({ objects: 1 });
    for (let i = 0; i < 1000; i++) {
      const semaphore = Semaphore.open('the same', 1, { arena });
      semaphore.acquire();
      semaphore.dispose();
    }
  });
});

describe('dispose gives the name back', () => {
  it('so that many more names come and go than the 1024 for which there is room', () => {
    const arena = new Arena({ objects: 1024 });
    for (let i = 0; i < roundsInCi(100_000, 20_000); i++) Semaphore.open(`job-${i}`, 1, { arena }).dispose();
    expect(Semaphore.open('after all jobs', 1, { arena }).tryAcquire()).toBe(true);
  });

  it('also if it stands in its list between names that stay', () => {
    // In 1024 lists, one name each. Some lists have several.
    const arena = new Arena({ objects: 1024 });
    const open = (i: number) => Semaphore.open(`between ${i}`, 1, { arena });
    const all = Array.from({ length: 1024 }, (_, i) => open(i));
    for (let round = 1; round <= 4; round++) {
      for (let i = round % 3; i < 1024; i += 3) all[i]?.dispose();
      for (let i = round % 3; i < 1024; i += 3) all[i] = open(i + 1024 * round);
      expect(() => open(-1)).toThrow(ArenaFullError);
    }
    expect(new Set(all.map(({ handle }) => handle.address)).size).toBe(1024);
  });

  it('while an object of this thread or another still refers to it', async () => {
    const arena = new Arena({ objects: 2 });
    const old = Semaphore.open('old', 1, { arena });
    await (crowd[0] as Member).run('attempts', { handle: old.handle, rounds: 1 });
    old.dispose();
    const next = Semaphore.open('old', 2, { arena });
    expect(next.available).toBe(2);
    old.dispose();
    expect(next.available).toBe(2);
    expect(Semaphore.open('old', undefined, { arena }).available).toBe(2);
  });

  it('once: an object that was disposed of twice, or is used again, leaves the next one of its name alone', () => {
    const arena = new Arena();
    const old = Mutex.open('twice', { arena });
    const same = Mutex.open('twice', { arena });
    old.dispose();
    const next = Mutex.open('twice', { arena });
    next.lock();
    old.dispose();
    same.dispose();
    expect(() => old.lock()).toThrow(DisposedError);
    expect(() => same.tryLock()).toThrow(DisposedError);
    expect(() => old.handle).toThrow(DisposedError);
    expect(next.locked).toBe(true);
    expect(Mutex.open('twice', { arena }).locked).toBe(true);
    next.unlock();
    expect(used(arena)).toBe(1);
  });
});

describe('a name goes with its object, when no thread has it open any more', () => {
  it('as long as a library object of this thread is there, it stays', () => {
    const arena = new Arena();
    const one = Mutex.open('of two', { arena });
    const other = Mutex.open('of two', { arena });
    drop(one);
    expect(used(arena)).toBe(1);
    other.lock();
    expect(Mutex.open('of two', { arena }).locked).toBe(true);
    other.unlock();
    drop(other);
    // The third library object keeps the name.
    expect(used(arena)).toBe(1);
  });

  it('the next thread that opens it gets a new object', () => {
    const arena = new Arena({ objects: 1 });
    const old = Semaphore.open('x', 3, { arena });
    drop(old);
    drop(old);
    expect(used(arena)).toBe(0);
    expect(() => Semaphore.open('x', undefined, { arena })).toThrow(/nothing of that name/);
    // Of another kind, and with other properties.
    const lock = RwLock.open('x', { arena });
    expect(lock.tryLockWrite()).toBe(true);
    expect(() => old.acquire()).toThrow(DisposedError);
    lock.unlockWrite();
    drop(lock);
    expect(Semaphore.open('x', 1, { arena }).max).toBe(1);
  });

  it.each([
    ['a permit is missing', (arena: Arena) => Semaphore.open('x', 2, { arena }), 'acquire', 'release'],
    ['there is a permit more', (arena: Arena) => Semaphore.open('x', 0, { arena }), 'release', 'acquire'],
    ['it is locked', (arena: Arena) => Mutex.open('x', { arena }), 'lock', 'unlock'],
    ['it is locked', (arena: Arena) => TicketLock.open('x', { arena }), 'lock', 'unlock'],
    ['it is set', (arena: Arena) => Event.open('x', { arena }), 'set', 'reset'],
  ])('it stays while %s: %s', (_, open, change, back) => {
    const arena = new Arena();
    const call = (object: object, method: string) => (object as Record<string, () => void>)[method]?.();
    const one = open(arena);
    call(one, change);
    drop(one);
    expect(used(arena)).toBe(1);
    const again = open(arena);
    call(again, back);
    drop(again);
    expect(used(arena)).toBe(0);
  });

  it('it goes at a later look, if another thread brings it back to what it was', () => {
    const arena = new Arena();
    const semaphore = Semaphore.open('x', 1, { arena });
    semaphore.acquire();
    drop(semaphore);
    expect(used(arena)).toBe(1);
    new Memory(arena).beginRelease({ handle: { address: firstObject() } }, 1);
    for (let i = 0; i < 2; i++) Mutex.open('look', { arena }).dispose();
    expect(used(arena)).toBe(0);
  });

  it('a handle keeps it until it is disposed of', () => {
    const arena = new Arena();
    const sent = Semaphore.open('sent', 1, { arena });
    const { handle } = sent;
    drop(sent);
    expect(used(arena)).toBe(1);
    const got = Semaphore.from(handle);
    expect(Semaphore.open('sent', 1, { arena }).handle).toEqual(handle);
    got.dispose();
    expect(used(arena)).toBe(0);
    expect(() => Semaphore.from(handle)).toThrow(DisposedError);
  });

  it('a call that is refused because of other properties leaves nothing behind', () => {
    const arena = new Arena();
    const one = Semaphore.open('x', 1, { arena });
    const { elements } = arena.stats();
    for (let i = 0; i < 10; i++) {
      expect(() => Semaphore.open('x', 2, { arena })).toThrow(RangeError);
      expect(() => Semaphore.open('x', 1, { robust: true, arena })).toThrow(/robust false, not true/);
      expect(() => Mutex.open('x', { arena })).toThrow(TypeError);
    }
    expect(arena.stats().elements).toEqual(elements);
    drop(one);
    expect(used(arena)).toBe(0);
    expect(arena.stats().elements.used).toBe(elements.used - 1);
  });

  it('a tombstone in the queue does not stay behind', async () => {
    const arena = new Arena();
    const semaphore = Semaphore.open('x', 1, { arena });
    semaphore.acquire();
    const waits = [5, 10].map((timeout) => semaphore.acquireAsync(1, { timeout }).catch(({ name }) => name));
    const last = semaphore.acquireAsync(1, { timeout: 20 }).catch(({ name }) => name);
    expect(await Promise.all([...waits, last])).toEqual(['TimeoutError', 'TimeoutError', 'TimeoutError']);
    semaphore.release();
    drop(semaphore);
    expect(used(arena)).toBe(0);
    expect(new Memory(arena).standing).toEqual([]);
    expect(new Memory(arena).cells).toBe(0);
  });

  it('a tombstone before the next ticket is no waiter: the object goes', async () => {
    const arena = new Arena();
    const semaphore = Semaphore.open('x', 0, { arena });
    const waits = [1, 1].map((timeout) => semaphore.acquireAsync(1, { timeout }).catch(({ name }) => name));
    expect(await Promise.all(waits)).toEqual(['TimeoutError', 'TimeoutError']);
    drop(semaphore);
    expect(used(arena)).toBe(0);
    expect(new Memory(arena).standing).toEqual([]);
    expect(new Memory(arena).cells).toBe(0);
  });

  it('with a thread that dies: 10,000 names, locked or not', async () => {
    const arena = new Arena();
    const worker = recruit(arena);
    const mine = Mutex.open('b9999', { arena });
    await worker.run('keep-names', { arena: arena.handle, prefix: 'a', count: 5000, locks: true });
    await worker.run('keep-names', { arena: arena.handle, prefix: 'b', count: 10_000 });
    expect(used(arena)).toBe(15_000);
    await worker.kill();
    expect(used(arena)).toBe(1);
    expect(Mutex.open('b9999', { arena }).tryLock()).toBe(true);
    expect(mine.locked).toBe(true);
    expect(Mutex.open('a0', { arena }).locked).toBe(false);
    expect(arena.stats().elements.used).toBeLessThan(10);
  });

  it('with a thread that leaves the arena', async () => {
    const arena = new Arena();
    const worker = recruit(arena);
    await worker.run('keep-names', { arena: arena.handle, prefix: 'a', count: 10 });
    await worker.leave();
    expect(used(arena)).toBe(0);
  });

  it('if it was only collected: 100,000 names come and go, and nothing that matters is lost', async () => {
    const { opened, gone, ...told } = await report<Record<string, unknown>>('names-go');
    expect(told).toEqual({
      errors: [],
      few: true,
      left: 0,
      stay: 9,
      found: {
        sent: 1,
        taken: 1,
        released: 1,
        locked: true,
        'held in the queue': false,
        set: true,
        done: true,
        'to do': 1,
        read: 1,
      },
    });
    expect(opened).toBe(14);
    expect(gone).toEqual(['taken', 'locked', 'a semaphore', 'a mutex', 'a lock', 'an event', 'a lock of readers']);
  });
});

describe('room', () => {
  it('is for as many names as objects: 65,536, each found again', () => {
    const arena = new Arena();
    const all = Array.from({ length: 65_536 }, (_, i) => Mutex.open(`of many ${i}`, { arena }));
    expect(() => Mutex.open('one more', { arena })).toThrow(ArenaFullError);
    expect(() => Mutex.open('of many 0', { arena })).not.toThrow();
    for (let i = 0; i < all.length; i += 97) all[i]?.lock();
    for (let i = 0; i < all.length; i += 97) expect(Mutex.open(`of many ${i}`, { arena }).locked).toBe(true);
    for (let i = 0; i < all.length; i += 97) all[i]?.unlock();
    for (let i = 1; i < all.length; i += 97) expect(Mutex.open(`of many ${i}`, { arena }).locked).toBe(false);
    all[500]?.dispose();
    expect(Mutex.open('one more', { arena }).tryLock()).toBe(true);
  });

  it('is missing for another object: the error has the code that makes room', () => {
    const arena = new Arena({ objects: 3 });
    for (const name of ['a', 'b', 'c']) Semaphore.open(name, 1, { arena });
    let message = '';
    try {
      Semaphore.open('d', 1, { arena });
    } catch (error) {
      expect(error).toBeInstanceOf(ArenaFullError);
      ({ message } = error as Error);
    }
    expect(message).toMatch(/^the arena has no room for another object/);
    const [code] = /new Arena\([^)]*\)/.exec(message) ?? [];
    const larger = new Function('Arena', `return ${code}`)(Arena) as Arena;
    expect(larger.stats().objects.capacity).toBe(6);
    // The names that are there are not affected.
    for (const name of ['a', 'b', 'c']) expect(Semaphore.open(name, 1, { arena }).tryAcquire()).toBe(true);
  });

  it('is not used up by looking for unknown names', () => {
    const arena = new Arena({ objects: 1 });
    for (let i = 0; i < 10; i++) {
      expect(() => Semaphore.open(`nobody ${i}`, undefined, { arena })).toThrow(/nothing of that name/);
    }
    Semaphore.open('somebody', 1, { arena });
    expect(() => Semaphore.open('nobody', undefined, { arena })).toThrow(/nothing of that name/);
  });

  it('for another object is there again when one has been disposed of', () => {
    const arena = new Arena({ objects: 1 });
    const semaphore = shared(new Semaphore(1, { arena }));
    for (let i = 0; i < 10; i++) expect(() => Semaphore.open('late', 1, { arena })).toThrow(ArenaFullError);
    semaphore.dispose();
    expect(Semaphore.open('late', 1, { arena }).available).toBe(1);
  });
});

describe('the lists of names', () => {
  /** Returns the length of each list. */
  const lengths = (memory: Memory, count: number) =>
    Array.from({ length: count }, (_, i) => {
      let length = 0;
      for (let entry = memory.word(at('NAME_HEADS') + 8 * i); entry !== 0; length++)
        entry = memory.word(entry + at('N_NEXT'));
      return length;
    });

  it.each([1, 256, 257, 5000])('are as many as the objects, of which there are %i, and stay short', (objects) => {
    const arena = new Arena({ objects });
    const kept = Array.from({ length: objects }, (_, i) => Semaphore.open(`list ${i}`, 1, { arena }));
    const all = lengths(new Memory(arena), nameHeads(objects));
    expect(all.length).toBeGreaterThanOrEqual(objects);
    expect(all.reduce((sum, length) => sum + length)).toBe(objects);
    expect(Math.max(...all)).toBeLessThanOrEqual(10);
    expect(firstObject(objects)).toBe(Semaphore.open('list 0', 1, { arena }).handle.address);
    expect(() => Semaphore.open('one more', 1, { arena })).toThrow(ArenaFullError);
    for (const semaphore of kept) drop(semaphore);
    expect(lengths(new Memory(arena), nameHeads(objects)).reduce((sum, length) => sum + length)).toBe(1);
  });

  it('tell names of one hash apart', () => {
    const hashOf = (name: string) => {
      const bytes = Buffer.from(`${name}\0\0\0`);
      let hash = 0;
      for (let i = 0; i + 4 <= bytes.length; i += 4)
        hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ bytes.readInt32LE(i), 0x9e3779b1);
      return hash;
    };
    const byHash = new Map<number, string>();
    let pair: [string, string] | undefined;
    for (let i = 0; !pair; i++) {
      const name = `user ${i}`;
      const other = byHash.get(hashOf(name));
      if (other) pair = [other, name];
      byHash.set(hashOf(name), name);
    }
    const arena = new Arena({ objects: 2 });
    const [one, other] = pair.map((name) => Mutex.open(name, { arena })) as [Mutex, Mutex];
    one.lock();
    expect(other.locked).toBe(false);
    expect(Mutex.open(pair[0], { arena }).locked).toBe(true);
    one.unlock();
    drop(other);
    expect(Mutex.open(pair[1], { arena }).locked).toBe(false);
  });
});
