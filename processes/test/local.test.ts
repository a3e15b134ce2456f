/** A space without a server: real processes that hold, wait, die and stand still. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { directoryOf } from '../src/local/directory.js';
import { Folder } from '../src/local/generations.js';
import { readJournal } from '../src/local/journal.js';
import type { State } from '../src/local/state.js';
import { Space } from '../src/space/space.js';
import { WHOLE } from './each-server.js';
import { folder, type Granted, Member, members } from './local-processes.js';
import { sleep, until } from './setting.js';

/** Calls the function at the next iteration of the event loop, also under fake timers. */
const { setImmediate: turn } = globalThis;

const waiting = async (by: Member, count: number): Promise<void> =>
  until(async () => (await by.do<{ waiting: number }>('inspect', 'mutex', 'm')).waiting === count);

type Lock = Awaited<ReturnType<Space['rwLock']>>;

/** Whether the promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const not = {};
  return (await Promise.race([promise, sleep(100).then(() => not)])) !== not;
}

/** Lets processes wait for the mutex `m`, one behind the other. */
async function queue(waiters: readonly Member[], order: Member[]): Promise<Promise<Granted>[]> {
  const all: Promise<Granted>[] = [];
  for (const [at, waiter] of waiters.entries()) {
    const granted = waiter.hold('mutex', 'm');
    granted.then(
      () => order.push(waiter),
      () => {},
    );
    all.push(granted);
    await waiting(waiter, at + 1);
  }
  return all;
}

test('a mutex passes between processes', async () => {
  const [a, b] = (await members(folder(), 2)) as [Member, Member];
  const first = await a.hold('mutex', 'm');
  const second = b.hold('mutex', 'm');
  await waiting(a, 1);
  expect(await isSettled(second)).toBe(false);
  await a.unlock('m');
  const { token } = await second;
  expect(BigInt(token)).toBeGreaterThan(BigInt(first.token));
  await b.unlock('m');
  await a.hold('mutex', 'm');
});

test('under fake timers, promises are fulfilled and listeners are called', async () => {
  const space = await Space.local({ directory: folder() });
  onTestFinished(() => space.close());
  const mutex = await space.mutex('m');
  let heard = 0;
  space.on('metric', () => heard++);
  // The fake timers of Jest and of Sinon replace these functions, too.
  vi.useFakeTimers({ toFake: ['queueMicrotask', 'setImmediate', 'setTimeout', 'performance'] });
  try {
    const holding = mutex.holdAsync().then((held) => held.unlock());
    holding.catch(() => {});
    for (let turns = 0; heard < 2 && turns < 1000; turns++) await new Promise<void>(turn);
    expect(heard).toBe(2);
    await holding;
  } finally {
    vi.useRealTimers();
  }
});

test('inherited options count', async () => {
  const space = await Space.local(Object.create({ space: 'inherited', directory: folder() }));
  onTestFinished(() => space.close());
  expect(String(space)).toBe('Space("inherited")');
});

test('a process that has joined and done nothing else is listed, also after a takeover, and not when it has ended', async () => {
  const [broker, silent, last] = (await members(folder(), 3)) as [Member, Member, Member];
  await until(async () => (await last.do('sessions')) === 3);
  await broker.kill();
  await until(async () => (await last.do('sessions')) === 2);
  await silent.kill();
  await until(async () => (await last.do('sessions')) === 1);
});

test('tryLock of another process is refused', async () => {
  const [a, b] = (await members(folder(), 2)) as [Member, Member];
  await a.hold('mutex', 'm');
  await expect(b.hold('mutex', 'm', { timeout: 0 })).rejects.toThrow('TimeoutError');
});

test('a holder that is killed: the next holds, and learns of the death', async () => {
  const [, holder, next] = (await members(folder(), 3)) as [Member, Member, Member];
  await holder.hold('robust', 'm');
  const granted = next.hold('robust', 'm');
  await until(async () => (await next.do<{ waiting: number }>('inspect', 'robust', 'm')).waiting === 1);
  await holder.kill();
  expect((await granted).ownerDied).toBe(true);
});

test('a waiter that is killed leaves the queue', async () => {
  const [broker, waiter, next] = (await members(folder(), 3)) as [Member, Member, Member];
  await broker.hold('mutex', 'm');
  const order: Member[] = [];
  const [lost, granted] = await queue([waiter, next], order);
  lost?.catch(() => {});
  await waiter.kill();
  await waiting(broker, 1);
  await broker.unlock('m');
  await granted;
  expect(order).toEqual([next]);
});

