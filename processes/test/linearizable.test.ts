/** The checker of histories finds what is wrong, and agrees with a search that tries all orders. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fifo, type What } from '../chaos/fifo.js';
import { type Checked, checkObject, type Fork, parseHistory, relate } from '../chaos/history.js';
import { linearize, type Operation } from '../chaos/linearizable.js';
import { PLANS, type Plan } from '../chaos/plan.js';
import { Register } from '../chaos/register.js';

const operation = (call: number, end: number, what: What): Operation<What> => ({ call, end, what });
const verdict = (max: number, permits: number[], history: Operation<What>[]) =>
  linearize(history, new Fifo(max, permits)).is;

/** Searches for an explanation by trying every order. */
function explains(max: number, permits: number[], history: readonly Operation<What>[]): boolean {
  const model = new Fifo(max, permits);
  const search = (left: readonly Operation<What>[]): boolean => {
    if (left.every(({ end }) => end === Infinity)) return true;
    const soonest = Math.min(...left.map(({ end }) => end));
    return left.some((next) => {
      if (next.call > soonest || !model.apply(next.what)) return false;
      const found = search(left.filter((other) => other !== next));
      model.undo(next.what);
      return found;
    });
  };
  return search(history);
}

describe('the search for an order', () => {
  test('two hold one permit at once: no', () => {
    const history = (second: number) => [
      operation(0, 1, { is: 'ask', i: 0 }),
      operation(0, 1, { is: 'got', i: 0 }),
      operation(5, 6, { is: 'give', i: 0, k: 1 }),
      operation(2, second, { is: 'ask', i: 1 }),
      operation(2, second, { is: 'got', i: 1 }),
    ];
    expect(verdict(1, [1, 1], history(4))).toBe('not linearizable');
    expect(verdict(1, [1, 1], history(5))).toBe('linearizable');
    expect(verdict(2, [1, 1], history(4))).toBe('linearizable');
  });

  test('a lighter request does not overtake a heavier one that is known to wait', () => {
    const history = (known: number) => [
      operation(0, 1, { is: 'ask', i: 0 }),
      operation(0, 1, { is: 'got', i: 0 }),
      // This request wants both permits. At `known` it certainly stands in the queue. The next request asks at 4.
      operation(2, known, { is: 'ask', i: 2 }),
      operation(2, 9, { is: 'got', i: 2 }),
      operation(4, 5, { is: 'ask', i: 1 }),
      operation(4, 5, { is: 'got', i: 1 }),
      operation(6, 7, { is: 'give', i: 0, k: 1 }),
      operation(6, 7, { is: 'give', i: 1, k: 1 }),
    ];
    expect(verdict(2, [1, 1, 2], history(3))).toBe('not linearizable');
    expect(verdict(2, [1, 1, 2], history(5))).toBe('linearizable');
  });

  test('a refusal has a reason', () => {
    const history = (end: number) => [
      operation(0, 1, { is: 'ask', i: 0 }),
      operation(0, 1, { is: 'got', i: 0 }),
      operation(2, 3, { is: 'give', i: 0, k: 1 }),
      operation(end - 1, end, { is: 'refused', n: 1 }),
    ];
    expect(verdict(1, [1], history(3))).toBe('linearizable');
    expect(verdict(1, [1], history(5))).toBe('not linearizable');
  });

  test('what a dead holder held may come back at any time, or never', () => {
    const history = [
      operation(0, 1, { is: 'ask', i: 0 }),
      operation(0, 1, { is: 'got', i: 0 }),
      operation(1, Infinity, { is: 'give', i: 0, k: 1 }),
    ];
    expect(verdict(1, [1], history)).toBe('linearizable');
    history.push(operation(8, 9, { is: 'ask', i: 1 }), operation(8, 9, { is: 'got', i: 1 }));
    expect(verdict(1, [1, 1], history)).toBe('linearizable');
  });

  test('it says when it gives up', () => {
    const history = [operation(0, 1, { is: 'ask', i: 0 }), operation(0, 1, { is: 'got', i: 0 })];
    expect(linearize(history, new Fifo(1, [1]), 1).is).toBe('not decided');
  });

  test('it finds what a search of all orders finds', () => {
    const seen = { yes: 0, no: 0 };
    const time = fc.integer({ min: 0, max: 12 });
    const span = fc
      .tuple(time, time)
      .map(([one, other]) => ({ call: Math.min(one, other), end: Math.max(one, other) }));
    const request = fc.record({ n: fc.integer({ min: 1, max: 2 }), asked: span, given: span, dies: fc.boolean() });
    const refused = fc.option(fc.record({ n: fc.integer({ min: 1, max: 2 }), at: span }));
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 3 }), refused, (requests, refusal) => {
        const history = requests.flatMap(({ n, asked, given, dies }, i) => [
          operation(asked.call, asked.end, { is: 'ask', i }),
          operation(asked.call, asked.end, { is: 'got', i }),
          operation(given.call, dies ? Infinity : given.end, { is: 'give', i, k: n }),
        ]);
        if (refusal) history.push(operation(refusal.at.call, refusal.at.end, { is: 'refused', n: refusal.n }));
        const permits = requests.map(({ n }) => n);
        const expected = explains(2, permits, history);
        seen[expected ? 'yes' : 'no']++;
        expect(verdict(2, permits, history)).toBe(expected ? 'linearizable' : 'not linearizable');
      }),
      { numRuns: 3000, seed: 1 },
    );
    expect(seen.yes).toBeGreaterThan(100);
    expect(seen.no).toBeGreaterThan(100);
  });
});

