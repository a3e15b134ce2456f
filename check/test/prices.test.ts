/** What a call costs, counted in accesses to shared memory: it does not grow with what has nothing to do with it. */
import { describe, expect, it } from 'vitest';
import type { Machine } from '../src/machine/machine.js';
import { loadProgram } from '../src/programs.js';
import { constant } from '../src/scene/layout.js';
import type { ArenaSizes } from '../src/scene/scene.js';
import { finish, newMachine } from '../src/scene/set-up.js';

const core = loadProgram('core');
const KIND = constant('KIND_SEMAPHORE');
const LIMIT = 0x7fffffff;
/** No price may differ by more than what a look at a few more cells or elements costs. */
const SLACK = 20;

/** An arena, and how many accesses a call of a thread takes there. */
class Shop {
  readonly machine: Machine;

  constructor(sizes: ArenaSizes, threads = 1) {
    this.machine = newMachine(core, threads, sizes, false).machine;
  }

  /** What the call answers, and what it costs. */
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
    return this.call(t, 'createObject', KIND, 0, LIMIT, 0, 0, 0, 0, 0);
  }

  /** Opens a name of 8 bytes. */
  open(t: number, name: string) {
    const draft = this.call(t, 'draftName');
    const bytes = Buffer.from(name.padEnd(8, '.'));
    for (let i = 0; i < 8; i += 4)
      this.machine.hostStore32(draft.answer + constant('N_BYTES') + i, bytes.readInt32LE(i));
    const open = this.call(t, 'openName', draft.answer, 8, KIND, 1, LIMIT, 0, 0, 0);
    return { answer: open.answer, price: draft.price + open.price };
  }
}

describe('an object', () => {
  it('costs as much after a hundred others as the first', () => {
    const shop = new Shop({ objects: 100 });
    const made = Array.from({ length: 100 }, () => shop.create());
    for (const { answer } of made) expect(answer).toBeGreaterThan(0);
    const prices = made.map(({ price }) => price);
    // Up to 16 are tried, of elements and of objects, until there are as many.
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
      shop.call(0, 'detach', number);
      const { answer, price } = shop.create();
      expect(shop.call(0, 'attachedTo', answer).answer).toBe(address);
      expect(price).toBeLessThanOrEqual(first + SLACK);
    }
  });
});

describe('a name', () => {
  const name = (i: number) => `name ${i}`;

  it('costs as much after fifty others as the first, and is found at the same price', () => {
    const shop = new Shop({ objects: 60, names: 60 });
    const made = Array.from({ length: 60 }, (_, i) => shop.open(0, name(i)));
    for (const { answer } of made) expect(answer).toBeGreaterThan(0);
    const prices = made.map(({ price }) => price);
    // Besides those that are tried (of elements, objects and names), one or two names stand in the same list.
    const most = (prices[0] as number) + 3 * 16 + 2 * SLACK;
    expect(Math.max(...prices)).toBeLessThanOrEqual(most);
    for (const i of [0, 30, 59]) {
      const { answer, price } = shop.open(0, name(i));
      expect(shop.call(0, 'attachedTo', answer)).toEqual(
        shop.call(0, 'attachedTo', made[i]?.answer as number),
      );
      expect(price).toBeLessThanOrEqual(most);
    }
  });
});
