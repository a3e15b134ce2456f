/**
 * What others check of a channel, as far as `Channel` promises the same, in own words: the tests of crossbeam-channel
 * (tests/array.rs, mpsc.rs, golang.rs, select.rs), of Go (test/chan, runtime/chan_test.go) and of tokio (sync_mpsc.rs).
 * Each test names the case that it follows.
 */
import { Arena, TimeoutError } from 'taketurns';
import {
  Channel,
  type ChannelHandle,
  ClosedError,
  number,
  receiving,
  select,
  selectAsync,
  sending,
  trySelect,
  value,
} from 'taketurns/channel';
import { describe, expect, it } from 'vitest';
import { callers } from '../support/callers.js';
import { isSettled } from '../support/settled.js';
import { until } from '../support/until.js';

const { call, run } = callers(3);

const make = (capacity = 1): Channel<number> => new Channel({ codec: number, capacity });
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const isPending = async (promise: Promise<unknown>): Promise<boolean> => !(await isSettled(promise));

describe('crossbeam-channel', () => {
  it('array::smoke, capacity: what goes in comes out, and then it is empty', () => {
    for (const capacity of [1, 2, 16]) {
      const channel = make(capacity);
      expect(channel.capacity).toBe(capacity);
      channel.send(7);
      expect(channel.tryReceive()).toEqual({ value: 7 });
      channel.send(8);
      expect(channel.receive()).toBe(8);
      expect(channel.tryReceive()).toBe(undefined);
      expect(() => channel.receive({ timeout: 1 })).toThrow(TimeoutError);
    }
  });

  it('array::len_empty_full: it tells how many are there, through all fillings', () => {
    const channel = make(2);
    const told: number[] = [channel.size];
    for (const x of [1, 2]) {
      channel.send(x);
      told.push(channel.size);
    }
    expect(channel.trySend(3)).toBe(false);
    for (let i = 0; i < 2; i++) {
      channel.receive();
      told.push(channel.size);
    }
    expect(told).toEqual([0, 1, 2, 1, 0]);
  });

  it('array::recv: a blocked receiver gets a message that comes later, and then the end', async () => {
    const channel = make(64);
    const [first, second] = [call(0, channel, 'receive'), call(1, channel, 'receive')];
    await until(() => channel.waiting === 2, 'both wait');
    channel.send(7);
    channel.send(8);
    expect((await Promise.all([first, second])).sort()).toEqual([7, 8]);
    const third = call(0, channel, 'receive');
    await until(() => channel.waiting === 1, 'it waits');
    channel.close();
    await expect(third).rejects.toThrow(expect.objectContaining({ name: 'ClosedError' }));
  });

  it('array::send: a blocked sender goes on when there is room', async () => {
    const channel = make();
    channel.send(1);
    const late = call(0, channel, 'send', 2);
    await until(() => channel.waiting === 1, 'it waits');
    expect([channel.receive(), channel.receive()]).toEqual([1, 2]);
    await late;
  });

  it('array::send_timeout, recv_timeout: the time passes, nothing was sent or taken, and later calls succeed', () => {
    const channel = make();
    expect(() => channel.receive({ timeout: 5 })).toThrow(TimeoutError);
    channel.send(1);
    expect(() => channel.send(2, { timeout: 5 })).toThrow(TimeoutError);
    expect([channel.receive(), channel.size]).toEqual([1, 0]);
    channel.send(3, { timeout: 5 });
    expect(channel.receive({ timeout: 5 })).toBe(3);
  });

  it('array::send_after_disconnect, recv_after_disconnect: no more goes in, and all that is there comes out', () => {
    const channel = make(4);
    for (const x of [1, 2, 3]) channel.send(x);
    channel.close();
    for (const send of [() => channel.send(4), () => channel.trySend(5), () => channel.send(6, { timeout: 5 })])
      expect(send).toThrow(ClosedError);
    expect(upTo(3).map(() => channel.receive())).toEqual([1, 2, 3]);
    expect(() => channel.receive()).toThrow(ClosedError);
    expect(() => channel.tryReceive()).toThrow(ClosedError);
  });

  it('array::disconnect_wakes_sender, disconnect_wakes_receiver: the end wakes those who wait', async () => {
    const [full, empty] = [make(), make()];
    full.send(1);
    const waits = [call(0, full, 'send', 2), call(1, empty, 'receive'), full.sendAsync(3), empty.receiveAsync()];
    const ends = Promise.allSettled(waits);
    await until(() => full.waiting + empty.waiting === 4, 'all wait');
    for (const channel of [full, empty]) channel.close();
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { name: 'ClosedError' } });
    expect([...full]).toEqual([1]);
  });

  it('array::spsc, mpmc: threads send and receive at once, and each message comes once', async () => {
    const COUNT = 5000;
    const channel = make(4);
    const seen = new Int32Array(new SharedArrayBuffer(4 * COUNT));
    const receive = 'for (const x of object) Atomics.add(words, x, 1);';
    const receivers = [0, 1].map((thread) => run(thread, channel, receive, seen));
    const send = (from: number): string => `for (let i = ${from}; i < ${COUNT}; i += 2) object.send(i);`;
    const sending = run(2, channel, send(0));
    for (let i = 1; i < COUNT; i += 2) await channel.sendAsync(i);
    await sending;
    channel.close();
    await Promise.all(receivers);
    expect(seen.every((times) => times === 1)).toBe(true);
  });

  it('array::drops, iter::recv_into_iter_owned: an early end of a loop leaves the rest', () => {
    const channel = make(8);
    channel.sendMany(upTo(8));
    const seen: number[] = [];
    for (const x of channel) if (seen.push(x) === 3) break;
    channel.close();
    expect([...seen, ...channel]).toEqual(upTo(8));
  });

  it('mpsc::oneshot_multi_thread, stress_recv_timeout_two_threads: a receiver that gives up now and then loses none', async () => {
    const channel = make(2);
    const sender = run(0, channel, 'for (let i = 0; i < 300; i++) object.send(i);');
    const got: number[] = [];
    for (let lates = 0; got.length < 300; ) {
      try {
        got.push(await channel.receiveAsync({ timeout: got.length % 50 === 0 ? 0 : 20 }));
      } catch (error) {
        expect(error).toBeInstanceOf(TimeoutError);
        expect(++lates).toBeLessThan(10_000);
        await new Promise((later) => setTimeout(later));
      }
    }
    await sender;
    expect(got).toEqual(upTo(300));
  });

  it('select::smoke1, disconnected, default: what can be had is had; the end can be had; else the default', () => {
    const [a, b] = [make(), make()];
    b.send(5);
    expect(select([receiving(a), receiving(b)])).toMatchObject({ index: 1, value: 5 });
    expect(trySelect([receiving(a), receiving(b)])).toBe(undefined);
    expect(() => select([receiving(a), receiving(b)], { timeout: 1 })).toThrow(TimeoutError);
    a.close();
    expect(select([receiving(a), receiving(b)])).toMatchObject({ index: 0, closed: true });
    b.send(6);
    expect(trySelect([sending(b, 7)])).toBe(undefined);
    expect(b.receive()).toBe(6);
  });

  it('select::both_ready, fairness1: two that are always ready are had about as often', () => {
    const ROUNDS = 1000;
    const [a, b] = [make(), make()];
    const hits = [0, 0];
    for (let i = 0; i < ROUNDS; i++) {
      for (const channel of [a, b]) channel.trySend(0);
      hits[select([receiving(a), receiving(b)]).index]++;
    }
    for (const count of hits) expect(count).toBeGreaterThan(ROUNDS / 4);
  });

  it('select::unblocks, loop_try: a blocked thread is woken by whichever comes', async () => {
    const [a, b] = [make(), make()];
    const waits = selectAsync([receiving(a), sending(b, 3), receiving(b)]);
    expect(await waits).toMatchObject({ index: 1 });
    const later = selectAsync([receiving(a), sending(b, 4)]);
    expect(await isPending(later)).toBe(true);
    await call(0, a, 'send', 9);
    expect(await later).toMatchObject({ index: 0, value: 9 });
    expect([b.receive(), b.size]).toEqual([3, 0]);
  });
});

