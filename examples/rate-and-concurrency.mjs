// At most four calls at once, and at most four in any 100 milliseconds. The semaphore stands outside, and the limiter
// inside: a call takes its place in the rate when it can begin. The other way round, calls take their places first and
// then wait for a slot. While the server is slow, dated calls pile up there, and all of them begin when it is fast again.
// Run: node node_modules/taketurns/examples/rate-and-concurrency.mjs
// In a clone of the repository: node examples/rate-and-concurrency.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiter, Semaphore } from 'taketurns/tasks';

for (const isOutside of [true, false]) {
  const slots = new Semaphore(4);
  const rate = new RateLimiter(4, 100, { burst: 4 });
  const begun = [];
  const call = async () => {
    begun.push(performance.now());
    await sleep(begun.length <= 4 ? 600 : 1); // the server is slow at first
  };
  const limited = isOutside ? slots.limit(rate.limit(call)) : rate.limit(slots.limit(call));
  await Promise.all(Array.from({ length: 12 }, () => limited()));
  const most = Math.max(...begun.map((from) => begun.filter((at) => at >= from && at < from + 50).length));
  console.log(`${isOutside ? 'the semaphore outside' : 'the limiter outside'}: ${most} calls within 50 milliseconds`);
}
