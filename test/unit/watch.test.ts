/** Watch in one thread: its values, its changes, its end, its errors. Other threads: test/stress/watch.test.ts. */
import { Worker } from 'node:worker_threads';
import { Arena, ArenaFullError, DisposedError, Mutex, TimeoutError } from 'taketurns';
import {
  Channel,
  ClosedError,
  type Codec,
  changing,
  json,
  number,
  numbers,
  receiving,
  record,
  select,
  selectAsync,
  text,
  trySelect,
  value,
  Watch,
} from 'taketurns/channel';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

let arena: Arena;
beforeEach(() => {
  arena = new Arena({ objects: 64, threads: 8, waiters: 64, slots: 4, bytes: 1 << 20 });
});
afterEach(() => arena.dispose());

const ofNumbers = (first = 0) => new Watch(first, { codec: number, arena });
const failure = (run: () => unknown): Error => {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
};

describe('values', () => {
  it('has the newest one, and which one it is', () => {
    const watch = ofNumbers(7);
    expect(watch.read()).toEqual({ value: 7, version: 0 });
    for (let i = 1; i <= 50; i++) {
      watch.set(i);
      expect([watch.get(), watch.version]).toEqual([i, i]);
    }
    expect(String(watch)).toBe('Watch(version 50)');
  });

  it.each<[string, Codec<unknown>, unknown, unknown]>([
    ['json', json, { a: [1, 'two'] }, null],
    ['value', value, new Map([[1, new Date(5)]]), undefined],
    ['text', text, 'Grüße', ''],
    ['numbers', numbers(3) as Codec<unknown>, Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6)],
    ['record', record({ id: 'u32', by: 'text20' }) as Codec<unknown>, { id: 1, by: 'a' }, { id: 2, by: 'bcd' }],
  ])('of the codec %s', (_name, codec, first, second) => {
    const watch = new Watch(first, { codec, bytes: 100, arena });
    expect(watch.get()).toEqual(first);
    watch.set(second);
    expect(Watch.from(watch.handle, codec).get()).toEqual(second);
  });

  it('of bytes by default, each a copy', () => {
    const mine = Uint8Array.of(1, 2, 3);
    const watch = new Watch(mine, { arena });
    mine.fill(9);
    const got = watch.get();
    got.fill(8);
    expect([...watch.get()]).toEqual([1, 2, 3]);
    watch.set(new Uint8Array());
    expect(watch.get().length).toBe(0);
  });

  it('refuses what cannot travel, and changes nothing', async () => {
    const watch = ofNumbers(1);
    expect(failure(() => watch.set('2' as never))).toBeInstanceOf(TypeError);
    await expect(watch.setAsync({} as never)).rejects.toBeInstanceOf(TypeError);
    expect(failure(() => new Watch('x' as never, { codec: number, arena }))).toBeInstanceOf(TypeError);
    const small = new Watch('short', { codec: text, bytes: 8, arena });
    expect(failure(() => small.set('x'.repeat(49)))).toBeInstanceOf(RangeError);
    expect([watch.read(), small.get()]).toEqual([{ value: 1, version: 0 }, 'short']);
    // The watch that was not made has left nothing behind.
    expect(arena.stats().objects.used).toBe(4);
  });

  it('a codec may throw on either side, and may call the watch itself', () => {
    const odd: Codec<number> = {
      name: 'odd',
      encode(x, { view }) {
        if (x === 13) throw new Error('half-way');
        if (x === 2) watch.set(1);
        view.setFloat64(0, x);
        return 8;
      },
      decode({ view }) {
        const x = view.getFloat64(0);
        if (x === 5) throw new Error('cannot decode');
        return x === 6 ? watch.version : x;
      },
    };
    const watch: Watch<number> = new Watch(0, { codec: odd, arena });
    expect(failure(() => watch.set(13)).message).toBe('half-way');
    expect(watch.version).toBe(0);
    watch.set(2);
    expect(watch.read()).toEqual({ value: 2, version: 2 });
    watch.set(5);
    expect(failure(() => watch.get()).message).toBe('cannot decode');
    watch.set(6);
    expect(watch.get()).toBe(4);
    expect(watch.inspect()).toMatchObject({ writers: { waiting: 0 }, writersDied: 0 });
  });
});

