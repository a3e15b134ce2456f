/** The two ends of a channel or a watch, which go together: while others dispose of them, open them, or make objects. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Arena, DisposedError, Semaphore } from 'taketurns';
import { Channel, type Codec, json, number, Watch } from 'taketurns/channel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KINDS } from '../../dist/border/kinds.js';
import { createObject } from '../../dist/objects/new-object.js';
import { instantiate } from '../../dist/runtime/instance.js';
import { closed } from '../../dist/runtime/promises.js';
import { membershipOf, replaceable } from '../support/membership.js';
import { at } from '../support/memory.js';

setFlagsFromString('--expose-gc');
const gc: () => void = runInNewContext('gc');

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 20 });
});
afterEach(() => arena.dispose());

/** Another thread of the arena, which the test runs by hand. */
function otherThread() {
  const core = instantiate(arena.handle.memory as WebAssembly.Memory);
  core.open();
  core.register(0);
  return core;
}

/** Runs `run`, and notes every call of a function of the core that this thread makes meanwhile. */
function calls(name: 'dispose' | 'letGo', run: () => void): number[] {
  const { core } = membershipOf(arena);
  const plain = core[name] as (...numbers: number[]) => number;
  const noted: number[] = [];
  (core as unknown as Record<string, unknown>)[name] = (...numbers: number[]) => {
    noted.push(numbers[0] as number);
    return plain(...numbers);
  };
  try {
    run();
  } finally {
    (core as unknown as Record<string, unknown>)[name] = plain;
  }
  return noted;
}

describe('a thread that finds one end disposed of', () => {
  const kinds: [string, number, () => { handle: { address: number; generation: number } }, (o: never) => unknown][] = [
    ['Channel', KINDS.Channel, () => new Channel({ codec: number, arena }), (o: Channel) => o.receiveAsync()],
    ['Watch', KINDS.Watch, () => new Watch(0, { codec: number, arena }), (o: Watch<number>) => o.changedAsync()],
  ] as never;
  it.each(kinds)('ends its promises at the other end of a %s', async (_name, kind, make, wait) => {
    const object = make();
    const { address, generation } = object.handle;
    const waits = (wait(object as never) as Promise<unknown>).then(
      () => 'over',
      (error) => error,
    );
    const other = otherThread();
    other.attach(address, generation, kind);
    // It has come to the first end only.
    other.dispose(address);
    // A thread looks at its objects when it makes others.
    for (let i = 0; i < 8; i++) new Semaphore(1, { arena }).dispose();
    expect(await waits).toBeInstanceOf(DisposedError);
  });
});

describe('open', () => {
  const opened = <T>(codec: Codec<T>, bytes?: number): [string, () => unknown][] => [
    ['Channel', () => Channel.open('a', { codec, arena, ...(bytes && { bytes }) })],
    ['Watch', () => Watch.open('a', 0 as T, { codec, arena, ...(bytes && { bytes }) })],
  ];
  const rows = (other: [string, () => unknown][]) =>
    opened(number).map(([name, open], i) => [name, open, other[i]?.[1]] as const);

  it.each(rows(opened(json)))('of a %s with another codec leaves it as it was', (_name, open, wrongly) => {
    const mine = open() as Channel<number>;
    const disposed = calls('dispose', () =>
      expect(wrongly).toThrow(/has the codec "number", and not "json": give { codec: number }/),
    );
    expect([disposed, mine.disposed]).toEqual([[], false]);
  });

  it.each(rows(opened(number, 1000)))('of a %s of other bytes leaves it as it was', (_name, open, wrongly) => {
    const mine = open() as Channel<number>;
    const disposed = calls('dispose', () => expect(wrongly).toThrow(RangeError));
    expect([disposed, mine.disposed]).toEqual([[], false]);
  });

  it.each([
    ['Channel', KINDS.Channel],
    ['Watch', KINDS.Watch],
  ] as const)(
    'of a %s whose other end is gone makes another, and touches nothing that it has let go of',
    (name, kind) => {
      const open = () =>
        name === 'Channel' ? Channel.open('b', { codec: number, arena }) : Watch.open('b', 5, { codec: number, arena });
      // Another thread has found the name, and attached to the sending end alone. This thread lets go of both ends.
      const first = open();
      const { address, generation } = first.handle;
      const words = new Int32Array((arena.handle.memory as WebAssembly.Memory).buffer);
      for (const o of [address, words[(address + at('P_PEER')) / 4] as number])
        words[(o + at('O_LIFE')) / 4] &= ~at('KEPT');
      const other = otherThread();
      const attachment = other.attach(address, generation, kind);
      expect(attachment).toBeGreaterThan(0);
      (first as unknown as { [closed](): void })[closed]();
      expect(other.isDisposed(address)).toBe(0);

      // As soon as this thread has let go again, the other one does so, too, and gets the memory for a semaphore.
      const core = replaceable(membershipOf(arena).core);
      const { letGo, attachedTo } = core;
      let semaphore = 0;
      core.letGo = (mine, how) => {
        const found = attachedTo(mine);
        const answer = letGo(mine, how);
        if (found !== address || semaphore !== 0) return answer;
        other.letGo(attachment, 0);
        semaphore = createObject(other, { kind: KINDS.Semaphore, permits: 1, max: 9, robust: 0 });
        return answer;
      };
      const second = open();
      core.letGo = letGo;
      expect(other.attachedTo(semaphore)).toBe(address);
      expect([other.isDisposed(address), second.disposed]).toEqual([0, false]);
      expect(second.handle.address).not.toBe(address);
    },
  );
});

describe('a channel that the program has dropped', () => {
  const collect = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      gc();
    }
  };

  it.each([
    ['Channel', (arena: Arena) => void new Channel({ codec: number, arena })],
    ['Watch', (arena: Arena) => void new Watch(0, { codec: number, arena })],
  ])('goes with both ends at one collection, as %s', async (_name, make) => {
    // The arena has room for the two ends of one.
    const small = new Arena({ objects: 2, threads: 2, waiters: 8, slots: 2, bytes: 1 << 16 });
    make(small);
    await new Promise((resolve) => setTimeout(resolve, 1));
    gc();
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    make(small);
    small.dispose();
  });

  it('stays while a message is out', async () => {
    const take = () => {
      const channel = new Channel({ arena, capacity: 1 });
      channel.send(Uint8Array.of(7));
      return channel.take();
    };
    const message = take();
    await collect();
    const others = Array.from({ length: 16 }, () => new Channel({ arena, capacity: 1 }));
    for (const other of others) other.send(Uint8Array.of(1));
    expect([...message.bytes]).toEqual([7]);
    message[Symbol.dispose]();
    for (const other of others) expect([other.size, other.inspect().holes]).toEqual([1, 0]);
  });

  it('stays while a place is out, and goes then', async () => {
    const reserve = () => {
      const channel = new Channel({ arena, capacity: 1 });
      return [channel.reserve(), new WeakRef(channel)] as const;
    };
    const [place, channel] = reserve();
    await collect();
    expect(channel.deref()).toBeDefined();
    place[Symbol.dispose]();
    await collect();
    expect(channel.deref()).toBeUndefined();
  });
});

it('opens nothing again if a codec throws a DisposedError', () => {
  const codec: Codec<number> = {
    name: 'throws',
    encode: () => {
      throw new DisposedError('by the codec');
    },
    decode: () => 0,
  };
  expect(() => Watch.open('thrown', 1, { codec, arena })).toThrow('by the codec');
  expect(Watch.open('thrown', 1, { codec: number, arena }).get()).toBe(1);
});
