/** What a thread pays for when it starts. The bundles for Node load what few threads need at the first call that needs it. */
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

test('a thread that makes an arena makes one instance of the core', () => {
  const program = `
    let instances = 0;
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (...given) { instances++; return new Instance(...given); };
    const { Arena, Semaphore } = require(${JSON.stringify(INDEX)});
    new Semaphore(1).acquire();
    new Semaphore(1, { arena: new Arena() }).acquire();
    console.log(instances);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  expect([stderr, stdout]).toEqual(['', '2\n']);
});
