/** Finds the driver for a client. */
import { bad } from '../errors.js';
import type { Driver } from './driver.js';
import { type IoredisClient, ioredis } from './ioredis.js';

export function driverOf(client: unknown): Driver {
  const { run, listen, duplicate, call } = (client ?? {}) as Record<string, unknown>;
  if (typeof run === 'function' && typeof listen === 'function') return client as Driver;
  if (typeof duplicate === 'function' && typeof call === 'function') return ioredis(client as IoredisClient);
  throw bad('', 'Space.connect: client', 'a client of ioredis, iovalkey, node-redis or GLIDE, or a driver', client);
}
