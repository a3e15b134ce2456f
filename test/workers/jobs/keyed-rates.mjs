/** Takes permits of keys of a KeyedRateLimiter, by its handle, and tells how many of each key. */
import { attach } from '../attach.mjs';

const forEver = [];

export default function ({ handle, keys, tries }) {
  const limiter = attach(handle);
  forEver.push(limiter);
  const taken = keys.map(() => 0);
  for (let i = 0; i < tries; i++) if (limiter.tryTake(keys[i % keys.length])) taken[i % keys.length]++;
  return taken;
}
