/** EventCount and Sequencer in one thread; stress/by-key.test.ts has several. */
import { Arena, DisposedError } from 'taketurns';
import { EventCount, Sequencer, TicketSemaphore } from 'taketurns/algorithms';
import { describe, expect, it } from 'vitest';
import { at, Memory } from '../support/memory.js';

describe('EventCount', () => {
  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('counts from %i on', (first) => {
    const count = new EventCount({ first });
    expect(count.read()).toBe(first);
    expect(count.advance()).toBeUndefined();
    expect(count.read()).toBe(first + 1n);
    count.advance(4);
    expect(count.read()).toBe(first + 5n);
    count.await(first + 5n);
    count.await(first);
    count.await(-1n);
    expect(EventCount.from(count.handle).read()).toBe(first + 5n);
  });

  it('is closed by dispose, for every library object of it', () => {
    const count = new EventCount();
    const same = EventCount.from(count.handle);
    count.advance();
    count.dispose();
    count.dispose();
    for (const one of [count, same]) {
      expect(() => one.await(1n)).toThrow(new DisposedError('the EventCount has been disposed of'));
      expect(() => one.read()).toThrow(DisposedError);
      expect(() => one.handle).toThrow(DisposedError);
      one.advance();
    }
  });

  it.each([0, -1, 1.5, 2 ** 31, '1', 1n])('does not advance by %s', (steps) => {
    const count = new EventCount();
    expect(() => count.advance(steps as never)).toThrow(
      `EventCount.advance: steps must be an integer from 1 to ${2 ** 31 - 1}, got `,
    );
    expect(count.read()).toBe(0n);
  });

  it('awaits bigints alone, up to 2 ** 62', () => {
    const count = new EventCount();
    expect(() => count.await(0 as never)).toThrow(new TypeError('EventCount.await: value must be a bigint, got 0'));
    expect(() => count.await(2n ** 62n + 1n)).toThrow(RangeError);
  });

  it.each([-1n, 2n ** 61n + 1n])('does not begin at %s', (first) => {
    expect(() => new EventCount({ first })).toThrow(
      new RangeError(`EventCount: first must be from 0n to 2n ** 61n, got ${first}n`),
    );
    expect(() => new Sequencer({ first })).toThrow(
      new RangeError(`Sequencer: first must be from 0n to 2n ** 61n, got ${first}n`),
    );
  });

  it.each([
    [{}, 0],
    [{ threshold: 3 }, 3],
    [{ threshold: 1, farParks: true }, 1 | at('FAR_PARKS')],
  ])('with %o, near waiters poll up to the threshold', (options, word) => {
    const arena = new Arena();
    const { address } = new EventCount({ arena, ...options }).handle as unknown as { address: number };
    const memory = new Memory(arena);
    expect(memory.word(address + at('O_THRESHOLD'))).toBe(word);
    expect(memory.word(address + at('O_WAKE'))).toBe(at('WAKE_PASS'));
  });

  it('has no near waiter further than any count', () => {
    expect(() => new EventCount({ threshold: -1 })).toThrow(
      'EventCount: threshold must be an integer from 0 to 2147483647',
    );
    expect(() => new EventCount({ farParks: 1 as never })).toThrow('EventCount: farParks must be true or false, got 1');
  });

  it('is no semaphore', () => {
    const arena = new Arena();
    const { handle } = new TicketSemaphore(1, { arena });
    expect(() => EventCount.from(handle as never)).toThrow('must be of a EventCount, but it is of a TicketSemaphore');
    expect(() => new EventCount(null as never)).toThrow(TypeError);
    expect(() => new EventCount({ spin: -1 })).toThrow('EventCount: spin must be an integer from 0 to 1000000');
  });
});

describe('Sequencer', () => {
  it.each([0n, 2n ** 32n - 2n, 2n ** 53n - 2n, 2n ** 61n])('gives out numbers from %i on', (first) => {
    const sequencer = new Sequencer({ first });
    const same = Sequencer.from(sequencer.handle);
    expect([sequencer.ticket(), same.ticket(), sequencer.ticket()]).toEqual([first, first + 1n, first + 2n]);
  });

  it('has no handle any more once it is disposed of', () => {
    const sequencer = new Sequencer();
    const { handle } = sequencer;
    sequencer.dispose();
    sequencer.dispose();
    expect(() => sequencer.handle).toThrow(DisposedError);
    expect(() => Sequencer.from(handle)).toThrow(DisposedError);
  });
});