describe('histories', () => {
  const TOKEN = 4096;
  interface Data {
    keeps?: boolean;
    forgets?: boolean;
    splits?: boolean;
    forks?: Fork[];
  }
  function faultsOf(name: string, texts: string[], data: Data = {}): { faults: string[]; checked: Checked } {
    const { keeps = true, forgets = false, splits = false, forks = [] } = data;
    const plan = PLANS.find((each) => each.name === name) as Plan;
    const all = texts.flatMap((text, process) => parseHistory(`${text.trim().replaceAll(/\n\s*/g, '\n')}\n`, process));
    relate(all, new Set(['one', 'three', 'patient', 'readers']), forgets);
    const checked: Checked = { faults: [], refusals: 0, overtaken: 0, epochs: 0 };
    checkObject(plan, all, { keeps, splits, forks, isExact: true }, checked);
    return { faults: checked.faults.map(({ fault }) => fault.replace(/[:(].*| after.*| \d.*/s, '')), checked };
  }
  const hold = (id: number, name: string, [call, got, look, give, given]: number[], token: number, session = 's') => `
    a ${id} ${name} 1 0 ${call}
    g ${id} ${got} ${token * TOKEN} ${session} r${id}
    l ${id} ${look}
    b ${id} ${give} 1 ${id}
    e ${id} ${given} ${id}`;

  test('one after the other is right', () => {
    const { faults } = faultsOf('one', [hold(1, 'one', [0, 1, 2, 3, 4], 1), hold(1, 'one', [0, 5, 6, 7, 8], 2)]);
    expect(faults).toEqual([]);
  });

  test('two who look and hold at once', () => {
    const { faults } = faultsOf('one', [hold(1, 'one', [0, 1, 6, 7, 8], 1), hold(1, 'one', [0, 4, 5, 7, 8], 2)]);
    expect(faults).toEqual(['not linearizable']);
  });

  test('one who has died or was stopped holds until it last looked, and no longer', () => {
    const dead = (look: number) => `
      a 1 one 1 0 0
      g 1 1 ${TOKEN} s
      l 1 ${look}`;
    const next = hold(1, 'one', [0, 5, 6, 7, 8], 2);
    expect(faultsOf('one', [dead(2), next]).faults).toEqual([]);
    expect(faultsOf('one', [dead(6), next]).faults).toEqual(['not linearizable']);
    expect(faultsOf('one', [`${dead(2)}\nx 1 9`, next]).faults).toEqual([]);
  });

  test('tokens that are the same, or fall', () => {
    const first = hold(1, 'one', [0, 1, 2, 3, 4], 2);
    expect(faultsOf('one', [first, hold(1, 'one', [0, 6, 7, 8, 9], 2)]).faults).toContain('two have the token');
    expect(faultsOf('one', [first, hold(1, 'one', [5, 6, 7, 8, 9], 1)]).faults).toContain('the token');
  });

  test('another history of the data stands for itself, where a fault may lose the last writes', () => {
    const texts = [hold(1, 'one', [0, 1, 6, 7, 8], 1), hold(1, 'one', [0, 4, 5, 7, 8], 2 ** 24 + 2)];
    expect(faultsOf('one', texts, { keeps: false })).toMatchObject({ faults: [], checked: { epochs: 2 } });
    expect(faultsOf('one', texts).faults).toEqual(['not linearizable']);
  });

  test('who is known to wait is not overtaken by one who asks later', () => {
    // Process 0 asks for `one` at 0 and for `patient` at 1. At 2 it has `patient`, so its request for `one` is queued.
    const waits = `${hold(1, 'one', [0, 20, 21, 22, 23], 9)}${hold(2, 'patient', [1, 2, 3, 4, 5], 2)}`;
    const later = hold(1, 'one', [6, 7, 8, 9, 10], 8);
    expect(faultsOf('one', [waits, later]).faults).toEqual(['not linearizable']);
    // The session of process 0 has ended meanwhile, and the process has asked for `one` again.
    expect(faultsOf('one', [waits.replace('s r1\n', 'other r1\n'), later]).faults).toEqual([]);
  });

  test('where the server forgets the script, what was sent later may arrive first', () => {
    const history = (first: number, second: number, more = '') => [
      `${more}
${hold(1, 'one', [0, 20, 21, 22, 23], first)}${hold(2, 'patient', [1, 2, 3, 4, 5], second)}`,
      hold(1, 'one', [6, 7, 8, 9, 10], first - 1),
    ];
    // The first request was refused after the second was sent. In the next histories it was refused before, or never.
    expect(faultsOf('one', history(9, 2, 'n r1 2'), { forgets: true }).faults).toEqual([]);
    expect(faultsOf('one', history(9, 2, 'n r1 0'), { forgets: true }).faults).toEqual(['not linearizable']);
    expect(faultsOf('one', history(9, 2), { forgets: true }).faults).toEqual(['not linearizable']);
    // The tickets tell that the first request arrived first.
    expect(faultsOf('one', history(9, 12), { forgets: true }).faults).toEqual(['not linearizable']);
  });

  test('each of two primaries that serve at once keeps its own order', () => {
    const far = 2 ** 24;
    const both = (second: number) => [
      hold(1, 'one', [0, 1, 6, 7, 8], far + 1),
      hold(1, 'one', [3, 4, 5, 7, 8], second),
    ];
    const data = { keeps: false, splits: true };
    expect(faultsOf('one', both(2), data)).toMatchObject({ faults: [], checked: { epochs: 2 } });
    expect(faultsOf('one', both(far), data).faults).toEqual(['the token', 'not linearizable']);
    expect(faultsOf('one', both(far + 2), data).faults).toEqual(['not linearizable']);
  });

  test('who waits while the data goes two ways may be served by either server, in either order', () => {
    const both = [hold(1, 'one', [0, 9, 10, 11, 12], 2), hold(1, 'one', [1, 5, 6, 7, 8], 3)];
    expect(faultsOf('one', both, { keeps: false }).faults).toEqual(['not linearizable']);
    expect(faultsOf('one', both, { keeps: false, forks: [{ from: 4, to: 8 }] }).faults).toEqual([]);
    // Before and after the fork nothing is uncertain.
    for (const fork of [
      { from: 13, to: 20 },
      { from: -1, to: 0 },
    ])
      expect(faultsOf('one', both, { keeps: false, forks: [fork] }).faults).toEqual(['not linearizable']);
  });

  test('tokens rise over two histories, also of those to whom somebody passes a mutex who has waited since the first', () => {
    const lost = hold(1, 'passed', [1, 5, 6, 7, 8], 3);
    const next = (call: number, token: number) => hold(2, 'passed', [call, 21, 22, 23, 24], token);
    const forks = [{ from: 4, to: 10 }];
    const waited = (token: number) => hold(1, 'passed', [2, 11, 12, 13, 14], token);
    expect(faultsOf('passed', [lost, waited(2) + next(12, 2 + 1 / TOKEN)], { keeps: false, forks }).faults).toEqual([
      'the token',
    ]);
    expect(faultsOf('passed', [lost, waited(4) + next(12, 4 + 1 / TOKEN)], { keeps: false, forks }).faults).toEqual([]);
  });

  test('a waiter of a mutex that is overtaken too often', () => {
    const waits = `${hold(1, 'passed', [0, 99, 100, 101, 102], 90)}${hold(2, 'patient', [1, 2, 3, 4, 5], 2)}`;
    const others = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        hold(i + 1, 'passed', [6 + 5 * i, 7 + 5 * i, 8 + 5 * i, 9 + 5 * i, 10 + 5 * i], 10 + i),
      );
    expect(faultsOf('passed', [waits, others(8).join('')])).toMatchObject({ faults: [], checked: { overtaken: 8 } });
    expect(faultsOf('passed', [waits, others(9).join('')]).faults).toEqual(['a waiter was overtaken']);
    // Where no lock is passed on within a process, no waiter may be overtaken.
    const strict = faultsOf('strict', [waits.replaceAll('passed', 'strict'), hold(1, 'strict', [6, 7, 8, 9, 10], 8)]);
    expect(strict.faults).toContain('a waiter was overtaken');
  });

  test('a refusal without a reason, and one that somebody who has given up explains', () => {
    const refused = 'a 1 one 1 1 5\nf 1 6 R';
    const idle = hold(1, 'one', [0, 1, 2, 3, 4], 1);
    expect(faultsOf('one', [idle, refused])).toMatchObject({ faults: ['not linearizable'], checked: { refusals: 1 } });
    const gaveUp = 'a 1 one 1 0 3\nf 1 4 A';
    expect(faultsOf('one', [idle, refused, gaveUp])).toMatchObject({ faults: [], checked: { refusals: 0 } });
  });

  test('a last line that was cut off counts for nothing', () => {
    expect(parseHistory('a 1 one 1 0 5\ng 1 6 40', 0)).toMatchObject([{ outcome: 'pending' }]);
  });
});

test('the register refuses smaller tokens, and sees writes between the read and the write of another', () => {
  const register = new Register();
  const [first, second] = [register.read(1n), register.read(2n)];
  expect([first, second]).toEqual([0, 0]);
  expect(register.write(1n, 0)).toBeUndefined();
  expect(register.write(2n, 0)).toBe(1);
  expect(register).toMatchObject({ accepted: 1, refused: 1, disorder: 0 });
  // Two holders have one token: the register refuses neither, and one of the two writes is lost.
  expect(register.write(2n, 0)).toBe(2);
  expect(register.disorder).toBe(1);
});
