/**
 * Code of the user that runs while a watch or a channel is set, sent to or waited for: a codec that throws, that calls
 * back, or that disposes. It runs while the thread holds nothing, so nothing of this does harm.
 */
import { Arena, DisposedError, TimeoutError } from 'taketurns';
import { Channel, type Codec, changing, receiving, select, selectAsync, trySelect, Watch } from 'taketurns/channel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KINDS } from '../../dist/border/kinds.js';
import { channelOf } from '../../dist/channel/compiled.js';
import { instantiate } from '../../dist/runtime/instance.js';
import { membershipOf, replaceable } from '../support/membership.js';
import { at } from '../support/memory.js';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 20 });
});
afterEach(() => arena.dispose());

/** A codec of numbers that calls `hook` in each `decode`. */
function hooked(): { codec: Codec<number>; hook: (value: number) => void; buffers: Set<ArrayBufferLike> } {
  const self = {
    hook: (_value: number): void => {},
    buffers: new Set<ArrayBufferLike>(),
    codec: {
      name: 'hooked',
      encode(value: number, into: { f64: Float64Array; bytes: Uint8Array }) {
        self.buffers.add(into.bytes.buffer);
        if (value < 0) throw new Error('it cannot travel');
        into.f64[0] = value;
        return 8;
      },
      decode({ f64, bytes }: { f64: Float64Array; bytes: Uint8Array }) {
        self.buffers.add(bytes.buffer);
        const value = f64[0] as number;
        self.hook(value);
        return value;
      },
    } as Codec<number>,
  };
  return self;
}

/** Another thread of the arena, attached to the turn of a watch. The test runs it by hand. */
function setter(watch: Watch<number>): { mayTake(): boolean } {
  const { address, generation } = watch.handle;
  const core = instantiate(arena.handle.memory as WebAssembly.Memory);
  core.open();
  core.register(0);
  const attachment = core.attach(address, generation, KINDS.Watch);
  return {
    mayTake: () => {
      if (core.tryAcquireRobust(address, 1, attachment) !== 0) return false;
      const answer = core.releaseRobust(address, 1, attachment);
      if (answer > 0) core.finishRelease(address, 1, answer, attachment);
      return true;
    },
  };
}

describe('decode, of a select that a set of the same thread ends', () => {
  it('runs when the turn to set is free again, and the select stands in no queue', async () => {
    const self = hooked();
    const watch = new Watch(0, { codec: self.codec, arena });
    const other = new Channel({ codec: self.codec, arena });
    const thread = setter(watch);
    const seen: unknown[] = [];
    const selected = selectAsync([changing(watch), receiving(other)]);
    self.hook = () => seen.push(thread.mayTake(), watch.waiting, other.waiting);
    watch.set(1);
    expect(await selected).toEqual({ index: 0, value: { value: 1, version: 1 }, closed: false });
    expect(seen).toEqual([true, 0, 0]);
  });

  it('may throw: the select does, and set does not', async () => {
    const self = hooked();
    const watch = new Watch(0, { codec: self.codec, arena });
    const selected = selectAsync([changing(watch)]);
    self.hook = () => {
      throw new Error('by decode');
    };
    watch.set(1);
    await expect(selected).rejects.toThrow('by decode');
    self.hook = () => {};
    watch.set(2);
    expect([watch.get(), setter(watch).mayTake()]).toEqual([2, true]);
  });

  it('may set the watch again', async () => {
    const self = hooked();
    const watch = new Watch(0, { codec: self.codec, arena });
    const all = [1, 2, 3].map(() => selectAsync([changing(watch)]));
    let sets = 0;
    self.hook = (value) => {
      if (value === 1 && sets++ < 10) watch.set(10 + sets);
    };
    watch.set(1);
    for (const selected of await Promise.all(all)) expect(selected.value?.value).toBe(1);
    self.hook = () => {};
    expect([watch.get(), watch.version, setter(watch).mayTake()]).toEqual([13, 4, true]);
  });

  it('may dispose of the watch, and then nothing of another object changes', async () => {
    const self = hooked();
    const watch = new Watch(0, { codec: self.codec, arena });
    const first = selectAsync([changing(watch)]);
    self.hook = () => watch.dispose();
    watch.set(1);
    expect((await first).value).toEqual({ value: 1, version: 1 });
    expect(() => watch.set(2)).toThrow(DisposedError);
  });
});

