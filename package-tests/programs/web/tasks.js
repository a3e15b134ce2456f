// Uses taketurns/tasks, and leaves the outcome in a global variable. It needs promises and timers.
import { KeyedMutex, Mutex, RateLimiter, Semaphore } from 'taketurns/tasks';

const said = [];
const mutex = new Mutex();
for (const n of [1, 2]) mutex.runExclusive(async () => said.push(n));
await new KeyedMutex().runExclusive('key', () => said.push(3));
await new Semaphore(0).acquireAsync({ timeout: 5 }).catch((error) => said.push(error.name));
const limiter = new RateLimiter(1, 5);
await limiter.takeAsync();
await limiter.takeAsync();
globalThis.outcome = [...said, 4].join(' ');
