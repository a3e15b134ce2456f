/** The installed package where test runners run it: in threads, in processes, and in contexts of `node:vm`. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { bundleForWeb } from '../support/bundle.js';
import { node } from '../support/run.js';

const folder = inject('folder');
const installed = (name: string, path: string): string =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path);
const vitest = installed('vitest', 'vitest.mjs');
const jest = installed('jest', 'bin/jest.js');

describe('two files of tests pass in vitest, in one worker,', () => {
  it.each(['threads', 'forks', 'vmThreads', 'vmForks'])('with the pool %s', (pool) => {
    const options = ['--globals', '--pool', pool, '--maxWorkers', '1', '--reporter', 'json'];
    const report = JSON.parse(node(folder, vitest, 'run', 'hosts/', '--root', folder, ...options));
    expect([report.numPassedTests, report.numTotalTests]).toEqual([10, 10]);
  });
});

it.each(['threads', 'vmThreads'])('two files of tests in two threads of vitest find one object (%s)', (pool) => {
  const config = join(folder, 'names/vitest.config.js');
  const options = ['--config', config, '--pool', pool, '--maxWorkers', '2', '--reporter', 'json'];
  const report = JSON.parse(node(folder, vitest, 'run', '--root', folder, ...options));
  expect([report.numPassedTests, report.numTotalTests]).toEqual([2, 2]);
});

describe('two files of tests pass in Jest', () => {
  it.each([
    ['in one process', ['--runInBand']],
    ['in two processes', ['--maxWorkers', '2']],
    ['in two threads', ['--maxWorkers', '2', '--workerThreads']],
  ])('%s', (_, options) => {
    const report = JSON.parse(
      node(
        folder,
        '--experimental-vm-modules',
        '--no-warnings',
        jest,
        '--json',
        '--rootDir',
        folder,
        ...options,
        'hosts/',
      ),
    );
    expect([report.numPassedTests, report.numTotalTests]).toEqual([10, 10]);
  });
});

describe('two files of tests in CommonJS pass in Jest without modules,', () => {
  // Without this option, Jest runs files that are known to be fast in one process.
  const workers = ['--config', '{ "workerIdleMemoryLimit": "1GB" }'];

  it.each([
    ['in one process', ['--runInBand']],
    ['in two processes', ['--maxWorkers', '2', ...workers]],
    ['in two threads', ['--maxWorkers', '2', '--config', './commonjs/jest.config.cjs', '--workerThreads']],
    ['in jsdom', ['--runInBand', '--env', createRequire(import.meta.url).resolve('jest-environment-jsdom')]],
  ])('%s', (_, options) => {
    const report = JSON.parse(node(folder, jest, '--json', '--rootDir', folder, ...options, 'commonjs/'));
    expect([report.numPassedTests, report.numTotalTests]).toEqual([6, 6]);
  });
});

it('the file of tests in docs/commonjs-and-jest.md passes in Jest without modules', () => {
  const page = readFileSync(join(folder, 'node_modules/taketurns/docs/commonjs-and-jest.md'), 'utf8');
  const [, name = '', code = ''] = page.match(/^```js\n\/\/ (\S+\.test\.js)\n(.*?)^```$/ms) ?? [];
  mkdirSync(join(folder, 'jest-guide'));
  writeFileSync(join(folder, 'jest-guide/package.json'), '{ "type": "commonjs" }');
  writeFileSync(join(folder, 'jest-guide', name), code);
  const report = JSON.parse(node(folder, jest, '--json', '--rootDir', join(folder, 'jest-guide')));
  expect([report.numPassedTests, report.numTotalTests]).toEqual([2, 2]);
});

describe('fake timers that come before the library stop no time-out of any test in Jest,', () => {
  it.each([
    ['of Node', 'jest-environment-node', false, false],
    ['of Node, from the start', 'jest-environment-node', true, false],
    ['of Node, the old timers', 'jest-environment-node', false, true],
    ['of jsdom', 'jest-environment-jsdom', false, false],
    ['of jsdom, from the start', 'jest-environment-jsdom', true, false],
  ])('%s', (_, name, enableGlobally, old) => {
    const config = {
      rootDir: join(folder, 'fakes'),
      testEnvironment: createRequire(import.meta.url).resolve(name),
      fakeTimers: { enableGlobally },
      globals: { isOld: old },
    };
    const options = ['--json', '--runInBand', '--config', JSON.stringify(config)];
    const report = JSON.parse(node(folder, jest, ...options));
    expect([report.numPassedTests, report.numTotalTests]).toEqual([3, 3]);
  });
});

describe('where a runner surrounds the library by a page,', () => {
  it('a file of tests passes in Jest, which then ends, and in its Node where timers stand still from the start', () => {
    const environments = ['jest-environment-jsdom', '@happy-dom/jest-environment', '@edge-runtime/jest-environment'];
    const resolve = createRequire(import.meta.url).resolve;
    const config = {
      projects: [...environments, 'jest-environment-node'].map((name) => ({
        displayName: name,
        rootDir: join(folder, 'pages'),
        testEnvironment: resolve(name),
        transform: {},
        fakeTimers: { enableGlobally: name === 'jest-environment-node' },
      })),
    };
    const options = ['--json', '--runInBand', '--config', JSON.stringify(config)];
    const report = JSON.parse(node(folder, '--experimental-vm-modules', '--no-warnings', jest, ...options));
    expect([report.numPassedTests, report.numTotalTests]).toEqual([24, 24]);
  });

  it('a file of tests passes in jsdom, happy-dom and edge-runtime of vitest', () => {
    // vitest loads the environments from the folder of its configuration.
    symlinkSync(join(installed('jsdom', '.'), '..'), join(folder, 'pages/node_modules'));
    const options = ['--root', folder, '--config', join(folder, 'pages/vitest.config.js'), '--reporter', 'json'];
    const report = JSON.parse(node(folder, vitest, 'run', ...options, '--maxWorkers', '1'));
    expect([report.numPassedTests, report.numTotalTests]).toEqual([18, 18]);
  });
});

it('made for the web and run in Node, a promise keeps the process alive', async () => {
  await bundleForWeb(folder, './pages/waits.js', join(folder, 'out/pages'));
  expect(node(folder, 'out/pages/waits.js')).toBe('released\n');
});

describe('two files of tests pass in node:test', () => {
  const files = ['hosts/first.test.js', 'hosts/second.test.js'];
  const isolation = ['--test-isolation', '--experimental-test-isolation'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  );

  it.each([
    ['in two processes', ['--test', ...files]],
    ['in one process', isolation ? ['--test', `${isolation}=none`, ...files] : ['hosts/both.js']],
  ])('%s', (_, options) => {
    const report = node(folder, '--test-reporter', 'tap', ...options);
    expect(['pass', 'tests'].map((count) => new RegExp(`^# ${count} (\\d+)$`, 'm').exec(report)?.[1])).toEqual([
      '10',
      '10',
    ]);
  });
});