describe('the code of a signal', () => {
  const signalThat = (leaves: () => void) => {
    const signal = new AbortController().signal;
    signal.removeEventListener = (...args: Parameters<AbortSignal['removeEventListener']>) => {
      AbortSignal.prototype.removeEventListener.apply(signal, args);
      leaves();
    };
    return signal;
  };

  it('may dispose of the watch in the middle of a set: the memory of the turn is another object by then', async () => {
    const self = hooked();
    const watch = new Watch(0, { codec: self.codec, arena });
    const others: Channel<number>[] = [];
    const waits = watch.changedAsync(0, {
      signal: signalThat(() => {
        watch.dispose();
        for (let i = 0; i < 8; i++) others.push(new Channel({ codec: self.codec, capacity: 1, arena }));
      }),
    });
    const caught = waits.catch((error) => error);
    watch.set(1);
    await caught;
    expect(others.length).toBe(8);
    for (const other of others) {
      other.send(1);
      expect(other.trySend(2)).toBe(false);
      expect(other.receive()).toBe(1);
    }
  });

  it('may set the watch while a promise has the turn: that promise sets later, and nobody sets without a turn', async () => {
    const self = hooked();
    const watch = new Watch(0, { codec: self.codec, arena });
    const { core } = membershipOf(arena);
    // Another thread has the turn, and gives it back.
    const { address, generation } = watch.handle;
    const other = instantiate(arena.handle.memory as WebAssembly.Memory);
    other.open();
    other.register(0);
    const turn = other.attach(address, generation, KINDS.Watch);
    expect(other.tryAcquireRobust(address, 1, turn)).toBe(0);
    const thread = setter(watch);
    const seen: unknown[] = [];
    const promises = [1, 2].map((value) =>
      watch.setAsync(value, {
        signal: signalThat(() => {
          try {
            watch.set(10 + value);
            seen.push(thread.mayTake());
          } catch (error) {
            seen.push((error as Error).name);
          }
        }),
      }),
    );
    const answer = other.releaseRobust(address, 1, turn);
    if (answer > 0) other.finishRelease(address, 1, answer, turn);
    await Promise.all(promises);
    expect(seen.length).toBe(2);
    expect([thread.mayTake(), watch.version, core.isDisposed(address)]).toEqual([
      true,
      2 + seen.filter((one) => one === true).length,
      0,
    ]);
  });
});

describe('the scratch of a codec', () => {
  it('is used again after a value that cannot travel', () => {
    const self = hooked();
    const channel = new Channel({ codec: self.codec, arena });
    for (let i = 0; i < 5; i++) expect(() => channel.send(-1)).toThrow('it cannot travel');
    channel.send(1);
    expect(self.buffers.size).toBe(1);
  });

  it('is used again if others have set the watch while a value was copied', () => {
    const self = hooked();
    const watch = new Watch(7, { codec: self.codec, arena });
    const module = replaceable(channelOf(membershipOf(arena)));
    const { isWhole } = module;
    self.buffers.clear();
    for (let i = 0; i < 3; i++) {
      let fails = 5;
      module.isWhole = (f, version) => (fails-- > 0 ? 0 : isWhole(f, version));
      expect(watch.get()).toBe(7);
    }
    module.isWhole = isWhole;
    expect(self.buffers.size).toBe(1);
  });
});

it('select: a message is received once, though its decode throws or receives itself', () => {
  const self = hooked();
  const channel = new Channel({ codec: self.codec, arena });
  channel.sendMany([1, 2, 3]);
  self.hook = (value) => {
    if (value === 1) throw new Error('by decode');
    if (value === 2) expect(trySelect([receiving(channel)])?.value).toBe(3);
  };
  expect(() => select([receiving(channel)])).toThrow('by decode');
  expect(select([receiving(channel)]).value).toBe(2);
  expect(() => select([receiving(channel)], { timeout: 0 })).toThrow(TimeoutError);
  expect(at('PLACES')).toBe(4);
});

describe('a loop', () => {
  const closedElsewhere = (): Error => {
    const other = new Channel({ arena });
    other.close();
    try {
      other.receive();
    } catch (error) {
      return error as Error;
    }
    throw new Error('it is open');
  };

  it('over a channel goes on to the error of another channel, which its codec throws', async () => {
    const self = hooked();
    const channel = new Channel({ codec: self.codec, arena });
    const foreign = closedElsewhere();
    self.hook = () => {
      throw foreign;
    };
    channel.sendMany([1, 2, 3]);
    channel.close();
    const seen = (): unknown => {
      try {
        return [...channel];
      } catch (error) {
        return error;
      }
    };
    expect(seen()).toBe(foreign);
    const loop = async () => {
      for await (const _ of channel);
    };
    await expect(loop()).rejects.toBe(foreign);
    self.hook = () => {};
    expect([...channel]).toEqual([3]);
  });

  it('over a watch does so, too', async () => {
    const self = hooked();
    const watch = new Watch(1, { codec: self.codec, arena });
    const foreign = closedElsewhere();
    watch.close();
    self.hook = () => {
      throw foreign;
    };
    expect(() => [...watch]).toThrow(foreign);
    const loop = async () => {
      for await (const _ of watch);
    };
    await expect(loop()).rejects.toBe(foreign);
    self.hook = () => {};
    expect([...watch]).toEqual([1]);
  });
});
