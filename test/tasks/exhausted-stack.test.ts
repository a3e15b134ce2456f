/**
 * A task may call a rate limiter where the stack is nearly exhausted, such as in a deep recursion, and survive that. A call
 * that throws, or whose promise rejects, has then taken nothing and waits for nothing. A call that others wait for loses
 * none of them.
 */
import { describe, expect, it } from 'vitest';
import { KeyedRateLimiter, RateLimiter } from '../../src/tasks/index.js';
import { nearTheEnd } from '../support/stack.js';
import { turn } from '../support/until.js';

const LONG = 1_000_000;

interface Limiter {
  tryTake(): boolean;
  takeAsync(permits: number, options?: { signal: AbortSignal }): Promise<void>;
  limit(run: () => void, permits: number, options?: { until: 'end' }): () => Promise<void>;
  spend(permits: number): void;
  dueIn(permits: number): number;
  inspect(): { taken: number; waiting: number };
  cancelAll(): void;
  dispose(): void;
}

const limiters: Record<string, () => Limiter> = {
  RateLimiter: () => new RateLimiter(5, LONG, { burst: 5 }),
  KeyedRateLimiter() {
    const users = new KeyedRateLimiter(5, LONG, { burst: 5 });
    const key = 'Ann';
    return {
      tryTake: () => users.tryTake(key),
      takeAsync: (permits, options) => users.takeAsync(key, permits, options),
      limit(run, permits, options) {
        const call = users.limit(() => run(), permits, options);
        return () => call(key);
      },
      spend: (permits) => users.spend(key, permits),
      dueIn: (permits) => users.dueIn(key, permits),
      inspect: () => users.inspect(key),
      cancelAll: () => users.cancelAll(),
      dispose: () => users.dispose(),
    };
  },
};

const { signal } = new AbortController();
const requests: Record<string, (limiter: Limiter) => unknown> = {
  tryTake: (limiter) => limiter.tryTake() || undefined,
  takeAsync: (limiter) => limiter.takeAsync(1),
  'takeAsync with a signal': (limiter) => limiter.takeAsync(1, { signal }),
  limit: (limiter) => limiter.limit(() => {}, 1)(),
  "limit until: 'end'": (limiter) => limiter.limit(() => {}, 1, { until: 'end' })(),
};

const names = (of: object) => Object.keys(limiters).flatMap((limiter) => Object.keys(of).map((to) => [limiter, to]));

describe('with an exhausted stack', () => {
  it.each(names(requests))('a request fails and has taken nothing, or has its permit: %s, %s', async (of, request) => {
    const make = limiters[of as string] as () => Limiter;
    const ask = requests[request as string] as (limiter: Limiter) => unknown;
    for (const waits of request === 'tryTake' ? [false] : [false, true]) {
      let [fails, fits] = [0, 0];
      for (let above = -20; fits < 10; above++) {
        const limiter = make();
        // Of the permits of another kind of call.
        limiter.spend(waits ? 5 : 2);
        const answer = above < 0 ? ask(limiter) : nearTheEnd(above, () => ask(limiter));
        let [ended, failed] = [false, answer === undefined];
        Promise.resolve(answer).then(
          () => {
            ended = true;
          },
          () => {
            failed = true;
          },
        );
        await turn();
        const what = [of, request, waits, above];
        const waiting = waits && !failed ? 1 : 0;
        expect([...what, limiter.inspect().waiting]).toEqual([...what, waiting]);
        if (waits) limiter.spend(-3);
        await turn();
        expect([...what, ended || failed]).toEqual([...what, true]);
        expect([...what, limiter.inspect()]).toMatchObject([...what, { waiting: 0, taken: failed ? 2 : 3 }]);
        expect([...what, limiter.dueIn(failed ? 3 : 2)]).toEqual([...what, 0]);
        limiter.dispose();
        if (above < 0) continue;
        if (failed) fails++;
        else fits++;
      }
      expect(fails).toBeGreaterThan(0);
    }
  });

  const acts: Record<string, (limiter: RateLimiter, abort: () => void) => unknown> = {
    'spend, of less than nothing': (limiter) => limiter.spend(-3),
    pause: (limiter) => limiter.pause(0),
    resize: (limiter) => limiter.resize(4, LONG, { burst: 4 }),
    cancelAll: (limiter) => limiter.cancelAll(),
    dueIn: (limiter) => limiter.dueIn(),
    inspect: (limiter) => limiter.inspect(),
    'a signal': (_, abort) => abort(),
  };
  it.each(Object.keys(acts))('each request that waits ends once, and no permit is lost: %s', async (name) => {
    const act = acts[name] as (typeof acts)[string];
    let [fails, fits] = [0, 0];
    for (let above = -20; fits < 10; above++) {
      const limiter = new RateLimiter(5, LONG, { burst: 5 });
      limiter.spend(5);
      const listeners = new Set<() => void>();
      const signal = {
        aborted: false,
        reason: new Error('aborted'),
        addEventListener: (_: string, listener: () => void) => void listeners.add(listener),
        removeEventListener: (_: string, listener: () => void) => void listeners.delete(listener),
      };
      const abort = (): void => {
        for (const listener of listeners) listener();
      };
      const ends: string[] = [];
      for (const options of [{ signal }, {}, { signal }])
        limiter.takeAsync(options).then(
          () => ends.push('begun'),
          ({ message }) => ends.push(message),
        );
      const call = (): boolean => {
        act(limiter, abort);
        return true;
      };
      const answer = above < 0 ? call() : nearTheEnd(above, call);
      await turn();
      const begun = ends.filter((end) => end === 'begun').length;
      const what = [name, above];
      expect([...what, ends.length + limiter.waiting]).toEqual([...what, 3]);
      limiter.cancelAll();
      await turn();
      expect([...what, ends.length, limiter.waiting]).toEqual([...what, 3, 0]);
      limiter.resize(5, LONG, { burst: 5 });
      const { taken } = limiter.inspect();
      expect([...what, [5, 2 + begun].includes(taken)]).toEqual([...what, true]);
      limiter.spend(-taken);
      expect([...what, limiter.tryTake(5), limiter.tryTake()]).toEqual([...what, true, false]);
      limiter.dispose();
      if (above < 0) continue;
      if (answer === undefined) fails++;
      else fits++;
    }
    expect(fails).toBeGreaterThan(0);
  });
});
