/** The bypass of locks and semaphores by their own tickets: the count, the bounds, and controls that break the bounds. */
import { afterAll, describe, expect, it } from 'vitest';
import { allInCi } from '../../test/support/rounds.js';
import { Host } from '../dist/workers/client.js';
import { buildNative, nativeContention } from '../src/native.js';
import { BYPASS, LOCKS_BY_NAME } from '../src/rows/locks.js';
import type { NativeRow } from '../src/rows/row.js';
import { PAPER_SEMAPHORES, SEMAPHORES_BY_NAME } from '../src/rows/semaphores.js';
import { BAND_STARTS, BANDS, bypassBand } from '../src/workers/bypass-bands.js';
import { TicketOrder, ticketWords } from '../src/workers/ticket-order.js';

/** A small generator of numbers from 0 to below 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Admits tickets in a random order in which at most `threads` wait at a time. */
function admissions(threads: number, count: number, seed: number): number[] {
  const draw = random(seed);
  const waiting: number[] = [];
  const order: number[] = [];
  for (let ticket = 0; order.length < count; ) {
    while (waiting.length < threads && (waiting.length === 0 || draw() < 0.7)) waiting.push(ticket++);
    order.push(...waiting.splice(Math.floor(draw() ** 2 * waiting.length), 1));
  }
  return order;
}

describe('the order by tickets', () => {
  it.each([1, 2, 3, 8, 64])('counts the later tickets that were admitted before, with %i threads', (threads) => {
    for (let seed = 1; seed <= 20; seed++) {
      const order = admissions(threads, 400, seed);
      const tickets = new TicketOrder(new Float64Array(ticketWords(threads)));
      order.forEach((ticket, at) => {
        expect(tickets.isNext(ticket)).toBe(ticket === (at === 0 ? 0 : (order[at - 1] as number) + 1));
        expect(tickets.admitted(ticket)).toBe(order.slice(0, at).filter((earlier) => earlier > ticket).length);
      });
    }
  });

  it('refuses a ticket that was admitted before, and more outstanding tickets than threads', () => {
    const tickets = new TicketOrder(new Float64Array(ticketWords(2)));
    tickets.admitted(2);
    expect(() => tickets.admitted(2)).toThrow('ticket 2 was admitted twice');
    expect(() => tickets.admitted(4)).toThrow('more tickets are outstanding below 4 than threads');
  });

  it('has a band for each bypass', () => {
    for (const bypass of [0, 1, 9, 10, 15, 16, 17, 99, 100, 999, 1000, 99_999, 100_000, 5_000_000]) {
      const band = bypassBand(bypass);
      expect(BAND_STARTS[band]).toBeLessThanOrEqual(bypass);
      expect(BAND_STARTS[band + 1] ?? Number.POSITIVE_INFINITY).toBeGreaterThan(bypass);
    }
    expect(BANDS).toBe(BAND_STARTS.length);
  });
});

