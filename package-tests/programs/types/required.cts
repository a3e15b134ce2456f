import taketurns = require('taketurns');

export const pool: taketurns.Semaphore = new taketurns.Semaphore(1);
