// A quota of the day: 1,000 calls in any 24 hours, whenever they begin. `tryTake` answers at once, and `dueIn` says when
// there is a permit again: what a server tells in Retry-After.
// Run: node node_modules/taketurns/examples/rate-of-a-day.mjs
// In a clone of the repository: node examples/rate-of-a-day.mjs
import { RateLimiter } from 'taketurns/tasks';

const DAY = 24 * 60 * 60 * 1000;
const quota = new RateLimiter(1000, DAY, { burst: 1000 }); // without `burst`, one call in each 86 seconds
quota.spend(10); // what was used before the program started again, as you have noted it

let [answered, refused] = [0, 0];
for (let i = 0; i < 1000; i++) {
  if (quota.tryTake()) answered++;
  else refused++;
}
console.log(`${answered} answered, ${refused} refused: again in ${Math.ceil(quota.dueIn() / (DAY / 24))} hours`);
