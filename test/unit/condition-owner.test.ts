/** Where a wait on a Condition ends, the thread is the owner again; and a notification that nobody acts on goes to the next. */
import { Worker } from 'node:worker_threads';
import { Arena, ArenaFullError, CancelledError, Mutex } from 'taketurns';
import { Condition } from 'taketurns/sync';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { at } from '../support/memory.js';
import { roundsInCi } from '../support/rounds.js';
import { nearTheEnd } from '../support/stack.js';
import { until } from '../support/until.js';

const WORKER = new URL('../workers/condition.mjs', import.meta.url);
const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Runner {
  readonly worker: Worker;
  readonly said: unknown[] = [];

  constructor(condition: Condition, program: string, words = new Int32Array(new SharedArrayBuffer(64))) {
    this.worker = new Worker(WORKER, { workerData: { handle: condition.handle, program, words } });
    this.worker.on('message', (value: unknown) => this.said.push(value));
  }

  async says(count = 1): Promise<unknown[]> {
    await until(() => this.said.length >= count, 'it has answered');
    return this.said;
  }
}

function make(): { mutex: Mutex; condition: Condition } {
  const mutex = new Mutex();
  return { mutex, condition: new Condition(mutex) };
}

const WAITS = 'mutex.lock(); const answer = condition.wait(); say([answer, mutex.held]); mutex.unlock();';
/** Waits by so many promises. Its process stays alive. */
const promises = (count: number): string =>
  `setInterval(() => { if (Atomics.load(words, 0)) process.exit(); }, 1);
  for (let i = 0; i < ${count}; i++) {
    mutex.lock();
    condition.waitAsync().then(() => { say('went on'); mutex.unlock(); });
  }`;

/** Starts a thread that waits so many times. */
async function waiter(
  condition: Condition,
  program = WAITS,
  count = 1,
  words?: Int32Array<SharedArrayBuffer>,
): Promise<Runner> {
  const before = condition.waiting;
  const runner = new Runner(condition, program, words);
  await until(() => condition.waiting === before + count, 'it waits');
  return runner;
}

describe('a notification goes to the next', () => {
  it.each([
    ['a thread that blocks', WAITS, 1],
    ['a thread with a promise', promises(1), 1],
    ['a thread with three promises', promises(3), 3],
  ])('from %s that is killed while it waits for the mutex', async (_who, program, count) => {
    const { mutex, condition } = make();
    const dies = await waiter(condition, program, count);
    const next: Runner[] = [];
    for (let i = 0; i < count; i++) next.push(await waiter(condition, i === 0 ? WAITS : promises(1)));
    mutex.lock();
    expect(condition.notify(count)).toBe(count);
    await until(() => mutex.waiting === count, 'it waits for the mutex');
    await dies.worker.terminate();
    mutex.unlock();
    for (const one of next) await one.says();
    expect(dies.said).toEqual([]);
    await Promise.all(next.map(({ worker }) => worker.terminate()));
  });

  it('from a thread that ends while its promises wait for the mutex', async () => {
    const { mutex, condition } = make();
    const words = new Int32Array(new SharedArrayBuffer(64));
    await waiter(condition, promises(2), 2, words);
    const next = [await waiter(condition), await waiter(condition)];
    mutex.lock();
    expect(condition.notify(2)).toBe(2);
    await until(() => mutex.waiting === 2, 'they wait for the mutex');
    Atomics.store(words, 0, 1);
    await until(() => mutex.inspect().waiters.some(({ blocked }) => blocked), 'another waits for the mutex');
    mutex.unlock();
    for (const one of next) expect(await one.says()).toEqual([[true, true]]);
  });

  it('from a thread whose wait an exception has ended, though it has waited by another object since', async () => {
    const { mutex, condition } = make();
    const interrupted = `globalThis.condition = condition;
      const other = condition.constructor.from(condition.handle);
      mutex.lock();
      try { vm.runInThisContext('condition.wait()', { timeout: 500 }); } catch (error) { say(error.code); }
      mutex.lock();
      say(other.wait({ timeout: 1 }));
      mutex.unlock();
      setInterval(() => {}, 10_000);`;
    const first = await waiter(condition, interrupted);
    const next = await waiter(condition);
    mutex.lock();
    expect(condition.notify()).toBe(1);
    await first.says();
    mutex.unlock();
    expect(await first.says(2)).toEqual(['ERR_SCRIPT_EXECUTION_TIMEOUT', false]);
    expect(await next.says()).toEqual([[true, true]]);
    await first.worker.terminate();
  });

  it('from a thread that is told of a death and cannot bear it', async () => {
    const { condition } = make();
    const first = await waiter(
      condition,
      `mutex.onOwnerDied = () => { throw new RangeError('no'); };
      mutex.lock();
      try { condition.wait(); } catch (error) { say([error.message, mutex.held]); }
      setInterval(() => {}, 10_000);`,
    );
    const next = await waiter(condition);
    const owner = new Runner(
      condition,
      "mutex.lock(); condition.notify(); say('notified'); Atomics.wait(words, 0, 0);",
    );
    await owner.says();
    await owner.worker.terminate();
    expect(await first.says()).toEqual([['no', false]]);
    expect(await next.says()).toEqual([[true, true]]);
    await first.worker.terminate();
  });

  it('and is not passed on by a thread that is the owner again', async () => {
    const { mutex, condition } = make();
    const owner = await waiter(condition, "mutex.lock(); condition.wait(); say('owner'); Atomics.wait(words, 0, 0);");
    const next = await waiter(condition);
    condition.notify();
    await owner.says();
    await owner.worker.terminate();
    using held = await mutex.holdAsync();
    expect([held.ownerDied, condition.waiting]).toEqual([true, 1]);
    condition.notify();
    held.unlock();
    await next.says();
  });
});