describe('Go', () => {
  it('TestChan: a message waits for nobody, a full channel for a receiver, and the order stays', async () => {
    for (const capacity of [1, 4, 64]) {
      const channel = make(capacity);
      const sender = run(0, channel, 'for (let i = 0; i < 500; i++) object.send(i);');
      const got: number[] = [];
      for (let i = 0; i < 500; i++) got.push(await channel.receiveAsync());
      await sender;
      expect(got).toEqual(upTo(500));
      expect(channel.tryReceive()).toBe(undefined);
    }
  });

  it('TestChan, len and close: a closed channel tells what is left, and is closed once and for all', () => {
    const channel = make(8);
    channel.sendMany([1, 2]);
    channel.close();
    channel.close();
    expect([channel.size, channel.closed]).toEqual([2, true]);
    expect([...channel]).toEqual([1, 2]);
    expect(channel.size).toBe(0);
  });

  it('fifo.go: messages and waiters come in their order', async () => {
    const channel = make();
    channel.send(0);
    const sends = upTo(10).map((i) => channel.sendAsync(i + 1));
    expect(upTo(11).map(() => channel.receive())).toEqual(upTo(11));
    await Promise.all(sends);
    const order: number[] = [];
    const receives = upTo(10).map((i) => channel.receiveAsync().then((x) => order.push(10 * i + x)));
    for (let i = 0; i < 10; i++) await channel.sendAsync(i);
    await Promise.all(receives);
    expect(order).toEqual(upTo(10).map((i) => 11 * i));
  });

  it('sieve1.go: a chain of channels, with a task between two of them, finds the primes', async () => {
    const channels: Channel<number>[] = [];
    const own = (): Channel<number> => {
      channels.push(make(4));
      return channels.at(-1) as Channel<number>;
    };
    const tasks: Promise<void>[] = [];
    const source = own();
    tasks.push(
      (async () => {
        for (let i = 2; i < 100; i++) await source.sendAsync(i);
        source.close();
      })(),
    );
    const filter = async (from: Channel<number>, to: Channel<number>, prime: number): Promise<void> => {
      for await (const i of from) if (i % prime !== 0) await to.sendAsync(i);
      to.close();
    };
    const primes: number[] = [];
    for (let from = source; ; ) {
      const prime = await from.receiveAsync().catch(() => undefined);
      if (prime === undefined) break;
      primes.push(prime);
      const to = own();
      tasks.push(filter(from, to, prime));
      from = to;
    }
    await Promise.all(tasks);
    expect(primes).toEqual([
      2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97,
    ]);
    for (const channel of channels) channel.dispose();
  });

  it('doubleselect.go: of several sends in one select exactly one happens, each time', async () => {
    const channels = upTo(4).map(() => make());
    const got: number[] = [];
    const receivers = channels.map(async (channel) => {
      for await (const x of channel) got.push(x);
    });
    for (let i = 0; i < 400; i++) await selectAsync(channels.map((channel) => sending(channel, i)));
    for (const channel of channels) channel.close();
    await Promise.all(receivers);
    expect([...got].sort((a, b) => a - b)).toEqual(upTo(400));
  });

  it('TestSelfSelect: a task that both sends to a channel and receives from it loses nothing', async () => {
    for (const capacity of [1, 8]) {
      const channel = make(capacity);
      let [sent, received] = [0, 0];
      const task = async (seed: number): Promise<void> => {
        for (let i = 0; i < 200; i++) {
          const { index } = await selectAsync([sending(channel, seed), receiving(channel)], { biased: i % 3 === 0 });
          if (index === 0) sent++;
          else received++;
        }
      };
      await Promise.all([task(1), task(2)]);
      expect(channel.size).toBe(sent - received);
    }
  });

  it('TestMultiConsumer: messages that pass through many consumers add up', async () => {
    const [source, sink] = [make(4), make(4)];
    const code = (to: string): string => `for (const x of object) kept.${to}.send(3 * x);`;
    const open = `
      const { Channel, number } = await import('taketurns/channel');
      kept.sink ??= Channel.open('sink of the peers', { codec: number, capacity: 4 });`;
    const named = Channel.open('sink of the peers', { codec: number, capacity: 4 });
    const consumers = [0, 1, 2].map((thread) => run(thread, source, open + code('sink')));
    const sending = (async () => {
      for (let i = 1; i <= 300; i++) await source.sendAsync(i);
      source.close();
    })();
    let sum = 0;
    for (let i = 1; i <= 300; i++) sum += await named.receiveAsync();
    await Promise.all([sending, ...consumers]);
    expect(sum).toBe((3 * 300 * 301) / 2);
    sink.dispose();
    named.dispose();
  });

  it('chancap.go: a bad capacity is refused', () => {
    for (const capacity of [0, -1, 3, 2 ** 17, 1.5, Number.NaN]) expect(() => make(capacity)).toThrow(RangeError);
    for (const capacity of ['8', null, 8n]) expect(() => make(capacity as never)).toThrow(TypeError);
  });

  it('powser1.go: a channel travels in a message', () => {
    const arena = new Arena({ objects: 16, threads: 4, waiters: 32 });
    const requests = new Channel({ codec: value, bytes: 300, arena });
    const reply = new Channel({ codec: number, arena });
    requests.send({ twice: 21, reply: reply.handle });
    const { twice, reply: handle } = requests.receive() as { twice: number; reply: ChannelHandle };
    Channel.from(handle, number).send(2 * twice);
    expect(reply.receive()).toBe(42);
    arena.dispose();
  });
});

