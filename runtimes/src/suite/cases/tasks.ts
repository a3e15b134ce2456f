/** taketurns/tasks: rates. */
import { RateLimiter } from 'taketurns/tasks';
import { equal, ok } from '../check.js';
import { test } from '../run.js';

test('tasks: a rate', async () => {
  const limiter = new RateLimiter(3, 60, { burst: 3 });
  const times: number[] = [];
  await Promise.all(Array.from({ length: 7 }, () => limiter.takeAsync().then(() => times.push(performance.now()))));
  const early = times.filter((time, i) => i >= 3 && time - (times[i - 3] as number) < 60);
  // A clock of a browser may be a millisecond off.
  ok(
    early.every((time) => time - (times[times.indexOf(time) - 3] as number) > 57),
    `times: ${times}`,
  );
  equal([limiter.waiting, limiter.tryTake(3)], [0, false], 'at the end');
});