const FORMS = [
  ['wait', 'condition.wait()'],
  ['waitFor', 'condition.waitFor(() => words[0] > 0)'],
  ['waitAsync', 'await condition.waitAsync()'],
  ['waitForAsync', 'await condition.waitForAsync(() => words[0] > 0)'],
] as const;

const waits = (call: string): string => `(async () => {
  mutex.lock();
  let answer;
  try { answer = ${call}; } catch (error) { answer = error.name; }
  say([answer, mutex.held]);
  if (mutex.held) mutex.unlock();
})();`;

describe.each(FORMS)('Condition.%s makes the thread the owner again', (_name, call) => {
  it('though cancelAll of the mutex ends its wait for that', async () => {
    const { mutex, condition } = make();
    const words = new Int32Array(new SharedArrayBuffer(64));
    const one = await waiter(condition, waits(call), 1, words);
    mutex.lock();
    words[0] = 1;
    condition.notify();
    for (let i = 1; i <= 3; i++) {
      await until(() => mutex.waiting === 1 && mutex.inspect().timeouts === i - 1, 'it waits for the mutex');
      mutex.cancelAll();
      await until(() => mutex.inspect().timeouts === i, 'it has been cancelled');
    }
    mutex.unlock();
    expect(await one.says()).toEqual([[true, true]]);
  });

  it('though too many wait for the mutex', async () => {
    const { mutex, condition } = make();
    const words = new Int32Array(new SharedArrayBuffer(64));
    const one = await waiter(condition, waits(call), 1, words);
    mutex.lock();
    words[0] = 1;
    const memory = new Int32Array(mutex.handle.arena.memory.buffer);
    const many = at('MOST_WAITERS') * at('M_WAITER');
    const word = (mutex.handle.address + at('M_WORD')) >> 2;
    const shared = new BigInt64Array(memory.buffer);
    Atomics.add(shared, word >> 1, BigInt(many));
    condition.notify();
    await delay(30);
    expect(one.said).toEqual([]);
    Atomics.sub(shared, word >> 1, BigInt(many));
    mutex.unlock();
    expect(await one.says()).toEqual([[true, true]]);
  });

  it('when the condition is disposed of', async () => {
    const { condition } = make();
    const one = await waiter(condition, waits(call));
    condition.dispose();
    expect(await one.says()).toEqual([['DisposedError', true]]);
  });

  it.each([CancelledError, ArenaFullError])('but not if onOwnerDied throws a %o', async ({ name }) => {
    const { condition } = make();
    const one = await waiter(
      condition,
      `let told = 0;
      mutex.onOwnerDied = () => {
        if (++told > 1) return say('told again');
        throw Object.assign(new Error('no'), { [Symbol.for('taketurns:error')]: '${name}', name: '${name}' });
      };
      ${waits(call)}`,
    );
    const owner = new Runner(
      condition,
      "mutex.lock(); condition.notify(); say('notified'); Atomics.wait(words, 0, 0);",
    );
    await owner.says();
    await owner.worker.terminate();
    expect((await one.says())[0]).toEqual([name, false]);
  });
});

