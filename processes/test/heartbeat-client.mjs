/** A module as a user writes it for the option `heartbeat`. */
import { Redis } from 'ioredis';

export default () => new Redis(process.env.TEST_SERVER);