describe('changes', () => {
  it('are told once to each who waits, and nobody misses one', async () => {
    const watch = ofNumbers();
    const all = [watch.changedAsync(), watch.changedAsync(0), watch.changedAsync(0, { timeout: 5000 })];
    expect(watch.waiting).toBe(3);
    watch.set(1);
    expect(await Promise.all(all)).toEqual(Array(3).fill({ value: 1, version: 1 }));
    expect(await watch.changedAsync(0)).toEqual({ value: 1, version: 1 });
    expect(watch.changed(0)).toEqual({ value: 1, version: 1 });
    const late = watch.changedAsync(1);
    for (let i = 2; i <= 9; i++) watch.set(i);
    expect(await late).toEqual({ value: 9, version: 9 });
    expect(watch.waiting).toBe(0);
  });

  it('end a wait by a time-out or a signal, and leave nothing behind', async () => {
    const watch = ofNumbers();
    expect(failure(() => watch.changed(0, { timeout: 0 }))).toBeInstanceOf(TimeoutError);
    expect(failure(() => watch.changed(0, { timeout: 2 })).message).toContain('a newer value of the watch');
    await expect(watch.changedAsync(0, { timeout: 2 })).rejects.toBeInstanceOf(TimeoutError);
    const stop = new AbortController();
    const waits = watch.changedAsync(0, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waits).rejects.toThrow('enough');
    expect(failure(() => watch.changed(0, { signal: stop.signal })).message).toBe('enough');
    // The permits that these requests have left over admit nobody.
    watch.set(1);
    expect(failure(() => watch.changed(1, { timeout: 2 }))).toBeInstanceOf(TimeoutError);
    expect(watch.inspect().watchers).toMatchObject({ waiting: 0, waiters: [] });
  });

  it('end a wait by the reason of its signal, also if that is the ClosedError of another channel', async () => {
    const program = `
      const { Channel, Watch, number } = require('taketurns/channel');
      const channel = new Channel({ codec: number });
      channel.close();
      const watch = new Watch(1, { codec: number });
      const control = new AbortController();
      const waits = watch.changedAsync(0, { signal: control.signal });
      try { channel.receive(); } catch (error) { control.abort(error); }
      waits.catch((error) => require('node:worker_threads').parentPort.postMessage(String(error)));
    `;
    const worker = new Worker(program, { eval: true });
    onTestFinished(async () => {
      await worker.terminate();
    });
    const told = await new Promise((resolve) => worker.once('message', resolve));
    expect(told).toContain('every message has been received');
  });

  it('a signal that sets the watch does no harm', async () => {
    const watch = ofNumbers();
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: () => watch.set(watch.version + 1),
      removeEventListener() {},
    };
    expect(await watch.changedAsync(0, { signal })).toEqual({ value: 1, version: 1 });
  });

  it('come to 100,000 promises in linear time', async () => {
    const big = new Arena({ waiters: 200_100 });
    const watch = new Watch(0, { codec: number, arena: big });
    const waits = Array.from({ length: 100_000 }, () => watch.changedAsync(0));
    watch.set(1);
    expect((await Promise.all(waits)).every(({ version }) => version === 1)).toBe(true);
    expect(watch.waiting).toBe(0);
    big.dispose();
  });

  it('are gone through from the newest value on', async () => {
    const watch = ofNumbers();
    const got: number[] = [];
    const loop = (async () => {
      for await (const x of watch) got.push(x);
    })();
    for (let i = 1; i <= 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      watch.set(i);
    }
    watch.close();
    await loop;
    expect(got).toEqual([0, 1, 2, 3]);
    expect([...watch]).toEqual([3]);
  });

  it.each([-1, 1.5, '1', NaN])('refuses the version %j', async (since) => {
    const watch = ofNumbers();
    expect(failure(() => watch.changed(since as number)).message).toContain('Watch.changed: since');
    await expect(watch.changedAsync(since as number)).rejects.toThrow('Watch.changedAsync: since');
    expect(failure(() => trySelect([changing(watch, since as number)])).message).toContain('changing: since');
  });
});