describe('tokio', () => {
  it('send_recv_with_buffer, recv_close_gets_none_idle: messages, and then the end', async () => {
    const channel = make(16);
    await channel.sendAsync(1);
    await channel.sendAsync(2);
    channel.close();
    expect([await channel.receiveAsync(), await channel.receiveAsync()]).toEqual([1, 2]);
    await expect(channel.receiveAsync()).rejects.toThrow(ClosedError);
    const idle = make(16);
    idle.close();
    await expect(idle.receiveAsync()).rejects.toThrow(ClosedError);
  });

  it('start_send_past_cap: those past the capacity wait, and go on one by one', async () => {
    const channel = make();
    await channel.sendAsync(0);
    const sends = [channel.sendAsync(1), channel.sendAsync(2)];
    for (const send of sends) expect(await isPending(send)).toBe(true);
    expect(await channel.receiveAsync()).toBe(0);
    await sends[0];
    expect(await isPending(sends[1] as Promise<void>)).toBe(true);
    expect([await channel.receiveAsync(), await channel.receiveAsync()]).toEqual([1, 2]);
    await sends[1];
  });

  it('send_recv_buffer_limited: a send whose caller gives up takes no place', async () => {
    const channel = make();
    await channel.sendAsync(1);
    const abort = new AbortController();
    const dropped = channel.sendAsync(2, { signal: abort.signal });
    const next = channel.sendAsync(3);
    abort.abort(new Error('dropped'));
    await expect(dropped).rejects.toThrow('dropped');
    expect([await channel.receiveAsync(), await channel.receiveAsync()]).toEqual([1, 3]);
    await next;
  });

  it('try_send_fail, try_send_capacity: full, and again room', () => {
    const channel = make();
    expect([channel.trySend(1), channel.trySend(2), channel.receive()]).toEqual([true, false, 1]);
    expect([channel.trySend(3), channel.tryReceive()]).toEqual([true, { value: 3 }]);
    channel.close();
    expect(() => channel.trySend(4)).toThrow(ClosedError);
  });

  it('try_recv_many, recv_many_with_limit: what is there, up to the limit, without a wait for more', () => {
    const channel = make(8);
    channel.sendMany(upTo(5));
    expect(channel.receiveMany(2)).toEqual([0, 1]);
    channel.send(5);
    expect(channel.receiveMany(100)).toEqual([2, 3, 4, 5]);
    expect(() => channel.receiveMany(1, { timeout: 1 })).toThrow(TimeoutError);
    channel.close();
    expect(() => channel.receiveMany(1)).toThrow(ClosedError);
  });

  it('try_reserve_fails, drop_permit_releases_permit: a place that is dropped is free again', async () => {
    const channel = make();
    const place = channel.reserve();
    expect(await isPending(channel.receiveAsync({ timeout: 60_000 }).catch(() => {}))).toBe(true);
    place[Symbol.dispose]();
    await channel.sendAsync(7);
    await until(() => channel.size === 0, 'the promise has received it');
    expect(channel.inspect()).toMatchObject({ holes: 1, size: 0, receivers: { waiting: 0 } });
  });

  it('recv_timeout, ready_close_cancel: a receive that was given up takes no message', async () => {
    const channel = make();
    await expect(channel.receiveAsync({ timeout: 5 })).rejects.toThrow(TimeoutError);
    const abort = new AbortController();
    const given = channel.receiveAsync({ signal: abort.signal });
    abort.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    await channel.sendAsync(7);
    expect(channel.receive()).toBe(7);
  });

  it('blocking_recv, blocking_send: threads that block, and promises, in one queue', async () => {
    const channel = make(2);
    const blocked = call(0, channel, 'receive');
    await until(() => channel.waiting === 1, 'the thread waits');
    const awaited = channel.receiveAsync();
    await channel.sendAsync(1);
    await channel.sendAsync(2);
    // The thread had its turn first. The promise may claim its message before the thread is awake.
    expect((await Promise.all([blocked, awaited])).sort()).toEqual([1, 2]);
    channel.sendMany([3, 4]);
    const late = call(1, channel, 'send', 5);
    await until(() => channel.waiting === 1, 'the sender waits');
    expect(upTo(3).map(() => channel.receive())).toEqual([3, 4, 5]);
    await late;
  });
});
