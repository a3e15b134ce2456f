/** What a user's module for `heartbeat` is. */
import { Redis } from 'ioredis';

export default () => new Redis(process.env.TEST_SERVER);