describe('with an exhausted stack', () => {
  const calls = {
    wait: (condition: Condition) => condition.wait({ timeout: 0 }),
    waitFor: (condition: Condition) => condition.waitFor(() => false, { timeout: 0 }),
    waitAsync: (condition: Condition) => condition.waitAsync({ timeout: 0 }),
    waitForAsync: (condition: Condition) => condition.waitForAsync(() => false, { timeout: 0 }),
  };

  it.each(Object.entries(calls))(
    'Condition.%s leaves the thread the owner, or makes it so again',
    async (_name, wait) => {
      const { mutex, condition } = make();
      const stop = new Int32Array(new SharedArrayBuffer(64));
      const other = new Runner(
        condition,
        "say('on'); while (!Atomics.load(words, 0)) { mutex.lock(); for (let i = 0; i < 1e5; i++); mutex.unlock(); } say('off');",
        stop,
      );
      await other.says();
      const run = (): unknown => wait(condition);
      mutex.lock();
      await run();
      mutex.unlock();
      let [fits, fails] = [0, 0];
      for (let above = 0; fits < roundsInCi(20, 5); above++) {
        mutex.lock();
        const answer = await Promise.resolve(nearTheEnd(above, run)).catch(() => undefined);
        if (answer === undefined) fails++;
        else fits++;
        expect([above, mutex.held]).toEqual([above, true]);
        mutex.unlock();
      }
      expect(fails).toBeGreaterThan(0);
      Atomics.store(stop, 0, 1);
      await other.says(2);
      await until(() => condition.waiting === 0, 'no request is left');
      mutex.lock();
      const waited = condition.waitAsync();
      expect(condition.notify()).toBe(1);
      expect(await waited).toBe(true);
      mutex.unlock();
    },
  );
});

describe('under fake timers', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('a promise is the owner again in real time, when there is room again', async () => {
    const { mutex, condition } = make();
    mutex.lock();
    const waited = condition.waitAsync();
    const other = new Runner(condition, "mutex.lock(); say('locked'); Atomics.wait(words, 0, 0, 100); mutex.unlock();");
    await other.says();
    const shared = new BigInt64Array(mutex.handle.arena.memory.buffer);
    const word = (mutex.handle.address + at('M_WORD')) >> 3;
    const many = BigInt(at('MOST_WAITERS') * at('M_WAITER'));
    Atomics.add(shared, word, many);
    condition.notify();
    await delay(20);
    Atomics.sub(shared, word, many);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect([await waited, mutex.held]).toEqual([true, true]);
    mutex.unlock();
  });
});

describe('the mutex of a Condition', () => {
  it('is told from every other by its address and generation, as they are', () => {
    const arena = new Arena();
    const [one, two] = [new Mutex({ arena }), new Mutex({ arena })];
    const difference = one.handle.address ^ two.handle.address;
    // A hash of both words would be the same for these two: so many mutexes have been where the second is.
    const SPREAD = 0x9e3779b1;
    const hash = ({ handle: { address, generation } }: Mutex): number => address ^ Math.imul(generation, SPREAD);
    let inverse = SPREAD;
    for (let bits = 3; bits < 32; bits *= 2) inverse = Math.imul(inverse, 2 - Math.imul(SPREAD, inverse));
    const life = (two.handle.address + at('O_LIFE')) >> 2;
    new Int32Array(two.handle.arena.memory.buffer)[life + 1] = Math.imul(difference, inverse);
    expect(hash(one)).toBe(hash(two));
    const condition = Condition.open('of the first', one);
    expect(() => Condition.open('of the first', two)).toThrow(/"of the first" is one of another mutex/);
    const mixed = { ...condition.handle, mutex: two.handle };
    expect(() => Condition.from(mixed)).toThrow(/its mutex is not that of the condition/);
    // Nor are two at one address the same.
    const again = { ...one.handle };
    new Int32Array(one.handle.arena.memory.buffer)[((again.address + at('O_LIFE')) >> 2) + 1] = 1;
    expect(() => Condition.open('of the first', one)).toThrow(/"of the first" is one of another mutex/);
  });
});
