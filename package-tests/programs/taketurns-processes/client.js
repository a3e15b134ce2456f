import { Redis } from 'ioredis';

globalThis.client = new Redis(process.env.REDIS_URL);
