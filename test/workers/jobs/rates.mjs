/** Uses a RateLimiter, by its handle or by its name: tries to take each of so many permits, cancels all who wait, or
 * blocks for one. */
import { Arena } from 'taketurns';
import { RateLimiter } from 'taketurns/keyed';
import { attach } from '../attach.mjs';

const forEver = [];

function open([name, permits, per, burst], arena) {
  return RateLimiter.open(name, permits, per, { burst, arena: Arena.from(arena) });
}

export default function ({ handle, opens, arena, does, permits }) {
  const limiter = handle ? attach(handle) : open(opens, arena);
  forEver.push(limiter);
  if (does === 'try') return permits.map((n) => limiter.tryTake(n));
  if (does === 'cancel') return limiter.cancelAll();
  return limiter.take();
}
