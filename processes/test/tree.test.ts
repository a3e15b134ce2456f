/** The processes of a command are told from later ones with the same numbers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processes, startOf, Tree } from '../src/command/tree.js';

async function started(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log()']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child as typeof child & { readonly pid: number };
}

describe.skipIf(processes().length === 0)('where processes can be listed', () => {
  it('ends a command by its number and its start', async () => {
    const child = await started();
    const ended = once(child, 'exit');
    await new Tree(child.pid, startOf(child.pid)).end(performance.now() + 10_000);
    expect(await ended).toEqual([null, 'SIGTERM']);
  });

  it.each([
    ['not known', undefined],
    ['another', 'then'],
  ])('leaves a process alone that has the number of the command, whose start is %s', async (_, start) => {
    const child = await started();
    await new Tree(child.pid, start).end(performance.now());
    expect(child.kill('SIGUSR2')).toBe(true);
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGUSR2');
  });
});