test('a broker that is killed: the holder keeps its hold, and the waiters their order', async () => {
  const all = await members(folder(), 5);
  const [broker, holder, ...waiters] = all as [Member, Member, ...Member[]];
  const { token } = await holder.hold('mutex', 'm');
  const order: Member[] = [];
  const granted = await queue(waiters, order);
  await broker.kill();
  expect(await isSettled(Promise.race(granted))).toBe(false);
  await waiting(holder, 3);
  const tokens = [BigInt(token)];
  let holding = holder;
  for (const [at, next] of granted.entries()) {
    await holding.unlock('m');
    tokens.push(BigInt((await next).token));
    holding = waiters[at] as Member;
  }
  expect(order).toEqual(waiters);
  expect(tokens).toEqual([...tokens].sort((x, y) => (x < y ? -1 : 1)));
  // Once more, if the next broker has moved to a thread by now.
  expect(new Set((await holder.do('events')) as string[])).toEqual(new Set(['resumed']));
});

test('a broker that holds is killed: the next holds, and learns of the death', async () => {
  const [broker, next, last] = (await members(folder(), 3)) as [Member, Member, Member];
  await broker.hold('robust', 'm');
  const granted = next.hold('robust', 'm');
  await until(async () => (await last.do<{ waiting: number }>('inspect', 'robust', 'm')).waiting === 1);
  await broker.kill();
  expect((await granted).ownerDied).toBe(true);
  await until(async () => (await last.do('sessions')) === 2);
});

test('brokers are killed one after the other', async () => {
  const all = await members(folder(), 6);
  const last = all.at(-1) as Member;
  await last.hold('mutex', 'm');
  for (const broker of all.slice(0, -1)) {
    await broker.kill();
    expect(await last.do('inspect', 'mutex', 'm')).toEqual({ free: 0, waiting: 0 });
  }
  await last.unlock('m');
  expect(await last.do('inspect', 'mutex', 'm')).toEqual({ free: 1, waiting: 0 });
  expect(await last.do('events')).not.toContain('lost');
});

test('a broker that is stopped: the others go on, and it joins them later', async () => {
  const [broker, holder, waiter] = (await members(folder(), 3)) as [Member, Member, Member];
  await broker.hold('mutex', 'of the broker');
  await holder.hold('mutex', 'm');
  const granted = waiter.hold('mutex', 'm');
  await waiting(holder, 1);
  broker.stop();
  await holder.kill();
  await granted;
  // It stands still, and holds what it holds.
  expect(await waiter.do('inspect', 'mutex', 'of the broker')).toEqual({ free: 0, waiting: 0 });
  broker.goOn();
  await broker.unlock('of the broker');
  await until(async () => (await waiter.do<{ free: number }>('inspect', 'mutex', 'of the broker')).free === 1);
  await waiter.unlock('m');
  await broker.hold('mutex', 'm');
  expect(await broker.do('events')).not.toContain('lost');
});

test('a stopped broker that goes on grants nothing that another has granted', async () => {
  const [broker, asks, usurps] = (await members(folder(), 3)) as [Member, Member, Member];
  broker.stop();
  const [one, two] = [asks.hold('mutex', 'm'), usurps.hold('mutex', 'm')];
  const order: string[] = [];
  one.then(() => order.push('one'));
  two.then(() => order.push('two'));
  await Promise.race([one, two]);
  broker.goOn();
  expect(await isSettled(Promise.all([one, two]))).toBe(false);
  await (order[0] === 'one' ? asks : usurps).unlock('m');
  await Promise.all([one, two]);
});

test('a process that has the broker and computes for long stops nobody', async () => {
  const directory = folder();
  const [broker, other] = (await members(directory, 2)) as [Member, Member];
  // By now the broker may be in a thread.
  await sleep(500);
  const blocked = broker.do('block', join(directory, 'end'));
  await other.hold('mutex', 'm');
  await other.unlock('m');
  writeFileSync(join(directory, 'end'), '');
  await blocked;
  await broker.hold('mutex', 'm');
});

test('a process that is alone has its broker in its own thread until another process comes', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('test', directory));
  const generation = (): number => {
    const { number = 0, fd } = files.highest() ?? {};
    if (fd !== undefined) closeSync(fd);
    return number;
  };
  const alone = await Member.start(directory);
  await sleep(500);
  expect(generation()).toBe(1);
  await alone.hold('mutex', 'm');
  const [other] = (await members(directory, 1)) as [Member];
  await until(() => generation() > 1);
  const granted = other.hold('mutex', 'm');
  await waiting(alone, 1);
  await alone.unlock('m');
  await granted;
  expect(await alone.do('events')).not.toContain('lost');
});

