/** The price of a call, in accesses to shared memory, does not grow with unrelated objects, names and elements. */
import { describe, expect, it } from 'vitest';
import type { Machine } from '../src/engine/machine/machine.js';
import { loadProgram } from '../src/programs.js';
import { constant } from '../src/scene/layout.js';
import type { ArenaSizes } from '../src/scene/set-up.js';
import { finish, newMachine } from '../src/scene/set-up.js';

const core = loadProgram('core');
const KIND = constant('KIND_SEMAPHORE');
const LIMIT = 0x7fffffff;
/** Prices may differ by the cost of a look at a few more cells or elements. */
const SLACK = 20;

/** An arena in which each call has a price: the number of its accesses to shared memory. */
class Shop {
  readonly machine: Machine;

  constructor(sizes: ArenaSizes, threads = 1) {
    this.machine = newMachine(core, threads, sizes, false).machine;
  }

  /** Returns the answer of a call, and its price. */
  call(t: number, name: string, ...args: number[]): { answer: number; price: number } {
    let price = 0;
    this.machine.call(t, core.exports.get(name) as number, ...args);
    finish(this.machine, t, () => {
      price++;
      this.machine.step(t);
    });
    return { answer: this.machine.resultLo(t), price };
  }

  create(t = 0) {
    return this.call(t, 'createObject', KIND, 0, LIMIT, 0, 0, 0, 0, 0, 0, 0);
  }

  /** Opens a name of 8 bytes. */
  open(t: number, name: string) {
    const draft = this.call(t, 'draftName');
    const bytes = Buffer.from(name.padEnd(8, '.'));
    for (let i = 0; i < 8; i += 4)
      this.machine.hostStore32(draft.answer + constant('N_BYTES') + i, bytes.readInt32LE(i));
    this.machine.hostStore32(draft.answer + constant('N_LENGTH'), 8);
    const open = this.call(t, 'openName', 8, KIND, 1, LIMIT, 0, 0, 0, 0);
    return { answer: open.answer, price: draft.price + open.price };
  }
}

describe('an object', () => {
  it('costs as much after a hundred others as the first', () => {
    const shop = new Shop({ objects: 100 });
    const made = Array.from({ length: 100 }, () => shop.create());
    for (const { answer } of made) expect(answer).toBeGreaterThan(0);
    const prices = made.map(({ price }) => price);
    // As soon as there are 16 elements or objects, a search tries up to 16 of them.
    expect(Math.max(...prices.slice(20))).toBe(Math.min(...prices.slice(20)));
    expect(prices[99]).toBeLessThanOrEqual((prices[0] as number) + 2 * 16 + SLACK);
  });

  it('that has been freed is the next, wherever it lies', () => {
    const shop = new Shop({ objects: 100 });
    const numbers = Array.from({ length: 100 }, () => shop.create().answer);
    const first = new Shop({ objects: 100 }).create().price;
    for (const number of [99, 0, 50].map((i) => numbers[i] as number)) {
      const address = shop.call(0, 'attachedTo', number).answer;
      shop.call(0, 'dispose', address);
      shop.call(0, 'letGo', number, 0);
      const { answer, price } = shop.create();
      expect(shop.call(0, 'attachedTo', answer).answer).toBe(address);
      expect(price).toBeLessThanOrEqual(first + SLACK);
    }
  });
});

describe('a name', () => {
  const name = (i: number) => `name ${i}`;

  it('costs as much after fifty others as the first, and is found at the same price', () => {
    const shop = new Shop({ objects: 60 });
    const made = Array.from({ length: 60 }, (_, i) => shop.open(0, name(i)));
    for (const { answer } of made) expect(answer).toBeGreaterThan(0);
    const prices = made.map(({ price }) => price);
    // Besides the elements, objects and names that are tried, one or two names stand in the same list.
    const most = (prices[0] as number) + 3 * 16 + 2 * SLACK;
    expect(Math.max(...prices)).toBeLessThanOrEqual(most);
    for (const i of [0, 30, 59]) {
      const { answer, price } = shop.open(0, name(i));
      expect(shop.call(0, 'attachedTo', answer)).toEqual(shop.call(0, 'attachedTo', made[i]?.answer as number));
      expect(price).toBeLessThanOrEqual(most);
    }
  });
});

describe('a release', () => {
  /** Enters promises of thread 1, each in its own run. Returns the price of a release of thread 0 for all of them. */
  function price(widths: readonly number[], buckets = 64) {
    const shop = new Shop({ objects: 1, buckets, elements: widths.length + 8, attached: 2 }, 2);
    const s = shop.call(0, 'attachedTo', shop.create().answer).answer;
    const runs = widths.map((width) => shop.call(1, 'arrive', s, width, 0, 0).answer);
    for (const run of runs) expect(shop.call(1, 'enterRun', run).answer).toBe(0);
    const all = widths.reduce((sum, width) => sum + width);
    const release = shop.call(0, 'release', s, all);
    const finish = shop.call(0, 'finishRelease', s, all, release.answer, 0);
    for (const run of runs) expect(shop.call(1, 'settle', run, 0).answer).toBe(1);
    expect(shop.call(1, 'available', s).answer).toBe(0);
    return release.price + finish.price;
  }

  it('of 65,536 for one waiter costs as much as of 1', () => {
    expect(price([65_536])).toBeLessThanOrEqual(price([1]) + SLACK);
    expect(price([65_535])).toBeLessThanOrEqual(price([1]) + SLACK);
  });

  it('for several waiters costs the same for any widths', () => {
    // A heavy request stands in two cells, so a light request may stand in a bucket with one more full cell.
    expect(price([1000, 1, 5000, 2])).toBeLessThanOrEqual(price([1, 1, 1, 1]) + 2 * SLACK);
  });

  it.each([1, 2, 64])('wakes all waiters, even if more are heavy than it passes over (%i buckets)', (buckets) => {
    for (const widths of [2, 3, 100])
      price(
        Array.from({ length: 60 }, (_, i) => widths + (i % 3)),
        buckets,
      );
  });
});

describe('dispose', () => {
  /** Uses `count` elements once, for runs of a semaphore that is freed afterwards. */
  function burst(shop: Shop, count: number): void {
    const number = shop.create(1).answer;
    const s = shop.call(1, 'attachedTo', number).answer;
    const runs = Array.from({ length: count }, (_, i) => shop.call(1, 'arrive', s, 1 + (i % 2), 0, 0).answer);
    for (const run of runs) shop.call(1, 'dropRun', run);
    shop.call(1, 'dispose', s);
    shop.call(1, 'letGo', number, 0);
  }

  function price(used: number, waits: boolean): number {
    const shop = new Shop({ objects: 2, buckets: 8, elements: 600, attached: 2 }, 2);
    // The object is made before other runs use elements, so that these runs use the same part of the pool.
    const s = shop.call(0, 'attachedTo', shop.create().answer).answer;
    const run = waits ? shop.call(1, 'arrive', s, 1, 0, 0).answer : 0;
    if (waits) shop.call(1, 'enterRun', run);
    burst(shop, used);
    const { price } = shop.call(0, 'dispose', s);
    if (waits) expect(shop.call(1, 'settle', run, 0).answer).toBe(constant('ANSWER_CLOSED'));
    return price;
  }

  it('of an object without waiters costs the same, however many elements others have used', () => {
    expect(price(500, false)).toBe(price(0, false));
  });

  it('looks only into the parts of the pool in which waiters were', () => {
    // Each part has 256 elements, and the pool begins in the middle of a part.
    expect(price(500, true)).toBeLessThanOrEqual(price(0, true) + 256 + SLACK);
  });
});
