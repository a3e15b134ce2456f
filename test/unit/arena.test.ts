/** Arenas: all threads share one default arena, and open others by handle. */
import { Arena, Semaphore } from 'taketurns';
import { lastTicket } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at } from '../support/memory.js';
import { report } from '../support/program.js';
import { Member } from '../support/team.js';

describe('the default arena', () => {
  it('is the only one, and new semaphores lie in it', () => {
    expect(Arena.default).toBe(Arena.default);
    expect(new Semaphore(1).handle.arena.memory).toBe(Arena.default.handle.memory);
    expect(Arena.default.handle.isDefault).toBe(true);
  });

  it('is inherited by workers, and by the workers of workers', async () => {
    expect(await report('default-inherited')).toEqual({ worker: 1, nested: 1, available: 8, threads: 1 });
  });

  it('is not made twice: a worker that was started before it seeks no name, and its objects lie apart', async () => {
    const { name, message, afterHandle, then, apart } = await report<Record<string, string>>('default-missing');
    expect(name).toBe('Error');
    expect(message).toContain('this worker has no default arena');
    expect(message).toContain("add the line import 'taketurns/share';");
    expect(message).toContain('post the worker a handle, for Arena.from');
    // What it makes meanwhile lies in an arena of its own, and others reach it by its handle.
    expect(apart).toBe(true);
    // The handle of a semaphore makes its arena the worker's default only if that is the default arena.
    expect(afterHandle).toBe('no arena');
    expect(then).toBe('the same arena');
  });

  it('that a worker got by a handle is inherited by the workers it starts', async () => {
    expect(await report('default-handed-on')).toEqual({ nested: 'the same arena' });
  });

  it('of a worker comes from another thread: none is made by the worker itself', async () => {
    const { errors, taken, available } = await report<Record<string, string[]>>('default-of-a-worker');
    const refused = expect.stringMatching(/^makeDefault: this worker has made the arena, so in another worker a name/);
    expect({ errors, taken, available }).toEqual({ errors: [refused, refused], taken: true, available: 1 });
  });

  it('cannot be replaced', () => {
    const arena = new Arena();
    expect(arena.handle.isDefault).toBe(false);
    expect(Arena.default.makeDefault()).toBe(Arena.default);
    expect(() => arena.makeDefault()).toThrow(/has a default arena already/);
    expect(Arena.default).not.toBe(arena);
  });

  it('that a worker has inherited is its default arena, whatever it calls first', async () => {
    expect(await report('default-twice')).toEqual({
      made: expect.stringMatching(
        /^makeDefault: this worker has a default arena already, which another thread has made: take this call out/,
      ),
      ofAnother: false,
      ofObject: true,
      left: expect.stringMatching(
        /^Arena.dispose: this is the default arena of the thread, .* dispose of these objects/,
      ),
      same: true,
      ofArena: true,
    });
  });

  it('may be made with chosen sizes, before its first use', async () => {
    expect(await report('default-chosen')).toEqual({ same: true, worker: 'full after 3' });
  });
});

describe('an arena', () => {
  it('is one object in each thread, whichever handle it came by', () => {
    const arena = new Arena();
    expect(Arena.from(arena.handle)).toBe(arena);
    expect(Arena.from(structuredClone(arena.handle))).toBe(arena);
    expect(Arena.from(new Semaphore(1, { arena }).handle.arena)).toBe(arena);
    expect(Arena.from(structuredClone(Arena.default.handle))).toBe(Arena.default);
    expect(arena.threads).toBe(1);
  });

  it('keeps its semaphores apart from those of others', () => {
    const [one, other] = [new Arena(), new Arena()];
    const [a, b] = [new Semaphore(1, { arena: one }), new Semaphore(1, { arena: other })];
    expect(a.handle.address).toBe(b.handle.address);
    a.acquire();
    expect(b.available).toBe(1);
    expect(lastTicket(one)).toBe(0n);
    expect(lastTicket(other)).toBe(-1n);
  });

  it('counts the threads that are attached', async () => {
    const arena = new Arena();
    const semaphore = new Semaphore(5, { arena });
    expect(arena.threads).toBe(1);
    const guests = [new Member(), new Member()];
    for (const [i, guest] of guests.entries()) {
      await guest.run('attempts', { handle: semaphore.handle, rounds: 1 });
      // Attaching twice counts once.
      await guest.run('attempts', { handle: semaphore.handle, rounds: 1 });
      expect(arena.threads).toBe(2 + i);
    }
    for (const guest of guests) await guest.leave();
    expect(arena.threads).toBe(1);
  });
});

describe('Arena.from refuses', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'Arena'],
    ['an empty object', {}],
    ['another handle', new Semaphore(1).handle],
    ['a handle without memory', { kind: 'Arena' }],
    ['a buffer for memory', { kind: 'Arena', memory: new SharedArrayBuffer(65536), isDefault: false }],
  ])('%s', (_, value) => {
    expect(() => Arena.from(value as never)).toThrow(TypeError);
    expect(() => Arena.from(value as never)).toThrow(
      /^Arena.from: handle must be the handle of an Arena of this process, got /,
    );
  });

  it('memory that is not shared, or holds no arena', () => {
    const own = new WebAssembly.Memory({ initial: 1, maximum: 1 });
    expect(() => Arena.from({ kind: 'Arena', memory: own, isDefault: false })).toThrow(
      /^Arena.from: the memory of the handle holds no shared arena of this version of the package: all threads need one/,
    );
    const empty = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    expect(() => Arena.from({ kind: 'Arena', memory: empty, isDefault: false })).toThrow(
      /^Arena.from: the memory of the handle holds no shared arena of this version of the package: all threads need one/,
    );
    new Uint8Array(empty.buffer).fill(255);
    expect(() => Arena.from({ kind: 'Arena', memory: empty, isDefault: false })).toThrow(
      /holds no shared arena of this version/,
    );
  });

  it('an arena that has been cut short', () => {
    const { memory } = new Arena({ objects: 1, threads: 1, waiters: 8 }).handle;
    const short = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const bytes = new Uint8Array(memory.buffer).slice(0, 65536);
    new Uint8Array(short.buffer).set(bytes);
    expect(memory.buffer.byteLength).toBeGreaterThan(65536);
    expect(() => Arena.from({ kind: 'Arena', memory: short, isDefault: false })).toThrow(/holds no shared arena/);
  });

  it('an arena whose header is damaged, though it has the id of a known one', () => {
    const { memory } = new Arena({ objects: 1, threads: 1, waiters: 8 }).handle;
    const pages = memory.buffer.byteLength / 65536;
    const copy = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    new Uint8Array(copy.buffer).set(new Uint8Array(memory.buffer));
    (new Int32Array(copy.buffer)[at('H_CHAINS') / 4] as number) += 4096;
    expect(() => Arena.from({ kind: 'Arena', memory: copy, isDefault: false })).toThrow(/holds no shared arena/);
  });
});
