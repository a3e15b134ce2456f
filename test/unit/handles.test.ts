/** Handles: how threads come to share a semaphore, and which values are refused as handles. */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { Arena, DisposedError, Mutex, Semaphore } from 'taketurns';
import {
  ChainSemaphore,
  ChannelSemaphore,
  LocationSemaphore,
  TicketSemaphore,
  TwaSemaphore,
} from 'taketurns/algorithms';
import { RwLock } from 'taketurns/sync';
import { describe, expect, it } from 'vitest';
import { Member, team } from '../support/team.js';

const crowd = team(1);
const member = () => crowd[0] as Member;
const kinds = [Semaphore, TicketSemaphore, TwaSemaphore, ChainSemaphore, ChannelSemaphore, LocationSemaphore];

describe('a handle', () => {
  it.each(kinds)('of a %o stands for the same shared object, cloned or not', (Kind) => {
    const semaphore = new Kind(3);
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(semaphore.handle);
    const received = receiveMessageOnPort(port2)?.message;
    port1.close();
    const same = [semaphore.handle, structuredClone(semaphore.handle), received].map((handle) =>
      Kind.from(handle as never),
    );
    for (const [i, other] of same.entries()) {
      other.acquire();
      expect(semaphore.available).toBe(2 - i);
    }
    semaphore.release();
    expect(same.map((other) => other.available)).toEqual([1, 1, 1]);
  });

  it('is a plain value', () => {
    const { handle } = new Semaphore(1);
    expect(Object.getPrototypeOf(handle)).toBe(Object.prototype);
    expect(handle.kind).toBe('Semaphore');
    expect(Object.getPrototypeOf(handle.arena)).toBe(Object.prototype);
    expect(handle.arena.kind).toBe('Arena');
    expect(structuredClone(handle)).toMatchObject({ address: handle.address, generation: handle.generation });
  });

  it('has no method beside its own that a subclass could replace by chance', () => {
    class Pool extends Semaphore {
      close = () => 'the pool is closed';
      forget = () => 'the pool forgets';
      detach = () => 'the pool detaches';
      reference = 'its own';
    }
    const pool = new Pool(1);
    const same = Semaphore.from(pool.handle);
    pool.dispose();
    expect(() => pool.acquire()).toThrow(DisposedError);
    expect(() => same.acquire()).toThrow(DisposedError);
    expect(Object.getOwnPropertyNames(Semaphore.prototype).sort()).toEqual([
      'acquire',
      'acquireAsync',
      'add',
      'available',
      'cancelAll',
      'constructor',
      'drain',
      'hold',
      'holdAsync',
      'inspect',
      'limit',
      'max',
      'reduce',
      'release',
      'robust',
      'runExclusive',
      'toString',
      'tryAcquire',
      'tryHold',
      'waiting',
    ]);
    expect(Object.getOwnPropertyNames(Object.getPrototypeOf(Semaphore.prototype)).sort()).toEqual([
      'constructor',
      'dispose',
      'disposed',
      'handle',
    ]);
  });

  it('names its arena by one object, so that a message with several handles holds it once', () => {
    const arena = new Arena();
    expect(new Semaphore(1, { arena }).handle.arena).toBe(new TwaSemaphore(1, { arena }).handle.arena);
    expect(arena.handle.isDefault).toBe(false);
  });

  it('keeps max and the rest', () => {
    const semaphore = new Semaphore(2, { max: 5 });
    const same = Semaphore.from(structuredClone(semaphore.handle));
    expect(same.max).toBe(5);
    expect(() => same.release(4)).toThrow(/more than 5 \(its max\)/);
    expect(same.handle).toMatchObject({
      address: semaphore.handle.address,
      generation: semaphore.handle.generation,
    });
  });

  it('works by postMessage and by workerData, in an arena that is not the default', async () => {
    const arena = new Arena();
    for (const Kind of kinds) {
      const semaphore = new Kind(1, Kind === Semaphore ? { arena, max: 3 } : { arena });
      const guest = new Member(semaphore.handle);
      await guest.run('use-worker-data', {});
      expect(semaphore.available).toBe(2);
      await member().run('release', { handle: semaphore.handle });
      expect(semaphore.available).toBe(3);
      await guest.leave();
    }
  });

  it('makes no new instance of the core in an attached thread, however it came', () => {
    const semaphore = new Semaphore(1, { arena: new Arena(), max: 11 });
    const { Instance } = WebAssembly;
    let made = 0;
    WebAssembly.Instance = class extends Instance {
      constructor(...args: ConstructorParameters<typeof Instance>) {
        super(...args);
        made++;
      }
    };
    try {
      // Each copy brings a memory object of its own.
      for (let i = 0; i < 10; i++) Semaphore.from(structuredClone(semaphore.handle)).release();
      expect(made).toBe(0);
      new Arena({ objects: 1 });
      expect(made).toBeGreaterThan(0);
    } finally {
      WebAssembly.Instance = Instance;
    }
    expect(semaphore.available).toBe(11);
  });

  it('is the same from whatever thread it came', async () => {
    const semaphore = new Semaphore(1);
    const back = await member().run<Semaphore['handle']>('send-back', { handle: semaphore.handle });
    const same = Semaphore.from(back);
    same.acquire();
    expect(semaphore.available).toBe(0);
  });

  it('made in a worker outlives the worker', async () => {
    const arena = new Arena();
    const guest = new Member();
    const handle = await guest.run<Semaphore['handle']>('make', { arena: arena.handle, permits: 4 });
    await guest.leave();
    expect(Semaphore.from(handle).available).toBe(4);
  });
});

