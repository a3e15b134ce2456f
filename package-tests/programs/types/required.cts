import taketurns = require('taketurns');
import sync = require('taketurns/sync');

/** Each class is a value and a type, and has the docstring and the members that modules see. */
export const pool: taketurns.Semaphore = new taketurns.Semaphore(1);
export const mutex: taketurns.Mutex = taketurns.Mutex.open('required');
export const condition: sync.Condition = new sync.Condition(mutex);
export const options: taketurns.WaitOptions = { timeout: 5 };
export class Pool extends taketurns.Semaphore {}