describe('the turn of those who set', () => {
  it('is first come, first served, and set waits for it', async () => {
    const watch = ofNumbers();
    const sets = [1, 2, 3].map((x) => watch.setAsync(x));
    await Promise.all(sets);
    expect(watch.read()).toEqual({ value: 3, version: 3 });
    await expect(watch.setAsync(4, { timeout: 0 })).resolves.toBeUndefined();
    expect(watch.inspect()).toMatchObject({ version: 4, writers: { waiting: 0 } });
  });
});

describe('the end', () => {
  it('close refuses who sets, and tells who waits', async () => {
    const watch = ofNumbers();
    const waits = watch.changedAsync(0);
    const since = watch.changedAsync(5);
    watch.close();
    watch.close();
    await expect(waits).rejects.toBeInstanceOf(ClosedError);
    await expect(since).rejects.toThrow('its newest value has been seen');
    expect(failure(() => watch.set(1))).toBeInstanceOf(ClosedError);
    await expect(watch.setAsync(1)).rejects.toBeInstanceOf(ClosedError);
    expect(failure(() => watch.changed(0))).toBeInstanceOf(ClosedError);
    expect([watch.closed, watch.get(), String(watch)]).toEqual([true, 0, 'Watch(version 0, closed)']);
    expect(failure(() => watch.set(NaN, { timeout: -1 }))).toBeInstanceOf(RangeError);
  });

  it('a value that was set before it was closed is still seen', async () => {
    const watch = ofNumbers();
    const waits = watch.changedAsync(0);
    watch.set(1);
    watch.close();
    expect(await waits).toEqual({ value: 1, version: 1 });
    expect(watch.changed(0).value).toBe(1);
  });

  it('dispose ends every wait and every later call', async () => {
    const watch = ofNumbers();
    const other = Watch.from(watch.handle, number);
    const waits = watch.changedAsync(0);
    watch.dispose();
    await expect(waits).rejects.toBeInstanceOf(DisposedError);
    for (const call of [() => watch.get(), () => watch.set(1), () => other.changed(0), () => watch.inspect()])
      expect(failure(call)).toBeInstanceOf(DisposedError);
    await expect(other.changedAsync(0)).rejects.toBeInstanceOf(DisposedError);
    await expect(other.setAsync(0)).rejects.toBeInstanceOf(DisposedError);
    watch.close();
    expect([watch.closed, other.disposed, String(watch)]).toEqual([true, true, 'Watch(disposed)']);
    expect(failure(() => Watch.from(watch.handle, number))).toBeInstanceOf(DisposedError);
  });

  it('gives the objects and the pages back', () => {
    for (let i = 0; i < 500; i++) new Watch(new Uint8Array(9), { bytes: 50_000, arena }).dispose();
    expect(arena.stats().objects.used).toBe(0);
  });
});

