/**
 * A process that died is found about a lease later, whoever looks and however rarely. The clock of the server does not
 * decide this. It only decides whether a process that connects watches first: the process watches if, by this clock,
 * another session has been silent for a lease.
 */
import { expect, test } from 'vitest';
import { SpaceError } from '../src/errors.js';
import { TURN } from '../src/script/turn-source.js';
import { onServers, type Setting, sleep, until } from './setting.js';

const LEASE = 500;
/** So a process that connects watches for longer than its `connectTimeout`, which must suffice on a busy machine. */
const SLOW = 2000;
/** The lease of a process that must not lose it, even on a busy machine. */
const LONG = 3000;
const KEYS = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'];

onServers('who died', ({ join, another, key }: Setting) => {
  /** Plays a process that makes the mutex `m`, holds it, and dies at once. Returns the session of this process. */
  async function dies(
    operations = ['N', 'm', 'm', '1', '0', '0', '0', 'A', 'm', '-', '0000000001', '00000001'],
    lease = LEASE,
  ) {
    const sid = `p${Math.random().toString(16).slice(2).padEnd(15, '0').slice(0, 15)}`;
    const args = [sid, '0', `${key('c')}:`, 'O', '2', '1', String(lease), 'dead', '-', '0', ...operations];
    await another().eval(TURN.text, 7, ...KEYS.map(key), ...args);
    return sid;
  }

  /** Makes it look as if the clock of the server had jumped forward since the last sign of life. */
  const jump = (): Promise<unknown> => another().hset(key('meta'), 'since', 1);

  test.each([
    ['tryHold', {}],
    ['a short time-out', { timeout: 50 }],
  ])('is found by the first process that comes a lease later, with %s', async (how, options) => {
    await dies(undefined, SLOW);
    const early = await join({ lease: SLOW });
    expect(await (await early.mutex('m', { bypass: 0 })).tryHold()).toBeUndefined();
    await early.close();
    await sleep(SLOW);
    const late = await join({ lease: SLOW, connectTimeout: 1200 });
    const mutex = await late.mutex('m', { bypass: 0 });
    await (how === 'tryHold' ? mutex.tryHold() : mutex.holdAsync(options)).then(
      (held) => held?.unlock(),
      () => {},
    );
    expect((await mutex.inspect())?.free).toBe(1);
  });

  test('is found by a process that has been idle for long, before somebody asks this process', async () => {
    const space = await join({ lease: LEASE });
    const mutex = await space.mutex('m', { bypass: 0 });
    await mutex.runExclusive(() => {});
    await sleep(2.5 * LEASE);
    const dead = await dies();
    const client = another();
    expect(await client.zscore(key('leases'), dead)).not.toBeNull();
    await until(async () => (await client.zscore(key('leases'), dead)) === null);
    const held = await mutex.tryHold();
    expect(held?.held).toBe(true);
    await held?.unlock();
  });

  test('is found by who only looks now and then', async () => {
    await dies();
    for (;;) {
      const space = await join({ lease: LEASE });
      const state = await (await space.mutex('m', { bypass: 0 })).inspect();
      await space.close();
      if (state?.free === 1) break;
      await sleep(0.9 * LEASE);
    }
  });

  test('is found by one that is there, and idle ones that died keep nobody', async () => {
    await dies([], SLOW);
    await sleep(SLOW);
    const told = new Set<unknown>();
    const space = await join({ lease: SLOW });
    // The space did not watch first: its answer came at once, and the dead session is still there.
    for (const { label } of (await space.inspect()).sessions) told.add(label);
    expect(told).toContain('dead');
    const held = await (await space.mutex('held')).holdAsync();
    await until(async () => (await space.inspect()).sessions.length === 1);
    expect(held.held).toBe(true);
  });

  test('has no say about the lease a lease later', async () => {
    await dies([], SLOW);
    const refused = await join({ lease: 2 * SLOW }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SpaceError);
    expect((refused as SpaceError).code).toBe('SETTINGS');
    await sleep(SLOW);
    const space = await join({ lease: 2 * SLOW });
    expect((await space.inspect()).sessions).toHaveLength(1);
  });

  test('a clock that has jumped ends no lease, and makes who comes watch', async () => {
    const holder = await join({ lease: LONG });
    const held = await (await holder.mutex('m')).holdAsync();
    const stop = setInterval(() => void jump(), 50);
    for (let visit = 0; visit < 2; visit++) {
      const visitor = await join({ lease: LONG });
      expect(await (await visitor.mutex('m')).tryHold()).toBeUndefined();
      await visitor.close();
      expect(held.signal.aborted).toBe(false);
    }
    clearInterval(stop);
    const refused = await join({ lease: 2 * LONG }).catch((error: unknown) => error);
    expect((refused as SpaceError).code).toBe('SETTINGS');
    expect(held.held).toBe(true);
  });
});
