/** A module and a file of CommonJS have the same classes, so each takes the objects of the other. */
import { type Mutex, Semaphore } from 'taketurns';
import { Condition } from 'taketurns/sync';
import { mutex, Pool, pool } from './required.cjs';

export const condition: Condition = new Condition(mutex);
export const same: Mutex = mutex;
export const pools: Semaphore[] = [pool, new Pool(1), new Semaphore(1)];