describe('nobody is overtaken more often than the capacitor says', () => {
  const host = new Host();
  afterAll(() => host.close());
  const probe = (row: string) =>
    host.run({ benchmark: 'locks', row, loop: 'probe', threads: 6, seconds: 0.3, warmUp: 5 });

  it.each(['TtsLock', 'TicketLock', 'McsLock', 'LifoLock', 'ReciprocatingLock'])('around %s', async (name) => {
    const { largestBypass, admissions, outOfOrder } = await probe(`${name}+capacitor`);
    expect(largestBypass).toBeLessThan(BYPASS);
    expect(admissions).toBeGreaterThan(0);
    expect(outOfOrder).toBeDefined();
  });

  it.each(['TtsLock+ticketCapacitor', 'TtsLock+lanes'])('%s', async (name) => {
    expect((await probe(name)).largestBypass).toBeLessThan(BYPASS);
  });

  const inCpp = LOCKS_BY_NAME.filter(
    ({ kind, name }) => kind === 'native' && /\+(capacitor|ticketCapacitor|lanes)$/.test(name),
  );
  it.each(allInCi(inCpp).map((row) => [row.name, row]))('%s, in C++', async (_, row) => {
    const native = await buildNative();
    if (!('binary' in native)) return expect(native.missing).toMatch('compiler');
    const { largestBypass, iterations } = await nativeContention(
      native.binary,
      'mutexbench',
      row as NativeRow,
      6,
      0.2,
      true,
    );
    expect(largestBypass).toBeLessThan(BYPASS);
    expect(iterations).toHaveLength(6);
  });

  it('a control: a capacitor whose semaphore lets threads barge has no bound', { timeout: 60_000 }, async () => {
    const built = await buildNative();
    if (!('binary' in built)) return expect(built.missing).toMatch('compiler');
    const row = LOCKS_BY_NAME.find(({ name }) => name === 'tts-futex+bargingCapacitor') as NativeRow;
    let largest = 0;
    while (largest < BYPASS) {
      // More threads than the limit, so that some wait at the semaphore.
      const { largestBypass } = await nativeContention(built.binary, 'mutexbench', row, 16, 0.2, true);
      largest = largestBypass ?? 0;
    }
    expect(largest).toBeGreaterThanOrEqual(BYPASS);
  });

  it.each([
    ['a plain semaphore has no bound', 'TtsLock+semaphore'],
    ['a larger limit is reached', `TtsLock+capacitor:${BYPASS + 90}`],
  ])('a control: %s', { timeout: 60_000 }, async (_, name) => {
    let largest = 0;
    while (largest < BYPASS) largest = Math.max(largest, (await probe(name)).largestBypass);
    expect(largest).toBeGreaterThanOrEqual(BYPASS);
  });
});

describe('nobody overtakes at a semaphore that promises first come, first served', () => {
  const host = new Host();
  afterAll(() => host.close());
  const probe = (row: string) =>
    host.run({ benchmark: 'semaphores', row, loop: 'probe', threads: 6, seconds: 0.2, warmUp: 5 });
  const native = async (row: NativeRow, threads: number) => {
    const built = await buildNative();
    return 'binary' in built
      ? nativeContention(built.binary, 'semabench', row, threads, 0.2, true)
      : expect(built.missing).toMatch('compiler');
  };
  const inCpp = [...PAPER_SEMAPHORES, ...SEMAPHORES_BY_NAME].flatMap((row) => (row.kind === 'native' ? [row] : []));
  const find = (name: string) => inCpp.find((row) => row.name === name) as NativeRow;

  it.each([
    'Semaphore',
    'TwaSemaphore',
    'TicketSemaphore',
    'ChainSemaphore',
    'ChainSemaphore due',
    'ChainSemaphore conservative',
    'ChannelSemaphore lazy',
    'ChannelSemaphore conservative',
    'LocationSemaphore',
    'MultilaneSemaphore',
    'js-ticket-notify-all',
  ])('%s', async (name) => {
    const { largestBypass, admissions, outOfOrder } = await probe(name);
    expect({ largestBypass, outOfOrder }).toEqual({ largestBypass: 0, outOfOrder: 0 });
    expect(admissions).toBeGreaterThan(0);
  });

  const ordered = inCpp.filter(({ name }) => /^(lanes of )?(twa|ticket|chain|channel|location)-/.test(name));
  it.each(allInCi(ordered).map((row) => [row.name, row]))('%s, in C++', async (_, row) => {
    // Waiters that spin for ever take turns only as the scheduler rotates, if there are more of them than processors.
    const figures = await native(row, row.knobs.includes('--spin') ? 3 : 6);
    if (figures !== undefined) expect(figures).toMatchObject({ largestBypass: 0, outOfOrder: 0 });
  });

  it('a control: a semaphore that lets threads barge', { timeout: 60_000 }, async () => {
    let largest = 0;
    while (largest === 0) largest = (await probe('js-barging+ticket')).largestBypass;
    expect(largest).toBeGreaterThan(0);
  });

  it.each(['sem_t+ticket', 'std::counting_semaphore+ticket'])('a control: %s', { timeout: 60_000 }, async (name) => {
    let largest = 0;
    while (largest === 0) {
      const figures = await native(find(name), 6);
      if (figures === undefined) return;
      largest = figures.largestBypass ?? 0;
    }
    expect(largest).toBeGreaterThan(0);
  });
});