test('a process that is alone and computes for long does not keep another one from joining', async () => {
  const directory = folder();
  const alone = await Member.start(directory);
  const { token } = await alone.hold('mutex', 'of the first');
  const blocked = alone.do('block', join(directory, 'end'));
  const other = await Member.start(directory);
  const next = await other.hold('mutex', 'm');
  expect(BigInt(next.token)).toBeGreaterThan(BigInt(token));
  await expect(other.hold('mutex', 'of the first', { timeout: 0 })).rejects.toThrow('TimeoutError');
  writeFileSync(join(directory, 'end'), '');
  await blocked;
  await alone.unlock('of the first');
  await other.hold('mutex', 'of the first');
  expect(await alone.do('events')).not.toContain('lost');
});

test('a process that is alone and asks again and again leaves its event loop time', async () => {
  const space = await Space.local({ directory: folder() });
  onTestFinished(() => space.close());
  const mutex = await space.mutex('m', { bypass: 0 });
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  for (let at = 0; at < 2000; at++) await (await mutex.holdAsync()).unlock();
  isOver = true;
  expect(turns).toBeGreaterThan(50);
});

test('a holder that is stopped holds, and gives back when it goes on', async () => {
  const [broker, holder, other] = (await members(folder(), 3)) as [Member, Member, Member];
  const { token } = await holder.hold('mutex', 'm');
  holder.stop();
  await expect(other.hold('mutex', 'm', { timeout: 1000 })).rejects.toThrow('TimeoutError');
  expect(await broker.do('inspect', 'mutex', 'm')).toEqual({ free: 0, waiting: 0 });
  const granted = other.hold('mutex', 'm');
  await waiting(broker, 1);
  holder.goOn();
  await holder.unlock('m');
  expect(BigInt((await granted).token)).toBeGreaterThan(BigInt(token));
  expect(await holder.do('events')).not.toContain('lost');
});

test('a waiter that is stopped when its turn comes has it when it goes on', async () => {
  const [broker, first, second] = (await members(folder(), 3)) as [Member, Member, Member];
  await broker.hold('mutex', 'm');
  const order: Member[] = [];
  const [stopped, behind] = await queue([first, second], order);
  first.stop();
  await broker.unlock('m');
  expect(await isSettled(Promise.race([stopped, behind]))).toBe(false);
  first.goOn();
  await stopped;
  await first.unlock('m');
  await behind;
  expect(order).toEqual([first, second]);
});

test('short-lived processes take turns, and leave little behind', { timeout: 120_000 }, async () => {
  const directory = folder();
  // Half of the processes close the space, and half just end.
  const source = `
    import { appendFileSync } from 'node:fs';
    import { Space } from 'taketurns-processes';
    const [directory, number] = process.argv.slice(1);
    const space = await Space.local({ space: 'short', directory });
    const held = await (await space.mutex('m')).holdAsync();
    appendFileSync(directory + '/log', 'in ' + held.token + '\\n');
    await new Promise((resolve) => setTimeout(resolve, 2));
    appendFileSync(directory + '/log', 'out\\n');
    if (number % 2) process.exit();
    await held.unlock();
    await space.close();`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const count = WHOLE ? 100 : 24;
  let next = 0;
  const start = async (): Promise<void> => {
    while (next < count) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', source, directory, `${next++}`], {
        cwd,
        stdio: 'inherit',
      });
      const [status] = await once(child, 'exit');
      expect(status).toBe(0);
    }
  };
  await Promise.all(Array.from({ length: 8 }, start));
  const lines = readFileSync(join(directory, 'log'), 'utf8').trim().split('\n');
  expect(lines.length).toBe(2 * count);
  const tokens: bigint[] = [];
  for (const [at, line] of lines.entries()) {
    if (at % 2 === 0) tokens.push(BigInt(line.slice(3)));
    else expect(line).toBe('out');
  }
  for (const [at, token] of tokens.slice(1).entries()) expect(token).toBeGreaterThan(tokens[at] as bigint);
  const [boot] = readdirSync(directory).filter((name) => name !== 'log');
  const [space] = readdirSync(join(directory, `${boot}`));
  // Those that were there in the end could not remove each other's files.
  expect(readdirSync(join(directory, `${boot}`, `${space}`)).length).toBeLessThanOrEqual(4 + 2 * 8);
});

