/** A process that has joined needs the files of the package no more: they may be removed, or replaced by a newer version. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync('/tmp/tt-replaced-');
const children: ChildProcess[] = [];

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Joins, says when it has loaded all files, and holds the mutex when it is told to. */
const PROGRAM = `
const { Space } = require('./node/index.cjs');
const hasLoaded = (name) => Object.keys(require.cache).some((path) => path.endsWith(name));
process.once('message', async (directory) => {
  const mutex = await (await Space.local({ directory })).mutex('m');
  while (!hasLoaded('serve.cjs') || !hasLoaded('thread.cjs')) await new Promise((resolve) => setTimeout(resolve, 10));
  process.send('prepared');
  process.once('message', async () => {
    await mutex.holdAsync();
    process.send('holds');
  });
});
`;

test('who joined takes over when the files of the package are gone', async () => {
  const copy = `${folder}/package`;
  cpSync(fileURLToPath(new URL('../dist/node', import.meta.url)), `${copy}/node`, { recursive: true });
  writeFileSync(`${copy}/program.cjs`, PROGRAM);
  const join = async (): Promise<ChildProcess> => {
    const child = fork(`${copy}/program.cjs`);
    children.push(child);
    child.send(folder);
    expect(await once(child, 'message')).toEqual(['prepared', undefined]);
    return child;
  };
  const hold = async (child: ChildProcess): Promise<void> => {
    child.send('hold');
    expect(await once(child, 'message')).toEqual(['holds', undefined]);
  };
  const [first, second] = [await join(), await join()];
  await hold(first);
  rmSync(copy, { recursive: true });
  first.kill('SIGKILL');
  await hold(second);
});