describe('names, handles and options', () => {
  it('opens one watch by its name, with the value of the first', () => {
    const one = Watch.open('level', 'info', { codec: text, arena });
    const other = Watch.open('level', 'debug', { codec: text, arena });
    expect(other.get()).toBe('info');
    other.set('warn');
    expect(one.get()).toBe('warn');
    expect(String(one)).toContain('"level"');
    expect(failure(() => Watch.open('level', 'x', { codec: text, bytes: 100, arena })).message).toContain(
      'Watch.open: name "level": it exists already with bytes 48, not 112',
    );
    expect(failure(() => Watch.open('level', 1, { codec: number, arena })).message).toContain(
      'the Watch "level" has the codec "text", and not "number": give { codec: text }',
    );
    expect(failure(() => Channel.open('level', { arena })).message).toContain('give the Channel another one');
    Mutex.open('lock', { arena });
    expect(failure(() => Watch.open('lock', 'x', { codec: text, arena })).message).toContain(
      'give the Watch another one',
    );
  });

  it('refuses handles that are none', () => {
    const { handle } = ofNumbers();
    const channel = new Channel({ arena });
    for (const bad of [undefined, {}, channel.handle, { ...handle, address: 1.5 }])
      expect(failure(() => Watch.from(bad as never, number)).message).toContain('Watch.from: handle');
    for (const forged of [{ address: handle.address + 128 }, { address: 64 }, { generation: handle.generation + 1 }])
      expect(failure(() => Watch.from({ ...handle, ...forged }, number)).message).toMatch(/disposed of|no Watch/);
    expect(failure(() => Channel.from({ ...handle, kind: 'Channel' } as never)).message).toMatch(/no Channel/);
    expect(failure(() => Watch.from(handle)).message).toBe(
      'Watch.from: the Watch has the codec "number", and not "bytes": write Watch.from(handle, number)',
    );
  });

  it.each([{ bytes: 7 }, { bytes: 2 ** 24 + 1 }, { capacity: 4 }, { codec: {} }])('refuses %j', (options) => {
    expect(failure(() => new Watch(new Uint8Array(), { arena, ...(options as object) })).message).toMatch(/^Watch: /);
  });

  it('says how to make room for values', () => {
    const error = failure(() => new Watch(new Uint8Array(), { bytes: 2 ** 20, arena }));
    expect(error).toBeInstanceOf(ArenaFullError);
    expect(error.message).toContain('bytes of another watch');
    expect(error.message).toContain(`new Arena({ bytes: ${2 * 4 * (2 ** 20 + 64)} })`);
    // An arena has at most 1 GiB for messages.
    const half = failure(() => new Channel({ capacity: 2 ** 16, bytes: 10_000, arena }));
    expect(half.message).toContain('new Arena({ bytes: 1073741824 })');
    const all = failure(() => new Channel({ capacity: 2 ** 16, bytes: 2 ** 24, arena }));
    expect(all).toBeInstanceOf(ArenaFullError);
    expect(all.message).toMatch(/: no arena has more than 1073741824$/);
    expect(arena.stats().objects.used).toBe(0);
  });

  it('describes itself', () => {
    const watch = ofNumbers();
    watch.set(1);
    const nobody = { waiting: 0, longestWait: 0, timeouts: 0, waiters: [] };
    expect(watch.inspect()).toEqual({
      version: 1,
      bytes: 48,
      closed: false,
      writersDied: 0,
      writers: nobody,
      watchers: nobody,
    });
    expect(Object.prototype.toString.call(watch)).toBe('[object Watch]');
  });
});

describe('a case of a select', () => {
  it('is a newer value, or the end', async () => {
    const watch = ofNumbers();
    const channel = new Channel({ codec: number, arena });
    const cases = () => [receiving(channel), changing(watch, 0)] as const;
    expect(trySelect(cases())).toBeUndefined();
    const waits = selectAsync(cases());
    watch.set(5);
    expect(await waits).toEqual({ index: 1, value: { value: 5, version: 1 }, closed: false });
    expect(channel.waiting + watch.waiting).toBe(0);
    channel.send(1);
    expect(select(cases(), { biased: true })).toMatchObject({ index: 0, value: 1 });
    const stops = selectAsync([receiving(channel), changing(watch)]);
    watch.close();
    expect(await stops).toEqual({ index: 1, value: undefined, closed: true });
    expect(select(cases())).toMatchObject({ index: 1, value: { value: 5 } });
    expect(failure(() => select([receiving(channel)], { timeout: 0 }))).toBeInstanceOf(TimeoutError);
    watch.dispose();
    expect(failure(() => select(cases()))).toBeInstanceOf(DisposedError);
  });

  it('loses to another case, and stays', async () => {
    const watch = ofNumbers();
    const channel = new Channel({ codec: number, arena });
    const waits = selectAsync([receiving(channel), changing(watch)]);
    channel.send(3);
    watch.set(1);
    expect(await waits).toMatchObject({ index: 0, value: 3 });
    expect(watch.waiting).toBe(0);
    expect(failure(() => watch.changed(1, { timeout: 1 }))).toBeInstanceOf(TimeoutError);
  });
});
