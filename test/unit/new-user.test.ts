/**
 * The hangs of a new user (test/programs/new-user.mjs): the report that is printed names the cause of each, also to
 * somebody who sees nothing but the report.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { home } from '../../src/report/socket.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(ROOT, 'test/programs/new-user.mjs');
const CLI = join(ROOT, 'dist/report/cli.js');
const DEADLINE = 20_000;
/** How reports show a thread. */
const [MAIN, WORKER] = [String.raw`thread 1 \(threadId 0\)`, String.raw`thread [234] \(threadId \d+(?:, "\w+")?\)`];

/** Where a thread blocks, which it tells when it has blocked for a second. */
const PLACE = new RegExp(`^${WORKER} waits at transfer \\(.*new-user\\.mjs:\\d+:\\d+\\)$`, 'm');
/** The places of both threads: the second may come later than the first. */
const TWICE = new RegExp(`${PLACE.source}[^]*${PLACE.source}`, 'm');

let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(join(home(), `report-${child?.pid}`), { force: true });
});

/** Runs a program in report mode, and asks it until the answer has all lines. Returns the answer. */
async function asked(how: string, lines: readonly RegExp[]): Promise<string> {
  child = spawn(process.execPath, ['--import', 'taketurns/report', PROGRAM, how], {
    cwd: ROOT,
    stdio: 'ignore',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const end = Date.now() + DEADLINE;
  let said = '';
  while (Date.now() < end && !lines.every((line) => line.test(said))) {
    await new Promise((later) => setTimeout(later, 50));
    said = spawnSync(process.execPath, [CLI, String(child.pid), '--stack'], { encoding: 'utf8' }).stdout;
  }
  for (const line of lines) expect(said).toMatch(line);
  return said;
}

const line = (text: string): RegExp => new RegExp(`^${text}$`, 'm');
const edge = (holds: string, waitsFor: string): RegExp =>
  new RegExp(`^Deadlock: .*${WORKER} holds Mutex "${holds}" and waits for Mutex "${waitsFor}", for \\d+ ms`, 'm');

it('AB-BA: the circle is named, with what each thread has and wants, and where', async () => {
  const said = await asked('AB-BA', [edge('accounts', 'audit'), edge('audit', 'accounts'), TWICE]);
  expect(said.match(new RegExp(PLACE, 'gm'))).toHaveLength(2);
});

it('three in a ring: all three edges are named', async () => {
  await asked('ring', [edge('accounts', 'audit'), edge('audit', 'stock'), edge('stock', 'accounts')]);
});

it('a forgotten release: the report says that nobody can know, and how to know', async () => {
  const said = await asked('forgotten release', [
    line('Semaphore "connections": 1 of 1 permit out, nobody knows by whom, 1 waiting'),
    line(
      'Not seen: Semaphore "connections" has no owners, so nobody knows who has its permits: make it with \\{ robust: true \\}',
    ),
  ]);
  expect(said).not.toContain('eadlock');
});

it('a forgotten release of a robust semaphore: the report names the thread, which runs and waits for nothing', async () => {
  await asked('forgotten release, robust', [
    line(`Semaphore "connections": 1 of 1 permit out, held by ${WORKER}, 1 waiting`),
    line(`${WORKER}: awake, holds Semaphore "connections", waits for nothing in this arena`),
  ]);
});

it('a task that waits for itself after an await: one thread has the mutex and waits for it', async () => {
  await asked('self-wait', [
    new RegExp(
      `^Perhaps a deadlock: ${MAIN} holds Mutex "accounts" and waits for Mutex "accounts" by a promise, for \\d+ ms`,
      'm',
    ),
  ]);
});

it('a blocked main thread: it is asleep, and the stack names the line', async () => {
  await asked('blocked main', [
    line(`${MAIN}: asleep, holds nothing, waits for Mutex "accounts"`),
    line(`${WORKER}: awake, holds Mutex "accounts", waits for nothing in this arena`),
    new RegExp(`^${MAIN} waits at .*new-user\\.mjs:\\d+:\\d+\\)$`, 'm'),
    /^The stack of the main thread \(threadId 0\):\n(?: {4}at .*\n)*? {4}at lock .*\n {4}at .*new-user\.mjs:\d+/m,
  ]);
});

it('a starved writer: the report names the reader that does not leave', async () => {
  await asked('starved writer', [
    line(
      `RwLock "config": locked for reading, and a writer waits for these readers, held by ${WORKER}, it is the turn of ${WORKER}, 1 waiting`,
    ),
    line(`${WORKER}: awake, holds RwLock "config", waits for nothing in this arena`),
    line(`${WORKER}: asleep, holds nothing, waits for RwLock "config"`),
  ]);
});
