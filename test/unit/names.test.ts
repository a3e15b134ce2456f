/** Semaphores by name. */
import { Arena, ArenaFullError, DisposedError, Mutex, Semaphore } from 'taketurns';
import { TicketLock } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, firstObject, Memory, nameHeads } from '../support/memory.js';
import { shared } from '../support/shared.js';
import { type Member, team } from '../support/team.js';

const crowd = team(1, { core: true });

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
    Semaphore.open('with a max', 2, { max: 5, spin: 10 });
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
    expect(() => Semaphore.open('as it is', 3)).toThrow(RangeError);
    expect(Semaphore.open('as it is', 3, { max: 9 }).available).toBe(3);
  });

  it('a name that nothing has, when no permits are given', () => {
    expect(() => Semaphore.open('nobody')).toThrow(
      new Error('Semaphore.open: name "nobody": nothing of that name exists; give permits to create it'),
    );
    // The call has not made it either.
    expect(() => Semaphore.open('nobody')).toThrow(/nothing of that name/);
    expect(Semaphore.open('nobody', 1).available).toBe(1);
  });

  it.each(['', 'x'.repeat(109), 'ä'.repeat(55), '🙂'.repeat(28)])(
    'a name that is too short or too long: %s',
    (name) => {
      const length = new TextEncoder().encode(name).length;
      expect(() => Semaphore.open(name, 1)).toThrow(
        new RangeError(`Semaphore.open: name must be 1 to 108 bytes of UTF-8, got ${length}`),
      );
    },
  );

  it.each([undefined, null, 5, {}, ['a'], Symbol('a')])('a value that is no name: %s', (name) => {
    expect(() => Semaphore.open(name as never, 1)).toThrow(TypeError);
    expect(() => Semaphore.open(name as never, 1)).toThrow(/^Semaphore.open: name must be a string, got /);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 31, '1', 1n, null])('%s permits', (permits) => {
    expect(() => Semaphore.open('bad permits', permits as never)).toThrow(
      /^Semaphore: permits must be an integer from 0 to 2147483647, got /,
    );
    expect(() => Semaphore.open('bad permits')).toThrow(/nothing of that name/);
  });
});

describe('open accepts', () => {
  it.each(['x', 'x'.repeat(108), 'ä'.repeat(54), '🙂'.repeat(27)])('the shortest and longest names: %s', (name) => {
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
    const arena = new Arena({ objects: 2, names: 2 });
    for (let i = 0; i < 1000; i++) {
      const semaphore = Semaphore.open('the same', 1, { arena });
      semaphore.acquire();
      semaphore.dispose();
    }
  });
});

describe('dispose gives the name back', () => {
  it('so that 100,000 names come and go where there is room for 1024', () => {
    const arena = new Arena();
    for (let i = 0; i < 100_000; i++) Semaphore.open(`job-${i}`, 1, { arena }).dispose();
    expect(Semaphore.open('after all jobs', 1, { arena }).tryAcquire()).toBe(true);
  });

  it('also if it stands in its list between names that stay', () => {
    // In 256 lists, four names each.
    const arena = new Arena({ names: 1024, objects: 1024 });
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
    const arena = new Arena({ names: 1 });
    const old = Semaphore.open('old', 1, { arena });
    await (crowd[0] as Member).run('attempts', { handle: old.handle, rounds: 1 });
    expect(() => Semaphore.open('new', 1, { arena })).toThrow(ArenaFullError);
    old.dispose();
    expect(Semaphore.open('new', 2, { arena }).available).toBe(2);
    expect(() => Semaphore.open('old', 1, { arena })).toThrow(ArenaFullError);
  });
});

describe('no room', () => {
  it('for another name', () => {
    const arena = new Arena({ names: 3 });
    for (const name of ['a', 'b', 'c']) Semaphore.open(name, 1, { arena });
    expect(() => Semaphore.open('d', 1, { arena })).toThrow(ArenaFullError);
    expect(() => Semaphore.open('d', 1, { arena })).toThrow(/no room for another name.*`names`/);
  });

  it('for another name does not affect the existing ones', () => {
    const arena = new Arena({ names: 3 });
    for (const name of ['a', 'b', 'c']) Semaphore.open(name, 1, { arena });
    for (const name of ['a', 'b', 'c']) expect(Semaphore.open(name, 1, { arena }).tryAcquire()).toBe(true);
  });

  it('is not used up by looking for unknown names', () => {
    const arena = new Arena({ names: 3 });
    for (let i = 0; i < 10; i++) {
      expect(() => Semaphore.open(`nobody ${i}`, undefined, { arena })).toThrow(/nothing of that name/);
    }
    Semaphore.open('somebody', 1, { arena });
  });

  it('for another object', () => {
    const arena = new Arena({ objects: 1 });
    const semaphore = shared(new Semaphore(1, { arena }));
    for (let i = 0; i < 10; i++) {
      expect(() => Semaphore.open('late', 1, { arena })).toThrow(ArenaFullError);
      expect(() => Semaphore.open('late', 1, { arena })).toThrow(/no room for another object.*`objects`/);
    }
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

  it.each([1, 256, 257, 5000])('are as many as the names, of which there are %i, and stay short', (names) => {
    const arena = new Arena({ names, objects: names });
    for (let i = 0; i < names; i++) Semaphore.open(`list ${i}`, 1, { arena });
    const all = lengths(new Memory(arena), nameHeads(names));
    expect(all.length).toBeGreaterThanOrEqual(names);
    expect(all.reduce((sum, length) => sum + length)).toBe(names);
    expect(Math.max(...all)).toBeLessThanOrEqual(10);
    expect(firstObject(names)).toBe(Semaphore.open('list 0', 1, { arena }).handle.address);
    expect(() => Semaphore.open('one more', 1, { arena })).toThrow(ArenaFullError);
  });
});