test.each(['cluster', 'threads'])('of four that try one mutex, one holds it: %s', (kind) => {
  const program = fileURLToPath(new URL('local-cluster-program.mjs', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [program, folder(), kind], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ stdout, stderr }).toEqual({ stdout: '[true,false,false,false]\n', stderr: '' });
});

test.each([
  ['joins', ''],
  ['opens an ephemeral object', "await space.mutex('m', { ephemeral: true });"],
])('a process that only %s ends by itself, and short ones leave nothing behind', (_, then) => {
  const directory = folder();
  const source = `
    import { Space } from 'taketurns-processes';
    const space = await Space.local({ space: 'ends', directory: ${JSON.stringify(directory)} });
    ${then}`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  for (let i = 0; i < 8; i++) {
    const args = ['--input-type=module', '--eval', source];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', timeout: 30_000 });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
  const [boot] = readdirSync(directory);
  const [space] = readdirSync(join(directory, `${boot}`));
  // The last process, and at most the one before it, whose files the last one had no time to remove.
  const members = readdirSync(join(directory, `${boot}`, `${space}`)).filter((name) => /^[cm]\./.test(name));
  expect(members.length).toBeLessThanOrEqual(2);
});

test.each([
  // A process that had the broker leaves its file to the next one.
  ['close the space', 'await space.close();', 1],
  ['just end', 'process.exit();', 10],
])('short processes that %s, one after the other, leave little behind', { timeout: 120_000 }, (_, then, most) => {
  const directory = folder();
  const source = `
    import { Space } from 'taketurns-processes';
    const space = await Space.local({ space: 'short', directory: ${JSON.stringify(directory)} });
    await (await space.mutex('m')).runExclusive(() => {});
    ${then}`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  for (let i = 0; i < (WHOLE ? 100 : 24); i++) {
    const args = ['--input-type=module', '--eval', source];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', timeout: 30_000 });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const files = new Folder(directoryOf('short', directory));
    expect(files.members().length).toBeLessThanOrEqual(most);
    expect((readJournal(files, Number.POSITIVE_INFINITY) as State).members.size).toBeLessThanOrEqual(most);
  }
});

test('a process that holds nothing and waits for nothing ends by itself', () => {
  const directory = folder();
  const source = `
    import { Space } from 'taketurns-processes';
    const space = await Space.local({ space: 'ends', directory: ${JSON.stringify(directory)} });
    const mutex = await space.mutex('m');
    await mutex.runExclusive(() => {});
    // Meanwhile a thread may take over from the main thread.
    await new Promise((resolve) => setTimeout(resolve, Number(process.argv[1])));
    await mutex.runExclusive(() => {});
    console.log('done');`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  for (const ms of [0, 0, 1000]) {
    const args = ['--input-type=module', '--eval', source, `${ms}`];
    const { stdout, status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', timeout: 30_000 });
    expect({ stdout, status, stderr }).toEqual({ stdout: 'done\n', status: 0, stderr: '' });
  }
  // What the dead have left is removed by the next: one process at most has files.
  const [boot] = readdirSync(directory);
  const [space] = readdirSync(join(directory, `${boot}`));
  const files = readdirSync(join(directory, `${boot}`, `${space}`));
  expect(files.filter((name) => name.startsWith('gen.')).length).toBe(1);
  expect(files.length).toBeLessThanOrEqual(4);
  for (const each of [directory, join(directory, `${boot}`)]) expect(statSync(each).mode & 0o777).toBe(0o700);
});

test('a writer that unlocks and leaves lets in all readers, however many', async () => {
  const directory = folder();
  const join = () => Space.local({ directory });
  const spaces = await Promise.all([join(), join(), join()]);
  onTestFinished(async () => {
    await Promise.all(spaces.map((space) => space.close()));
  });
  const [first, second, third] = (await Promise.all(spaces.map((space) => space.rwLock('l')))) as [Lock, Lock, Lock];
  const writing = await third.writeAsync();
  let reading = 0;
  for (const lock of [first, second]) {
    for (let i = 0; i < 200; i++) {
      lock.readAsync().then(
        () => reading++,
        () => {},
      );
    }
  }
  await until(async () => (await third.inspect(0))?.waiting === 400);
  await writing.unlock();
  await spaces[2]?.close();
  await until(() => reading === 400);
});
