/** The programs that users start from: those of `examples/`, of the README, and of the pages in `docs/`. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { folder as shortFolder } from './local-processes.js';
import { onServers } from './setting.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const docs = fileURLToPath(new URL('../docs', import.meta.url));
const folder = join(root, 'build/docs');

function node(args: string[], env: NodeJS.ProcessEnv = {}): SpawnSyncReturns<string> {
  const { REDIS_URL: _, ...rest } = process.env;
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 50_000, env: { ...rest, ...env } });
}

function expectFine({ status, stderr }: SpawnSyncReturns<string>): void {
  expect(stderr).toBe('');
  expect(status).toBe(0);
}

/** The code blocks of a page in this language. If the page says what a block prints, the text follows the block. */
function outputs(page: string, language: string): [code: string, output: string | undefined][] {
  const block = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`\\n(?:\\n\`\`\`text\\n(.*?)^\`\`\`\\n)?`, 'gms');
  return Array.from(page.matchAll(block), ([, code, output]) => [code as string, output]);
}

function programs(page: string, language: string): string[] {
  return outputs(page, language).map(([code]) => code);
}

const says: Record<string, RegExp> = {
  'two-processes.mjs': /^(A B|B A)( A B| B A)*; one process twice in a row: 0 times\.$/,
  'fencing.mjs':
    /accepted\nThe other process writes: refused\nHad it looked: LeaseLostError: .*\nThe register holds: new\n$/s,
  'once-per-period.mjs': /^5 periods, reports of 1 2 3 4 5\n$/,
  'rate-users.mjs': /^Ann: 5 answered, 7 refused\nBob: 3 answered, 0 refused\n$/,
  'refresh-token.mjs': /^refreshes the token\n(works with abc\n){4}$/,
  'single-instance.mjs': /^the first runs\nthe second ends: the first runs already\nthe third runs\n$/,
  'rw-lock.mjs': /^100 writes, 300 reads, 0 of them torn\n$/,
};

onServers(
  'programs',
  (setting) => {
    beforeAll(() => mkdirSync(folder, { recursive: true }));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    const env = () => ({ REDIS_URL: setting.server.url });

    test('all examples are known here', () => {
      const files = readdirSync(join(root, 'examples')).filter((file) => file !== 'server.mjs');
      expect(files.sort()).toEqual(Object.keys(says).sort());
    });

    test.each(Object.entries(says))('%s', async (file, expected) => {
      const ran = node([`examples/${file}`], env());
      expectFine(ran);
      const text = file === 'two-processes.mjs' ? (ran.stdout.split('The turns went ')[1]?.trim() ?? '') : ran.stdout;
      expect(text).toMatch(expected);
      // Of this program, only the space stays on the server.
      const client = new Redis(setting.server.url);
      for (const key of await client.keys('*')) expect(key).toMatch(/^tt:\{[^}]+\}:(meta|sessions|leases|seqs)$/);
      client.disconnect();
    });

    test('the example of npm start brings a server of its own, and says what to install where there is none', () => {
      expectFine(node(['examples/two-processes.mjs']));
      const { status, stderr } = node(['examples/two-processes.mjs'], { PATH: '/nowhere' });
      expect(status).toBe(2);
      expect(stderr).toContain('apt-get install redis-server');
    });

    // postgres-pages.test.ts runs the programs of these.
    const ofPostgres = ['postgresql.md', 'from-advisory-locks.md'];
    const pages = readdirSync(docs).filter((page) => !ofPostgres.includes(page));
    test.each(['README.md', ...pages])('programs of %s', (page) => {
      const text = readFileSync(page === 'README.md' ? join(root, page) : join(docs, page), 'utf8');
      const all = outputs(text, 'js');
      if (/^(README|from-|fencing)/.test(page)) expect(all.length).toBeGreaterThan(0);
      for (const [i, [code, output]] of all.entries()) {
        const file = join(folder, `${page}-${i}.mjs`);
        writeFileSync(file, code);
        const ran = node([file], env());
        expectFine(ran);
        if (output === undefined) expect(ran.stdout).not.toBe('');
        else expect(ran.stdout).toBe(output);
      }
    });

    test('the README begins with a program of ten lines', () => {
      const [first = ''] = programs(readFileSync(join(root, 'README.md'), 'utf8'), 'js');
      expect(first.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(10);
    });

    test('the API in docs/api.md has the right types, and runs', () => {
      const [code = ''] = programs(readFileSync(join(docs, 'api.md'), 'utf8'), 'ts');
      writeFileSync(join(folder, 'use.ts'), code);
      const { resolve } = createRequire(import.meta.url);
      const tsc = join(dirname(resolve('typescript/package.json')), 'bin/tsc');
      const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--ignoreConfig', '--types', 'node'];
      const lib = ['--lib', 'es2024,esnext.disposable,dom'];
      const compiled = node([tsc, ...options, ...lib, '--rootDir', folder, '--outDir', folder, join(folder, 'use.ts')]);
      expect(compiled.stdout).toBe('');
      expect(compiled.status).toBe(0);
      const ran = node([join(folder, 'use.js')], env());
      expectFine(ran);
      expect(ran.stdout).toContain('max: 4');
    });
  },
  'first',
);

test('the program of docs/api.md runs without a server too, by one changed line', () => {
  const local = join(root, 'build/local');
  mkdirSync(local, { recursive: true });
  onTestFinished(() => rmSync(local, { recursive: true, force: true }));
  const [code = ''] = programs(readFileSync(join(docs, 'api.md'), 'utf8'), 'ts');
  const changed = code
    .replace(/^const space = .*$/m, `const space = await Space.local({ directory: ${JSON.stringify(shortFolder())} });`)
    // The client is of no use then.
    .replace(/^(import .* from 'ioredis'|const client|client\.).*\n/gm, '');
  expect(changed).not.toMatch(/client|ioredis/);
  writeFileSync(join(local, 'use.ts'), changed);
  const { resolve } = createRequire(import.meta.url);
  const tsc = join(dirname(resolve('typescript/package.json')), 'bin/tsc');
  const options = ['--target', 'es2022', '--module', 'nodenext', '--ignoreConfig', '--types', 'node', '--strict'];
  const lib = ['--lib', 'es2024,esnext.disposable,dom'];
  expectFine(node([tsc, ...options, ...lib, '--rootDir', local, '--outDir', local, join(local, 'use.ts')]));
  const ran = node([join(local, 'use.js')]);
  expectFine(ran);
  expect(ran.stdout).toContain('max: 4');
});
