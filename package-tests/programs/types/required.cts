import taketurns = require('taketurns');

import 'taketurns/share';

import sync = require('taketurns/sync');
import tasks = require('taketurns/tasks');

/** Each class is a value and a type, and has the docstring and the members that modules see. */
export const pool: taketurns.Semaphore = new taketurns.Semaphore(1);
export const mutex: taketurns.Mutex = taketurns.Mutex.open('required');
export const condition: sync.Condition = new sync.Condition(mutex);
export const options: taketurns.WaitOptions = { timeout: 5 };
export const rate: tasks.RateLimiter = new tasks.RateLimiter(1, 1000);
export class Pool extends taketurns.Semaphore {}
