/**
 * Whoever only asks: no answer says that somebody holds who has ended. Real processes and threads end in different
 * ways, with a broker that lives and with none; and somebody asks at once when the end is known, or much later.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { Space } from '../src/space/space.js';
import { busy, open } from './dead-holder-asks.mjs';
import { WHOLE } from './each-server.js';
import { folder } from './local-processes.js';
import { sleep } from './setting.js';

const program = fileURLToPath(new URL('dead-holder-program.mjs', import.meta.url));
const TIMES = WHOLE ? 100 : roundsInCi(5, 1);

interface Child {
  readonly process: ChildProcess;
  /** What the child has told first. */
  readonly told: string;
  readonly ended: Promise<unknown>;
}

/** Starts a process, and waits for its first line. */
async function start(directory: string, role: string, proof = ''): Promise<Child> {
  const child = spawn(process.execPath, [program, directory, role, proof], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [text] = await once(child.stdout, 'data');
  return { process: child, told: `${text}`.trim(), ended };
}

async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL');
  await child.ended;
}

const EVERYTHING = [
  ...['tryHold: held', 'tryHold of a part: held', 'tryRead: held', 'tryWrite: held', 'timeout 0: TimeoutError'],
  ...['a time-out: TimeoutError', 'inspect: named', 'validate: valid', 'objects: held', 'sessions: named'],
];

test.each(['hold', 'exit'])('a holder has ended (%s), and nobody else is there', async (role) => {
  const directory = folder();
  const holder = await start(directory, role);
  if (role === 'hold') await kill(holder);
  else await holder.ended;
  // Each of them ends before the next one begins, so each has the broker.
  for (let at = 0; at < 3; at++) expect(JSON.parse((await start(directory, 'ask', holder.told)).told)).toEqual([]);
});

test.each(['this process', 'another process', 'the holder'])(
  'a process is killed that holds, and somebody asks as soon as the end is known; %s has the broker',
  { timeout: 120_000 },
  async (who) => {
    const directory = folder();
    const join = () => Space.local({ space: 'test', directory });
    if (who === 'another process') await start(directory, 'serve');
    const first = who === 'this process' ? await join() : undefined;
    for (let at = 0; at < TIMES; at++) {
      const holder = await start(directory, 'hold');
      const space = first ?? (await join());
      const objects = await open(space);
      await kill(holder);
      expect(await busy(objects, holder.told)).toEqual([]);
      if (!first) await space.close();
    }
    await first?.close();
  },
);

test.each([1, 2])('a holder of an ephemeral mutex has ended, and somebody tries at once (%i)', async () => {
  const directory = folder();
  await kill(await start(directory, 'hold-ephemeral'));
  const space = await Space.local({ space: 'test', directory });
  onTestFinished(() => space.close());
  expect(`${await (await space.mutex('ephemeral', { ephemeral: true })).tryHold()}`).toBe('HeldLock(held)');
});

test.each(['tryHold', 'inspect', 'validate', 'objects', 'sessions', 'a time-out'])(
  'what is asked first after the end: %s',
  { timeout: 120_000 },
  async (way) => {
    const directory = folder();
    const space = await Space.local({ space: 'test', directory });
    onTestFinished(() => space.close());
    for (let at = 0; at < TIMES; at++) {
      const holder = await start(directory, 'hold');
      const objects = await open(space);
      await kill(holder);
      expect(await busy(objects, holder.told, way)).toEqual([]);
    }
  },
);

test('a thread is terminated that holds, and somebody asks at once', { timeout: 120_000 }, async () => {
  const directory = folder();
  const space = await Space.local({ space: 'test', directory });
  onTestFinished(() => space.close());
  for (let at = 0; at < TIMES; at++) {
    const thread = new Worker(program, { workerData: [directory, 'hold'] });
    const [proof] = await once(thread, 'message');
    const objects = await open(space);
    await thread.terminate();
    expect(await busy(objects, proof)).toEqual([]);
  }
});

test.runIf(process.platform === 'linux')(
  'a holder has ended for which its parent has not waited, and a refused connection proves nothing, as in Bun',
  async () => {
    const directory = folder();
    Object.assign(globalThis, { Bun: {} });
    onTestFinished(() => {
      Reflect.deleteProperty(globalThis, 'Bun');
    });
    const space = await Space.local({ space: 'test', directory });
    onTestFinished(() => space.close());
    const line = '"$0" "$@" & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', line, process.execPath, program, directory, 'hold'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      parent.kill('SIGKILL');
    });
    let told = '';
    for await (const text of parent.stdout) {
      told += text;
      if (told.split('\n').length > 2) break;
    }
    const [pid, proof] = told.split('\n');
    const objects = await open(space);
    process.kill(Number(pid), 'SIGKILL');
    // The first thread may be dead before the others.
    const isZombie = (): boolean => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return /^State:\tZ/m.test(status) && !/^Threads:\t([2-9]|\d\d)/m.test(status);
    };
    while (!isZombie()) await sleep(1);
    expect(await busy(objects, proof)).toEqual([]);
  },
);

test('waiters have ended that stand before the one who asks', async () => {
  const directory = folder();
  const space = await Space.local({ space: 'test', directory });
  onTestFinished(() => space.close());
  const holder = await start(directory, 'hold');
  // They wait, and so they tell nothing.
  const waiters = Array.from({ length: 3 }, () =>
    spawn(process.execPath, [program, directory, 'hold'], { stdio: 'ignore' }),
  );
  const objects = await open(space);
  while ((await objects.mutex.inspect())?.waiting !== 3) await sleep(10);
  for (const waiter of waiters) {
    waiter.kill('SIGKILL');
    await once(waiter, 'exit');
  }
  await kill(holder);
  expect(await busy(objects, holder.told)).toEqual([]);
});

test('a holder that is stopped holds, whoever asks, and whoever has the broker', async () => {
  const directory = folder();
  const broker = await start(directory, 'serve');
  const holder = await start(directory, 'hold');
  holder.process.kill('SIGSTOP');
  const asked = async (): Promise<string[]> => JSON.parse((await start(directory, 'ask', holder.told)).told);
  expect(await asked()).toEqual(EVERYTHING);
  await kill(broker);
  for (let at = 0; at < 3; at++) expect(await asked()).toEqual(EVERYTHING);
});

test('a time-out that is shorter than the way to the next broker', async () => {
  for (let at = 0; at < 3; at++) {
    const directory = folder();
    const space = await Space.local({ space: 'test', directory });
    onTestFinished(() => space.close());
    const mutex = await space.mutex('mutex');
    // Since another process takes part, a thread of this process takes the broker's place soon.
    await start(directory, 'serve');
    const end = performance.now() + 600;
    while (performance.now() < end) await (await mutex.holdAsync({ timeout: 1 })).unlock();
  }
});
