import { Redis } from 'ioredis';

/** Makes the client of the thread that beats. */
export default () => new Redis(process.env.REDIS_URL);
