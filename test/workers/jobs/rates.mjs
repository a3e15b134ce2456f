/** Uses a RateLimiter: tries to take each of so many permits, or blocks for one. */
import { attach } from '../attach.mjs';

export default function ({ handle, does, permits }) {
  const limiter = attach(handle);
  if (does === 'try') return permits.map((n) => limiter.tryTake(n));
  return limiter.take();
}
