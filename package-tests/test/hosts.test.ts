/** The installed package where test runners run it: in threads, in processes, and in contexts of `node:vm`. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { node } from '../support/run.js';

const folder = inject('folder');
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

describe('two files of tests pass in vitest, in one worker,', () => {
  it.each(['threads', 'forks', 'vmThreads', 'vmForks'])('with the pool %s', (pool) => {
    const options = ['--globals', '--pool', pool, '--maxWorkers', '1', '--reporter', 'json'];
    const report = JSON.parse(node(folder, vitest, 'run', 'hosts/', '--root', folder, ...options));
    expect([report.numPassedTests, report.numTotalTests]).toEqual([6, 6]);
  });
});
