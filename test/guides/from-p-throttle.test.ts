/** The rows of docs/guides/from-p-throttle.md. */
import pThrottle from 'p-throttle';
import { RateLimiter } from 'taketurns/tasks';
import { begins, guide, mostWithin, outcome } from './rows.js';

const same = async (n: number): Promise<number> => n;
const HOUR = 3_600_000;

guide('from-p-throttle.md', {
  '`pThrottle({ limit: n, interval: ms })(f)`': [
    // One call, then four at the end of its interval, and five at the beginning of the next.
    async () => mostWithin(750, await begins((f) => pThrottle({ limit: 5, interval: 1500 })(f), 1, 1000, 9)),
    async () => mostWithin(750, await begins((f) => new RateLimiter(5, 1500, { burst: 5 }).limit(f), 1, 1000, 9)),
    9,
    5,
  ],
  '`strict: true`': [
    async () => mostWithin(250, await begins((f) => pThrottle({ limit: 5, interval: 500, strict: true })(f), 10)),
    async () => mostWithin(250, await begins((f) => new RateLimiter(5, 500, { burst: 5 }).limit(f), 10)),
    5,
  ],
  '`throttle(f)`, `throttle(g)` with one rate': [
    () => {
      const throttle = pThrottle({ limit: 1, interval: HOUR });
      const [f, g] = [throttle(same), throttle(same)];
      f(1);
      g(2);
      return g.queueSize;
    },
    () => {
      const rate = new RateLimiter(1, HOUR);
      const [f, g] = [rate.limit(same), rate.limit(same)];
      f(1);
      g(2);
      return rate.waiting;
    },
    1,
  ],
  '`weight: (...args) => w`': [
    async () => {
      const call = pThrottle({ limit: 5, interval: HOUR, weight: (n: number) => n })(same);
      const answers = [await call(2), await call(3)];
      call(1);
      return [answers, call.queueSize];
    },
    async () => {
      const rate = new RateLimiter(5, HOUR, { burst: 5 });
      const call = (n: number) => rate.limit(same, n)(n);
      const answers = [await call(2), await call(3)];
      call(1);
      return [answers, rate.waiting];
    },
    [[2, 3], 1],
  ],
  '`signal`': [
    async () => {
      const { signal, ...stop } = stopping();
      const call = pThrottle({ limit: 1, interval: HOUR, signal })(same);
      const ends = [call(1), outcome(() => call(2))];
      stop.abort();
      return Promise.all(ends);
    },
    async () => {
      const { signal, ...stop } = stopping();
      const call = new RateLimiter(1, HOUR).limit(same, { signal });
      const ends = [call(1), outcome(() => call(2))];
      stop.abort();
      return Promise.all(ends);
    },
    [1, 'refused: SyntaxError'],
  ],
  '`onDelay`': null,
  '`throttled.queueSize`': [
    () => {
      const call = pThrottle({ limit: 1, interval: HOUR })(same);
      for (const n of [1, 2, 3]) call(n);
      return call.queueSize;
    },
    () => {
      const rate = new RateLimiter(1, HOUR);
      for (const n of [1, 2, 3]) rate.limit(same)(n);
      return rate.waiting;
    },
    2,
  ],
  '`throttled.isEnabled = false`': null,
});

function stopping(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new SyntaxError('enough')) };
}