describe('from refuses', () => {
  const garbage: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a string', 'Semaphore'],
    ['an array', []],
    ['an empty object', {}],
    ['a semaphore', new Semaphore(1)],
    ['an arena', new Arena({ objects: 1 })],
    ['a kind that is no string', { ...new Semaphore(1).handle, kind: 1 }],
  ];

  it.each(garbage)('%s', (_, value) => {
    for (const Kind of kinds) {
      expect(() => Kind.from(value as never)).toThrow(TypeError);
      expect(() => Kind.from(value as never)).toThrow(
        `${Kind.name}.from: handle must be the handle of a ${Kind.name} (`,
      );
    }
  });

  it('the object itself, and says what to pass', () => {
    for (const [Kind, object] of [
      [Semaphore, new Semaphore(1)],
      [Mutex, new Mutex()],
    ] as const) {
      // By postMessage it arrives as a plain object.
      for (const value of [object, structuredClone(object)]) {
        expect(() => Kind.from(value as never)).toThrow(
          `a ${Kind.name} (its .handle, not the object), got an object (`,
        );
      }
    }
    const lock = new RwLock();
    expect(() => RwLock.from(lock as never)).toThrow(
      'RwLock.from: handle must be the handle of a RwLock (its .handle, not the object), got an object (RwLock)',
    );
  });

  it('the handle of another kind, and says of which', () => {
    for (const Kind of kinds) {
      for (const Other of kinds) {
        if (Kind === Other) continue;
        const { handle } = new Other(1);
        expect(() => Kind.from(handle as never)).toThrow(
          new TypeError(`${Kind.name}.from: handle must be of a ${Kind.name}, but it is of a ${Other.name}`),
        );
        // A false claim does not help: the object itself has its kind.
        expect(() => Kind.from({ ...handle, kind: Kind.name } as never)).toThrow(
          new TypeError(`${Kind.name}.from: handle: the object there is no ${Kind.name}`),
        );
      }
    }
    expect(() => Semaphore.from(Arena.default.handle as never)).toThrow(
      new TypeError('Semaphore.from: handle must be of a Semaphore, but it is of a Arena'),
    );
    expect(() => Semaphore.from({ kind: 'Mutex' } as never)).toThrow(/but it is of a Mutex/);
  });

  it.each([
    ['address', undefined],
    ['address', '2048'],
    ['address', 2048.5],
    ['address', Number.NaN],
    ['address', 2048n],
    ['generation', undefined],
    ['generation', null],
    ['generation', 0.5],
  ])('a damaged handle: %s %s', (key, value) => {
    const { handle } = new Semaphore(1);
    expect(() => Semaphore.from({ ...handle, [key]: value } as never)).toThrow(
      `Semaphore.from: handle: its ${key} must be an integer from -2147483648 to 2147483647, got `,
    );
  });

  it('an address where there is no object', () => {
    const arena = new Arena({ objects: 4 });
    const semaphore = new Semaphore(1, { arena });
    const { handle } = semaphore;
    for (const address of [
      0,
      64,
      512,
      -1,
      -128,
      1,
      7,
      handle.address - 128,
      handle.address + 1,
      handle.address + 64,
      handle.address + 128,
      2 ** 30,
      2 ** 31,
      2 ** 32,
      2 ** 32 + handle.address + 1,
      2 ** 53,
    ]) {
      expect(() => Semaphore.from({ ...handle, address }), `${address}`).toThrow(Error);
      expect(() => Semaphore.from({ ...handle, address }), `${address}`).toThrow(/disposed|must be an integer/);
    }
    expect(semaphore.available).toBe(1);
  });

  it('numbers that differ from the right ones by a multiple of 2^32', () => {
    const { handle } = new Semaphore(1);
    for (const off of [2 ** 32, -(2 ** 32)]) {
      expect(() => Semaphore.from({ ...handle, address: handle.address + off })).toThrow(/disposed|must be an integer/);
      expect(() => Semaphore.from({ ...handle, generation: handle.generation + off })).toThrow(
        /disposed|must be an integer/,
      );
    }
  });

  it('a value that is no arena', () => {
    const { handle } = new Semaphore(1);
    for (const arena of [
      undefined,
      null,
      5,
      {},
      { kind: 'Arena' },
      { ...handle.arena, kind: 'Semaphore' },
      { ...handle.arena, memory: {} },
    ]) {
      expect(() => Semaphore.from({ ...handle, arena } as never)).toThrow(TypeError);
      expect(() => Semaphore.from({ ...handle, arena } as never)).toThrow(
        /Semaphore.from: the arena of the handle must be the handle of an Arena/,
      );
    }
  });

  it('a memory with the header of an arena, in part or whole, and nothing behind it', () => {
    const { handle } = new Semaphore(1, { arena: new Arena() });
    const header = new BigInt64Array(handle.arena.memory.buffer, 0, 5);
    const pages = handle.arena.memory.buffer.byteLength / 65536;
    const copy = (size: number, words: number) => {
      const memory = new WebAssembly.Memory({ initial: size, maximum: pages, shared: true });
      if (size > 0) new BigInt64Array(memory.buffer).set(header.subarray(0, words));
      return { ...handle, arena: { ...handle.arena, memory } };
    };
    for (const forged of [copy(1, 0), copy(1, 2), copy(1, 5), copy(pages, 2), copy(pages, 4)]) {
      expect(() => Semaphore.from(forged)).toThrow(
        /^Arena.from: the memory of the handle holds no shared arena of this version of the package: all threads need one/,
      );
    }
    expect(() => Semaphore.from(copy(0, 0))).toThrow(WebAssembly.LinkError);
    expect(Semaphore.from(copy(pages, 5)).available).toBe(1);
  });

  it('a semaphore that has been disposed of', () => {
    for (const Kind of kinds) {
      const semaphore = new Kind(1);
      const same = Kind.from(semaphore.handle as never);
      const { handle } = semaphore;
      semaphore.dispose();
      expect(() => Kind.from(handle as never)).toThrow(DisposedError);
      expect(() => Kind.from(handle as never)).toThrow(`${Kind.name}.from: handle: the ${Kind.name} has been disposed`);
      expect(() => semaphore.handle).toThrow(DisposedError);
      expect(() => same.handle).toThrow(DisposedError);
    }
  });
});
