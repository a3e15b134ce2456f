/** The rows of docs/guides/from-effect.md. */
import { Effect, Fiber, Latch, Option, Semaphore as Theirs } from 'effect';
import { Semaphore } from 'taketurns';
import { Event } from 'taketurns/sync';
import { elsewhere, guide, later, mostAtOnce, never, outcome, pause } from './rows.js';

const { runPromise, runSync } = Effect;
const made = (permits: number): Theirs.Semaphore => Theirs.makeUnsafe(permits);
const twice = Effect.promise(async () => 4);

guide('from-effect.md', {
  '`Effect.makeSemaphore(n)`, `Semaphore.make(n)`': [
    async () => {
      const semaphore = await runPromise(Theirs.make(2));
      return Promise.all([1, 1, 1].map((n) => runPromise(semaphore.takeIfAvailable(n))));
    },
    async () => {
      const named = Semaphore.open('of effect', 2);
      const { answer } = elsewhere(({ Semaphore }) => Semaphore.open('of effect', 2).tryAcquire());
      return [await answer, named.tryAcquire(), named.tryAcquire()];
    },
    [true, true, false],
  ],
  '`semaphore.withPermits(n)(effect)`': [
    () => {
      const semaphore = made(4);
      return mostAtOnce((f) => (n) => runPromise(semaphore.withPermits(2)(Effect.promise(() => f(n)))), 5);
    },
    () => {
      const semaphore = new Semaphore(4);
      return mostAtOnce((f) => (n) => semaphore.runExclusive(() => f(n), 2), 5);
    },
    2,
  ],
  '`semaphore.withPermit(effect)`': [
    () => runPromise(made(1).withPermit(twice)),
    () => new Semaphore(1).runExclusive(async () => 4),
    4,
  ],
  'a function that always takes a permit': [
    () => {
      const semaphore = made(2);
      const call = (f: (n: number) => Promise<number>) => (n: number) =>
        runPromise(semaphore.withPermit(Effect.promise(() => f(n))));
      return mostAtOnce(call, 5);
    },
    () => mostAtOnce((f) => new Semaphore(2).limit(f), 5),
    2,
  ],
  '`withPermitsIfAvailable(n)(effect)`, which gives an `Option`': [
    async () => {
      const semaphore = made(2);
      const got = await runPromise(semaphore.withPermitsIfAvailable(2)(twice));
      await runPromise(semaphore.take(1));
      return [Option.isSome(got), Option.isSome(await runPromise(semaphore.withPermitsIfAvailable(2)(twice)))];
    },
    () => {
      const semaphore = new Semaphore(2);
      const held = semaphore.tryHold(2);
      held?.release();
      semaphore.acquire();
      return [held !== undefined, semaphore.tryHold(2) !== undefined];
    },
    [true, false],
  ],
  '`takeIfAvailable(n)`': [
    async () => {
      const semaphore = made(3);
      return [await runPromise(semaphore.takeIfAvailable(2)), await runPromise(semaphore.takeIfAvailable(2))];
    },
    () => {
      const semaphore = new Semaphore(3);
      return [semaphore.tryAcquire(2), semaphore.tryAcquire(2)];
    },
    [true, false],
  ],
  '`take(n)`, `release(n)`': [
    async () => {
      const semaphore = made(3);
      await runPromise(semaphore.take(3));
      await runPromise(semaphore.release(3));
      return runPromise(semaphore.takeIfAvailable(3));
    },
    async () => {
      const semaphore = new Semaphore(3);
      await semaphore.acquireAsync(3);
      semaphore.release(3);
      semaphore.acquire(3);
      semaphore.release(3);
      return semaphore.tryAcquire(3);
    },
    true,
  ],
  '`releaseAll`': null,
  '`resize(n)`': [
    async () => {
      const semaphore = made(2);
      await runPromise(semaphore.resize(3));
      const three = await runPromise(semaphore.takeIfAvailable(3));
      await runPromise(semaphore.release(3));
      await runPromise(semaphore.resize(1));
      return [three, await runPromise(semaphore.takeIfAvailable(2))];
    },
    () => {
      const semaphore = new Semaphore(2, { max: 3 });
      semaphore.add(1);
      const three = semaphore.tryAcquire(3);
      semaphore.release(3);
      semaphore.reduce(2);
      return [three, semaphore.tryAcquire(2)];
    },
    [true, false],
  ],
  'interruption of a fiber that waits': [
    async () => {
      const semaphore = made(1);
      runSync(semaphore.take(1));
      const waiting = Effect.runFork(semaphore.take(1));
      await pause(1);
      await runPromise(Fiber.interrupt(waiting));
      await runPromise(semaphore.release(1));
      return runPromise(semaphore.takeIfAvailable(1));
    },
    async () => {
      const semaphore = new Semaphore(1);
      semaphore.acquire();
      const stop = new AbortController();
      const waiting = outcome(() => semaphore.acquireAsync({ signal: stop.signal }));
      stop.abort();
      const left = semaphore.waiting === 0;
      await waiting;
      semaphore.release();
      return left && semaphore.tryAcquire();
    },
    true,
  ],
  '`Effect.timeout` around `withPermits`': [
    async () => {
      const semaphore = made(1);
      runSync(semaphore.take(1));
      const waits = await outcome(() => runPromise(Effect.timeout(semaphore.withPermit(twice), 5)));
      const works = outcome(() => runPromise(Effect.timeout(made(1).withPermit(Effect.never), 5)));
      return [waits, await Promise.race([works, later('works on')])];
    },
    async () => {
      const semaphore = new Semaphore(1);
      semaphore.acquire();
      const waits = await outcome(() => semaphore.runExclusive(() => {}, { timeout: 5 }));
      const works = outcome(() => new Semaphore(1).runExclusive(never, { timeout: 5 }));
      return [waits, await Promise.race([works, later('works on')])];
    },
    ['refused: TimeoutError', 'refused: TimeoutError'],
    ['refused: TimeoutError', 'works on'],
  ],
  'a scope that gives permits back': [
    async () => {
      const semaphore = made(2);
      const inside = Effect.scoped(semaphore.takeScoped(2).pipe(Effect.flatMap(() => semaphore.takeIfAvailable(1))));
      return [await runPromise(inside), await runPromise(semaphore.takeIfAvailable(2))];
    },
    async () => {
      const semaphore = new Semaphore(2);
      const inside = async () => {
        await using _ = await semaphore.holdAsync(2);
        return semaphore.tryAcquire();
      };
      return [await inside(), semaphore.tryAcquire(2)];
    },
    [false, true],
  ],
  '`Effect.forEach(items, f, { concurrency: n })`': [
    async () => {
      const done: number[] = [];
      const f = (n: number) => Effect.promise(() => pause(5 * n).then(() => done.push(n)));
      const failing = (n: number) => (n === 1 ? Effect.fail('1') : f(n));
      await runPromise(Effect.forEach([3, 2], f, { concurrency: 2 }));
      await outcome(() => runPromise(Effect.forEach([1, 4], failing, { concurrency: 2 })));
      return [done, await later(done.length)];
    },
    async () => {
      const done: number[] = [];
      const limited = new Semaphore(2).limit(async (n: number) => {
        if (n === 1) throw new Error('1');
        await pause(5 * n);
        done.push(n);
      });
      await Promise.all([3, 2].map((n) => limited(n)));
      await outcome(() => Promise.all([1, 4].map((n) => limited(n))));
      const first = [...done];
      return [first, await later(done).then((all) => all.length)];
    },
    [[2, 3], 2],
    [[2, 3], 3],
  ],
  '`Latch`: `open`, `close`, `await`': [
    async () => {
      const latch = Latch.makeUnsafe();
      const shut = await Promise.race([runPromise(latch.await), later('waits')]);
      runSync(latch.open);
      await runPromise(latch.await);
      runSync(latch.close);
      return [shut, await Promise.race([runPromise(latch.await), later('waits')])];
    },
    async () => {
      const event = new Event();
      const shut = await Promise.race([event.waitAsync(), later('waits')]);
      event.set();
      await event.waitAsync();
      event.reset();
      return [shut, await Promise.race([event.waitAsync(), later('waits')])];
    },
    ['waits', 'waits'],
  ],
});
