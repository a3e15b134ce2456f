/** What docs/it-hangs.md says that programs print is what they print, with the numbers of the threads. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}docs/it-hangs.md`, 'utf8');
const folder = `${root}build/it-hangs`;

/** In one line, without what differs in each run: the number of the process, milliseconds, and where a file is. */
const bare = (text: string): string =>
  text
    .replace(/\(node:\d+\)/g, '(node:PID)')
    .replace(/\d+ ms/g, 'N ms')
    .replace(/\(file:[^)]*\)/g, '(FILE)')
    .replace(/\s+/g, ' ')
    .trim();

/** The block of the page that begins so. */
function shown(begin: string): string {
  const block = page.split('\n\n').find((part) => part.startsWith(`    ${begin}`));
  if (block === undefined) throw new Error(`docs/it-hangs.md shows nothing that begins with ${begin}`);
  return bare(block);
}

/** What a program prints, until this is in it; then it is ended. */
function printed(line: readonly string[], until: RegExp): Promise<string> {
  const child = spawn(process.execPath, line, { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (data: string) => {
      text += data;
      if (until.test(text)) resolve(bare(text));
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read);
    child.on('close', () => reject(new Error(`it has ended, and printed ${text}`)));
  });
}

beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

const program = 'test/programs/it-hangs.mjs';

it('a deadlock', async () => {
  expect(await printed([program, 'deadlock'], /terminated\n/)).toBe(shown('(node:4711) TaketurnsWarning: deadlock'));
});

it('a main thread that blocks', async () => {
  expect(await printed([program, 'main'], /lockAsync\(\)\n/)).toBe(shown('(node:4711) TaketurnsWarning: the main'));
});

it('where threads block, in report mode', async () => {
  const text = await printed(
    ['--import', 'taketurns/report', program, 'deadlock'],
    /thread 3 \(\S+ \d+\) waits at .*\n/,
  );
  expect(text).toContain(shown('thread 2 (threadId'));
});

it('the report of a thread that still runs', async () => {
  const [, code = ''] = /^```js\n(.*?)^```/ms.exec(page) ?? [];
  writeFileSync(`${folder}/program.mjs`, code);
  const text = await printed([`${folder}/program.mjs`], /waits for nothing in this arena\n/);
  expect(text).toBe(shown('2 threads, 1 object'));
});
