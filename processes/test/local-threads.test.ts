/**
 * Threads of one process that share a space without a server. Each thread is a member of its own: what a thread holds
 * comes back when the thread ends, and no thread needs the main thread, which may stand still.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { folder, Member } from './local-processes.js';
import { until } from './setting.js';

/** Starts so many threads, one after the other. The first one has the broker. */
async function threads(directory: string, count: number): Promise<Member[]> {
  const all: Member[] = [];
  for (let at = 0; at < count; at++) all.push(await Member.startThread(directory));
  return all;
}

const waiting = (by: Member, count: number): Promise<void> =>
  until(async () => (await by.do<{ waiting: number }>('inspect', 'mutex', 'm')).waiting === count);

test('threads and processes stand in one queue', async () => {
  const directory = folder();
  const process = await Member.start(directory);
  const [first, second] = (await threads(directory, 2)) as [Member, Member];
  await first.hold('mutex', 'm');
  const order: string[] = [];
  const grants: Promise<unknown>[] = [];
  for (const [name, member] of Object.entries({ second, process })) {
    grants.push(member.hold('mutex', 'm').then(() => order.push(name)));
    await waiting(first, grants.length);
  }
  await first.unlock('m');
  await grants[0];
  expect(order).toEqual(['second']);
  await second.unlock('m');
  await grants[1];
  expect(order).toEqual(['second', 'process']);
});

test('a thread that is terminated: the next holds, and learns of the death', async () => {
  const directory = folder();
  const [, holder, next] = (await threads(directory, 3)) as [Member, Member, Member];
  await holder.hold('robust', 'm');
  const granted = next.hold('robust', 'm');
  await until(async () => (await next.do<{ waiting: number }>('inspect', 'robust', 'm')).waiting === 1);
  await holder.kill();
  expect((await granted).ownerDied).toBe(true);
});

test('a thread that has the broker and holds is terminated: another takes over, and the next holds', async () => {
  const directory = folder();
  const [broker, next] = (await threads(directory, 2)) as [Member, Member];
  await broker.hold('robust', 'm');
  const granted = next.hold('robust', 'm');
  await until(async () => (await next.do<{ waiting: number }>('inspect', 'robust', 'm')).waiting === 1);
  await broker.kill();
  expect((await granted).ownerDied).toBe(true);
  expect(await next.do('sessions')).toBe(1);
});

test('the thread of a broker loads nothing that NODE_OPTIONS names', () => {
  const [directory, own] = [folder(), folder()];
  const name = "require('node:worker_threads').isMainThread ? 'main ' : 'thread '";
  writeFileSync(`${own}/preload.cjs`, `require('node:fs').appendFileSync(${JSON.stringify(`${own}/log`)}, ${name});`);
  const source = `
    import { readdirSync, readFileSync } from 'node:fs';
    import { Space } from 'taketurns-processes';
    const directory = ${JSON.stringify(directory)};
    const spaces = [await Space.local({ directory }), await Space.local({ directory })];
    const [boot] = readdirSync(directory);
    const [space] = readdirSync(directory + '/' + boot);
    const path = directory + '/' + boot + '/' + space;
    const hasThread = () => readdirSync(path).some((name) => {
      try {
        return name.startsWith('gen.') && JSON.parse(readFileSync(path + '/' + name, 'utf8')).hasThread;
      } catch {}
    });
    while (!hasThread()) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const each of spaces) await each.close();`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, NODE_OPTIONS: `--require ${own}/preload.cjs` },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(readFileSync(`${own}/log`, 'utf8')).toBe('main ');
});

test('threads take turns while the main thread stands still', async () => {
  const directory = folder();
  const [a, b] = (await threads(directory, 2)) as [Member, Member];
  await a.hold('mutex', 'm');
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const passed = b.do('holdAndSet', 'm', signal);
  await waiting(a, 1);
  const unlocked = a.unlock('m');
  // The message to the thread leaves at once.
  expect(Atomics.wait(signal, 0, 0, 30_000)).not.toBe('timed-out');
  await Promise.all([passed, unlocked]);
});
