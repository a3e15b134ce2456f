/** The bundles for Node load what few threads need at the first call that needs it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const INDEX = fileURLToPath(new URL('../../dist/node/index.cjs', import.meta.url));

test('taketurns loads the code of inspect and stats when one of them is called', () => {
  const program = `
    const { Arena, Mutex, Semaphore } = require(${JSON.stringify(INDEX)});
    const { basename } = require('node:path');
    const loaded = () => Object.keys(require.cache).map((file) => basename(file)).sort();
    const [semaphore, mutex] = [new Semaphore(2), new Mutex()];
    semaphore.acquire();
    mutex.lock();
    const before = [loaded(), semaphore.waiting, mutex.waiting];
    const answers = [semaphore.inspect().out, mutex.inspect().locked, Arena.default.stats().objects.used];
    console.log(JSON.stringify([...before, answers, loaded()]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual([
    ['core.cjs', 'index.cjs'],
    0,
    0,
    [1, true, 2],
    ['core.cjs', 'index.cjs', 'looking.cjs', 'stats.cjs'],
  ]);
});
