/** The files of a space without a server, and what its broker refuses: unsafe folders, journals, foreign files and lines. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect, createServer, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Broker } from '../src/local/broker.js';
import { SocketConnection } from '../src/local/connection.js';
import { directoryOf } from '../src/local/directory.js';
import { localDriver } from '../src/local/driver.js';
import { type Address, Folder, type Generation, hasDied, newMember, pidOf } from '../src/local/generations.js';
import { callLine, deathLine, Journal, readJournal } from '../src/local/journal.js';
import { address, boot, hasEnded, home, random } from '../src/local/platform.js';
import { State } from '../src/local/state.js';
import { Vigil } from '../src/local/vigil.js';
import type { LocalOptions } from '../src/options.js';
import { clock } from '../src/runtime/clock.js';
import { tokenOf } from '../src/script/wire.js';
import { Space } from '../src/space/space.js';
import { folder, Member, members } from './local-processes.js';
import { sleep, until } from './setting.js';

async function joined(options: LocalOptions): Promise<Space> {
  const space = await Space.local(options);
  onTestFinished(() => space.close());
  return space;
}

const refused = (directory: string, why: string) =>
  expect(Space.local({ directory })).rejects.toMatchObject({
    code: 'DIRECTORY',
    message: expect.stringContaining(why),
  });

test('bad options have clear errors', async () => {
  for (const directory of ['', 'a\0b', 5, new URL('file:///tmp')]) {
    const why = 'Space.local: directory must be the path of a folder, got';
    await expect(Space.local({ directory } as never)).rejects.toThrow(why);
  }
  await expect(Space.local({ lease: 1000 } as never)).rejects.toThrow(/Space\.local: .*lease/);
  await expect(Space.local({ space: 'a{b' })).rejects.toThrow('Space.local: space');
});

test('a folder that others may use is refused', async () => {
  const directory = folder();
  chmodSync(directory, 0o755);
  await refused(directory, `the folder ${directory} is open to other users (mode 755); it must have the mode 700`);
});

test('a folder within, that others may use, is refused', async () => {
  const directory = folder();
  const path = directoryOf('default', directory);
  for (const each of [path, dirname(path)]) {
    chmodSync(each, 0o750);
    await refused(directory, `the folder ${each} is open to other users (mode 750)`);
    chmodSync(each, 0o700);
  }
});

test('a link, and a file, are refused', async () => {
  const directory = folder();
  symlinkSync(directory, join(directory, 'link'));
  await refused(join(directory, 'link'), `${join(directory, 'link')} is a link`);
  writeFileSync(join(directory, 'file'), '');
  await refused(join(directory, 'file'), `${join(directory, 'file')} is no folder`);
  await refused(join(directory, 'file', 'in'), `the folder ${join(directory, 'file', 'in')} cannot be made: ENOTDIR`);
});

test('a folder whose parent does not exist cannot be made', async () => {
  const directory = join(folder(), 'none', 'here');
  await refused(directory, `the folder ${directory} cannot be made: ENOENT`);
});

test.runIf(process.geteuid?.() === 0)('a folder of another user is refused', async () => {
  const directory = folder();
  chownSync(directory, 12_345, 12_345);
  await refused(directory, `the folder ${directory} belongs to the user 12345, and this process runs as 0`);
});

test('a path that is too long for sockets is refused, and the longest is not', async () => {
  const within = folder();
  const longest = (length: number): string => {
    const path = join(within, 'x'.repeat(length - within.length - 1));
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  await refused(longest(60), 'is too long for sockets: it may have 51 bytes');
  const space = await joined({ directory: longest(51) });
  await (await space.mutex('m')).runExclusive(() => {});
});

test('a relative path is one of the folder in which the process is when it joins', async () => {
  const directory = folder();
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(dirname(directory));
  const space = await joined({ directory: basename(directory) });
  process.chdir(before);
  const other = await joined({ directory });
  const held = await (await space.mutex('m')).holdAsync();
  expect((await (await other.mutex('m')).inspect())?.free).toBe(0);
  await held.unlock();
});

test('foreign files are left alone', async () => {
  const directory = folder();
  const path = directoryOf('default', directory);
  const names = ['README', 'gen.x', 'gen.', 'j.1', 'j.x.1', 'm.', 'm.abc', 'b.x'];
  for (const name of names) writeFileSync(join(path, name), 'foreign');
  const space = await joined({ directory });
  await (await space.mutex('m')).runExclusive(() => {});
  for (const name of names) expect(readFileSync(join(path, name), 'utf8')).toBe('foreign');
});

/** Changes the format that the files of the present broker tell, from 2 to 9. */
function toOtherFormat(files: Folder): void {
  for (const name of readdirSync(files.path).filter((each) => /^(gen|j)\./.test(each))) {
    const text = readFileSync(files.of(name), 'utf8');
    const at = text.indexOf('"v":3') + 4;
    expect(at).toBeGreaterThan(3);
    // The broker has both files open, so they stay the same files.
    const fd = openSync(files.of(name), 'r+');
    writeSync(fd, '9', at);
    closeSync(fd);
  }
}

test('processes of another format are not joined while they live, and are followed when they have ended', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('test', directory));
  const local = () => Space.local({ space: 'test', directory });
  const old = await Member.start(directory);
  const { token } = await old.hold('mutex', 'm');
  toOtherFormat(files);
  const [member = ''] = files.members();
  const refusal = {
    code: 'SETTINGS',
    message: expect.stringMatching(`this one has the format 3, and that one 9.*: process ${pidOf(member)} lives; end`),
  };
  await expect(local()).rejects.toMatchObject(refusal);
  old.stop();
  await expect(local()).rejects.toMatchObject(refusal);
  await old.kill();
  const spaces = await Promise.all([local(), local(), local()]);
  onTestFinished(async () => {
    await Promise.all(spaces.map((space) => space.close()));
  });
  const tokens = await Promise.all(
    spaces.map(async (space) => {
      await using held = await (await space.mutex('m')).holdAsync();
      return held.token;
    }),
  );
  for (const each of tokens) expect(each).toBeGreaterThan(BigInt(token));
  expect(new Set(tokens).size).toBe(3);
});

test('a process that joins while the members are asked whether they live is found', async () => {
  const files = new Folder(folder());
  const listen = async (): Promise<{ member: string; close(): void }> => {
    const member = newMember();
    const server = createServer((socket) => socket.destroy()).listen(files.of('t.x'));
    await once(server, 'listening');
    renameSync(files.of('t.x'), files.of(`m.${member}`));
    return { member, close: () => server.close() };
  };
  const broker = await listen();
  let late: { member: string; close(): void } | undefined;
  // The other one joins the broker after the list was made, and then the broker ends.
  const asks = Object.assign(new Folder(files.path), {
    async hasEnded(member: string): Promise<boolean> {
      if (!late) {
        late = await listen();
        broker.close();
      }
      return files.hasEnded(member);
    },
  });
  expect(await asks.living(newMember())).toBe((late as unknown as { member: string }).member);
  (late as unknown as { close(): void }).close();
  expect(await asks.living(newMember())).toBeUndefined();
});

test('a process that follows another format, and ends before its journal is written, stops nobody', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('default', directory));
  writeFileSync(files.of('gen.7'), JSON.stringify({ v: 9, socket: 'b.7.x', member: DEAD }));
  writeFileSync(files.of('j.7.1'), '{"v":9,"ticket":1}\n');
  usurp(files, DEAD);
  const space = await joined({ directory });
  await (await space.mutex('m')).runExclusive(() => {});
});

test('tickets go on behind those of another format, whatever the clock says', () => {
  const files = new Folder(folder());
  const now = 4_000_000_000_000;
  const { ticket } = State.begin('history', now);
  writeFileSync(files.of('j.3.1'), `{"v":9,"ticket":${ticket + 5}}\n[1700000000000,"x"]\n`);
  expect(readJournal(files, 4, true)).toBeGreaterThan(ticket + 5);
  // The tickets may have risen to the time of a call.
  writeFileSync(files.of('j.3.1'), `{"v":9,"ticket":5}\n[1,"x"]\n[${now},"x",["B"]]\n[2,"x"]\n`);
  expect(readJournal(files, 4, true)).toBeGreaterThan(ticket);
  expect(() => readJournal(files, 4)).toThrow('its format is 9, and this version of the package has the format 3');
});

/** Whether a process of this user may mount folders. */
const mayMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

test.runIf(mayMount)('processes share a folder that each of them sees at another path', async () => {
  const [one, other] = [folder(), folder()];
  const directory = join(one, 'volume');
  mkdirSync(directory, { mode: 0o700 });
  const files = new Folder(directoryOf('test', directory));
  const first = await Member.start(directory);
  await first.hold('mutex', 'm');
  const [member] = files.members();
  // The other process does not see the path of the first one.
  const mount = [
    'unshare',
    '--mount',
    'sh',
    '-c',
    'mount --bind "$0" "$1" && mount -t tmpfs none "$2" && shift 2 && exec "$@"',
  ];
  const second = await Member.start(other, 'unlimited', [...mount, directory, other, one]);
  const granted = second.hold('mutex', 'm');
  await until(async () => (await first.do<{ waiting: number }>('inspect', 'mutex', 'm')).waiting === 1);
  await first.unlock('m');
  await granted;
  await second.unlock('m');
  // Nobody has taken over from the first process.
  const present = files.highest();
  closeSync(present?.fd as number);
  expect(present?.address.member).toBe(member);
});

test('a journal that cannot be read is an error, and is left as it is', async () => {
  const directory = folder();
  const path = directoryOf('default', directory);
  writeFileSync(join(path, 'j.3.1'), '{"history":\n');
  await expect(Space.local({ directory })).rejects.toMatchObject({
    code: 'JOURNAL',
    message: expect.stringContaining(`the journal in ${path} cannot be read`),
  });
  expect(readFileSync(join(path, 'j.3.1'), 'utf8')).toBe('{"history":\n');
});

/** Calls of a session: it makes a semaphore, holds its permit, and then waits and gives up as often as told. */
function* calls(count: number): Generator<string[]> {
  const call = (...args: string[]): string[] => ['p000000000000001', '0', 'c:', ...args];
  yield call('O', '2', '1', '1000', 'label', '-', '0');
  yield call('N', 's', 's', '1', '0', '0', '0');
  for (let at = 0; at <= count; at++) {
    const rid = at.toString(16).padStart(10, '0');
    yield call('A', 's', '-', rid, '00000001');
    if (at > 0) yield call('C', rid);
  }
}

const read = (files: Folder): State => readJournal(files, Number.POSITIVE_INFINITY) as State;

test('a journal leads to the same state, over rotations', () => {
  const files = new Folder(folder());
  const state = State.begin('history', 1_700_000_000_000);
  const journal = new Journal(files, 4, state);
  for (const args of calls(20_000)) {
    state.turn(args, 'member', 1);
    journal.append(callLine(1, 'member', args));
    journal.rotate();
  }
  // The first of three is removed.
  expect(readdirSync(files.path).sort()).toEqual(['j.4.2', 'j.4.3']);
  expect(read(files).dump()).toBe(state.dump());
  state.reap('p000000000000001', 5);
  journal.append(deathLine(5, 'p000000000000001'));
  expect(read(files).dump()).toBe(state.dump());
  expect(readJournal(files, 4)).toBe(0);
  journal.close();
});

test('a line without its end does not count', () => {
  const files = new Folder(folder());
  const state = State.begin('history', 1_700_000_000_000);
  const journal = new Journal(files, 1, state);
  const dumps: string[] = [];
  const sizes: number[] = [];
  for (const args of calls(3)) {
    dumps.push(state.dump());
    sizes.push(readFileSync(files.of('j.1.1')).length);
    state.turn(args, 'member', 1);
    journal.append(callLine(1, 'member', args));
  }
  journal.close();
  let size = readFileSync(files.of('j.1.1')).length;
  expect(read(files).dump()).toBe(state.dump());
  for (const [at, dump] of [...dumps.entries()].reverse()) {
    for (; size > (sizes[at] as number); size--) {
      truncateSync(files.of('j.1.1'), size - 1);
      expect(read(files).dump()).toBe(dump);
    }
  }
});

/** The files of a folder that this process has open. */
const opened = (path: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return file.startsWith(path) ? [file.slice(path.length + 1)] : [];
    } catch {
      return [];
    }
  });

const nobody = { ended: () => {}, joined: () => {} };

test.runIf(process.platform === 'linux').each(['clean', 'members', 'usurp', 'journals'] as const)(
  'a broker that fails to begin leaves no file open, and no socket: %s',
  async (step) => {
    const files = new Folder(folder());
    const fails = Object.assign(new Folder(files.path), {
      [step]: () => {
        throw new Error('no');
      },
    });
    await expect(Broker.start(fails, undefined, newMember(), nobody)).rejects.toThrow('no');
    expect(opened(files.path)).toEqual([]);
    expect(readdirSync(files.path).filter((name) => /^[bt]\./.test(name))).toEqual([]);
    // The next one begins.
    const broker = await Broker.start(files, files.highest(), newMember(), nobody);
    broker?.end();
  },
);

test.runIf(process.platform === 'linux')('whoever fails to make a generation leaves no file open', async () => {
  const files = new Folder(folder());
  const draft = files.draft(undefined, newMember(), false);
  // No file can get this name.
  expect(() => files.usurp(undefined, { ...draft, number: `${'x'.repeat(300)}` as never })).toThrow('ENAMETOOLONG');
  writeFileSync(files.of('gen.1'), '{');
  expect(files.usurp(undefined, draft)).toBeUndefined();
  expect(() => files.highest()).toThrow('JSON');
  expect(opened(files.path)).toEqual([]);
  expect(readdirSync(files.path)).toEqual(['gen.1']);
});

test.runIf(process.platform === 'linux')('a thread that takes over keeps no file of the broker before it', async () => {
  const directory = folder();
  const path = directoryOf('default', directory);
  const first = await joined({ directory });
  await joined({ directory });
  // Both spaces have the file of the thread's broker open. The broker has opened it by the name of the draft.
  await until(() => {
    const generations = opened(path).filter((name) => name.startsWith('gen.'));
    return generations.length === 2 && generations.every((name) => /^gen\.[2-9]$/.test(name));
  });
  await (await first.mutex('m')).runExclusive(() => {});
});

test('a folder that is removed: holders hear of the loss, tokens rise, and the space goes on', async () => {
  const directory = folder();
  const [a, b] = (await members(directory, 2)) as [Member, Member];
  const { token } = await a.hold('mutex', 'm');
  const waiting = b.hold('mutex', 'm');
  await until(async () => (await b.do<{ waiting: number }>('inspect', 'mutex', 'm')).waiting === 1);
  rmSync(join(directory, readdirSync(directory)[0] as string), { recursive: true });
  const next = await waiting;
  expect(BigInt(next.token)).toBeGreaterThan(BigInt(token));
  await until(async () => (await a.do<string[]>('events')).includes('lost'));
  await b.unlock('m');
  await a.hold('mutex', 'm');
});

test('a folder that is removed while a process joins is made again', async () => {
  const path = join(folder(), 'made');
  let made = 0;
  const driver = localDriver(() => {
    // Somebody removes the folder as soon as it is made for the first time.
    if (made++ > 0) mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  });
  onTestFinished(() => driver.close());
  await new Promise<void>((resolve) => driver.watch({ up: resolve, down: () => {} }));
  expect(made).toBeGreaterThan(1);
  expect(readdirSync(path).some((name) => name.startsWith('gen.'))).toBe(true);
});

test('a process that listens anew seems at no moment to have ended', async () => {
  const path = join(folder(), 'here');
  const away = `${path}-away`;
  mkdirSync(path, { mode: 0o700 });
  const driver = localDriver(() => {
    // The folder is gone for a moment only.
    if (existsSync(away)) renameSync(away, path);
    return path;
  });
  onTestFinished(() => driver.close());
  let up = (): void => {};
  const isUp = (): Promise<void> =>
    new Promise((resolve) => {
      up = resolve;
    });
  const first = isUp();
  driver.watch({ up: () => up(), down: () => {} });
  await first;
  const name = readdirSync(path).find((each) => each.startsWith('m.')) as string;
  const { ino } = statSync(join(path, name));
  // Which socket has the name when one of the servers of this process is closed.
  const named: number[] = [];
  const close = vi.spyOn(Server.prototype, 'close').mockImplementation(function (this: Server, ...args) {
    if (existsSync(join(path, name))) named.push(statSync(join(path, name)).ino);
    close.mockRestore();
    return this.close(...args);
  });
  const second = isUp();
  renameSync(path, away);
  driver.reset(new Error('for this test'));
  await second;
  expect(named).toHaveLength(1);
  expect(named).not.toContain(ino);
  expect(statSync(join(path, name)).ino).not.toBe(ino);
});

test('a process joins a broker whose socket comes late, and does not take over', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('default', directory));
  const member = newMember();
  const own = createServer().listen(files.of(`m.${member}`));
  onTestFinished(() => {
    own.close();
  });
  const broker = await Broker.start(files, undefined, member, nobody);
  onTestFinished(() => broker?.end());
  const [name = ''] = readdirSync(files.path).filter((each) => each.startsWith('b.'));
  renameSync(files.of(name), files.of('late'));
  setTimeout(() => renameSync(files.of('late'), files.of(name)), 100);
  const space = await joined({ directory });
  expect(readdirSync(files.path).filter((each) => each.startsWith('gen.'))).toEqual(['gen.1']);
  await (await space.mutex('m')).runExclusive(() => {});
});

test('a broker whose journal takes no more hands over, and nothing is lost', { timeout: 120_000 }, async () => {
  const directory = folder();
  // 100 blocks of 512 bytes.
  const broker = await Member.start(directory, 100);
  const [holder, other] = (await members(directory, 2)) as [Member, Member];
  await holder.hold('mutex', 'held');
  await broker.hold('mutex', 'of the broker');
  for (let section = 0; section < 300; section++) {
    await other.hold('mutex', 'm');
    await other.unlock('m');
  }
  expect(await other.do('inspect', 'mutex', 'held')).toEqual({ free: 0, waiting: 0 });
  await holder.unlock('held');
  await broker.unlock('of the broker');
  expect(await other.do('inspect', 'mutex', 'of the broker')).toEqual({ free: 1, waiting: 0 });
  for (const member of [broker, holder, other]) expect(await member.do('events')).not.toContain('lost');
  expect(await holder.do('events')).toContain('resumed');
});

test('a session whose opening was not answered goes when its process opens another', () => {
  const state = State.begin('history', 1_700_000_000_000);
  const open = (sid: string, member: string): void => {
    state.turn([sid, '0', 'c:', 'O', '2', '1', '1000', 'label', '-', '0'], member, 1);
  };
  open('a000000000000001', 'a');
  open('b000000000000001', 'b');
  open('a000000000000002', 'a');
  expect([...state.members.keys()]).toEqual(['b000000000000001', 'a000000000000002']);
  // What is held is kept: only its process gives it back.
  state.turn(
    ['a000000000000002', '0', 'c:', 'N', 's', 's', '1', '0', '0', '0', 'A', 's', '-', '0000000000', '00000001'],
    'a',
    2,
  );
  open('a000000000000003', 'a');
  expect(state.members.size).toBe(3);
});

/** No process has this number. */
const DEAD = `${'0'.repeat(16)}-${2 ** 22 + 1}`;

/** Makes the next generation, behind which no broker stands. */
function usurp(files: Folder, member: string): void {
  const before = files.highest();
  for (const each of [before, files.usurp(before, files.draft(before, member, false))]) if (each) closeSync(each.fd);
}

const generations = (files: Folder): string[] => readdirSync(files.path).filter((name) => name.startsWith('gen.'));

test('a process that makes one generation after the other, and never serves, stops nobody', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('default', directory));
  const member = newMember();
  const own = createServer().listen(files.of(`m.${member}`));
  usurp(files, member);
  const timer = setInterval(() => {
    const present = files.highest();
    if (present) closeSync(present.fd);
    if (present?.address.member === member) usurp(files, member);
  }, 20);
  onTestFinished(() => {
    clearInterval(timer);
    own.close();
  });
  const space = await joined({ directory, connectTimeout: 60_000 });
  await (await space.mutex('m')).runExclusive(() => {});
});

test('a process that cannot begin to serve tries again, but not all the time', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('default', directory));
  const space = await joined({ directory, connectTimeout: 60_000 });
  await (await space.mutex('m')).runExclusive(() => {});
  const [name = ''] = readdirSync(files.path).filter((each) => each.startsWith('j.'));
  const journal = readFileSync(files.of(name));
  const told = new Promise<unknown>((resolve) => {
    space.on('trouble', (error) => {
      if ((error as { code?: string }).code === 'JOURNAL') resolve(error);
    });
  });
  writeFileSync(files.of(name), '{"history":\n');
  usurp(files, DEAD);
  const opened = space.mutex('m');
  await told;
  const before = generations(files).length;
  await sleep(1000);
  // Each pause is twice as long as the one before. Without them there would be some 20.
  expect(generations(files).length - before).toBeLessThan(8);
  writeFileSync(files.of(name), journal);
  await (await opened).runExclusive(() => {});
  expect(generations(files).length).toBe(1);
});

test('what a process held when it closed comes back, also where a refused connection proves nothing', async () => {
  const files = new Folder(folder());
  const broker = await Broker.start(files, undefined, newMember(), nobody);
  Object.assign(globalThis, { Bun: {} });
  onTestFinished(() => {
    Reflect.deleteProperty(globalThis, 'Bun');
    broker?.end();
  });
  const driver = localDriver(() => files.path);
  await new Promise<void>((resolve) => driver.watch({ up: resolve, down: () => {} }));
  for (const args of calls(0)) await driver.run({} as never, [], args);
  const sessions = (): number => read(files).members.size;
  expect(sessions()).toBe(1);
  // It does not say X.
  await driver.close();
  await until(() => sessions() === 0 && files.members().length === 0);
});

/** The folder of the space that another start of the machine has in this directory. */
function beside(directory: string, boot: string): Folder {
  const path = join(directory, boot, basename(directoryOf('default', directory)));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return new Folder(path);
}

test.runIf(process.platform === 'linux')('a process with another boot id that has the space is an error', async () => {
  const directory = folder();
  const other = beside(directory, '00000000');
  const broker = await Broker.start(other, undefined, newMember(), nobody);
  await refused(directory, `a process with another boot id has the space in ${other.path}`);
  broker?.end();
  const space = await joined({ directory });
  await (await space.mutex('m')).runExclusive(() => {});
});

test.runIf(process.platform === 'linux')(
  'tokens rise over restarts of the machine, whatever the clock says',
  async () => {
    const directory = folder();
    const tickets = [4e12, 3e12].map((now, at) => {
      const state = State.begin('history', now);
      new Journal(beside(directory, `0000000${at}`), 7, state).close();
      return state.ticket;
    });
    writeFileSync(beside(directory, '00000002').of('j.1.1'), 'not a journal\n');
    const space = await joined({ directory });
    const held = await (await space.mutex('m')).holdAsync();
    for (const ticket of tickets) expect(held.token).toBeGreaterThan(tokenOf(ticket.toString(16)));
  },
);

test('a state that began when the clock was behind has large tickets when the clock is right', () => {
  const state = State.begin('history', 0);
  const now = 1_700_000_000_000;
  const run = (at: number, ...args: string[]) =>
    state.turn(['p000000000000001', '0', 'c:', ...args], 'member', at).reply;
  run(0, 'O', '2', '1', '1000', 'label', '-', '0');
  expect(state.ticket).toBeLessThan(State.begin('history', now).ticket);
  run(now, 'B', '-');
  expect(state.ticket).toBeGreaterThan(State.begin('history', now).ticket);
  // The clock may be set back.
  const { ticket } = state;
  run(0, 'B', '-');
  expect(state.ticket).toBe(ticket + 1);
});

test('old drafts are removed, and no others', async () => {
  const directory = folder();
  const path = directoryOf('default', directory);
  const [old, young] = [`t.${'0'.repeat(16)}`, `t.${'1'.repeat(16)}`];
  for (const name of [old, young, 't.foreign']) writeFileSync(join(path, name), '');
  for (const name of [old, 't.foreign']) utimesSync(join(path, name), 1, 1);
  await joined({ directory });
  expect(readdirSync(path).filter((name) => name.startsWith('t.'))).toEqual([young, 't.foreign']);
});

test('once a day a process makes the files young that programs which clean /tmp would remove', async () => {
  const after = vi.spyOn(clock, 'after');
  onTestFinished(() => after.mockRestore());
  const directory = folder();
  await joined({ directory });
  const path = directoryOf('default', directory);
  const days = after.mock.calls.filter(([ms]) => ms === 86_400_000);
  expect(days.map(([, , keepsAlive]) => keepsAlive)).toEqual([false]);
  const names = readdirSync(path);
  expect(names.map((name) => name[0]).sort()).toEqual(['b', 'g', 'j', 'm']);
  for (const name of names) utimesSync(join(path, name), 1, 1);
  const [[, touch] = []] = days;
  touch?.();
  for (const name of names) {
    const { atimeMs, mtimeMs } = statSync(join(path, name));
    expect({ name, isOld: Math.min(atimeMs, mtimeMs) < 2000 }).toEqual({ name, isOld: false });
  }
  expect(after.mock.calls.filter(([ms]) => ms === 86_400_000).length).toBe(2);
  // Somebody may remove the folder.
  rmSync(directory, { recursive: true });
  touch?.();
});

test.runIf(process.platform === 'linux')('each start of the machine has a name, or there is an error', () => {
  expect(boot()).toMatch(/^[0-9a-f]{8}$/);
  expect(boot()).toBe(boot());
  expect(() => boot(join(folder(), 'none'))).toThrow('ENOENT');
});

test.each(['linux', 'darwin', 'win32'])('random names have 16 digits, and no two are the same: %s', (system) => {
  if (system === 'linux' && process.platform !== 'linux') return;
  const names = Array.from({ length: 1000 }, () => random(system));
  expect(names.filter((name) => !/^[0-9a-f]{16}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  // Each digit is random, but for the first one, which Linux gives only four values.
  for (let at = 0; at < 16; at++) expect(new Set(names.map((name) => name[at])).size).toBeGreaterThanOrEqual(4);
});

test('each space has a folder of its own', () => {
  const directory = folder();
  const spaces = Array.from({ length: 300 }, (_, at) => `space ${at}`);
  const names = spaces.map((space) => basename(directoryOf(space, directory)));
  expect(names.filter((name) => !/^[0-9a-f]{12}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(
    names
      .map((name) => name.slice(8))
      .filter((half, at) => names.some((other, behind) => behind > at && other.slice(8) === half)).length,
  ).toBeLessThan(10);
});

test.runIf(process.platform === 'linux').each(['linux', 'darwin'])(
  'a process that is dead has ended, also if its parent has not waited for it: %s',
  async (system) => {
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => {
      parent.kill('SIGKILL');
    });
    const [text] = await once(parent.stdout, 'data');
    const pid = Number(text);
    // A shell waits for its children, and `sleep` does not.
    await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8') === 'sleep\n');
    expect(hasEnded(pid, undefined, system)).toBe(false);
    process.kill(pid, 'SIGKILL');
    await until(() => hasEnded(pid, undefined, system));
    // The process is still there.
    process.kill(pid, 0);
    expect(hasEnded(process.pid, undefined, system)).toBe(false);
  },
);

test.runIf(process.platform === 'linux')('a process that has the number of an earlier one is another one', () => {
  const member = newMember();
  expect(hasDied(member)).toBe(false);
  const other = Number.parseInt(member.slice(0, 8), 16) - 1;
  expect(hasDied(other.toString(16).padStart(8, '0') + member.slice(8))).toBe(true);
  expect(hasDied(`00000000${member.slice(8)}`)).toBe(false);
});

test.runIf(process.platform === 'linux')('a random name needs no file', () => {
  const names = Array.from({ length: 100 }, () => random('linux', join(tmpdir(), 'none')));
  expect(names.filter((name) => !/^[0-9a-f]{16}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(100);
});

test('what the system does not tell is an error of the folder', async () => {
  const user = vi.spyOn(process, 'geteuid').mockImplementation(() => {
    throw new Error('Requires sys access to "uid"');
  });
  onTestFinished(() => user.mockRestore());
  await refused(folder(), 'the user cannot be told: Requires sys access to "uid"');
});

/**
 * Runs a program that joins the space, holds and unlocks, and prints the token or the error.
 * @param before the words of a command line that runs the rest of it.
 */
function joins(
  directory: string,
  flags: readonly string[],
  first = '',
  options = {},
  before: readonly string[] = [],
): string {
  const source = `
    ${first}
    const { Space } = await import('taketurns-processes');
    try {
      const space = await Space.local({ directory: ${JSON.stringify(directory)} });
      const held = await (await space.mutex('m')).holdAsync();
      console.log(String(held.token));
      await held.unlock();
    } catch ({ code, message }) {
      console.log(code, message);
    }
    process.exit();`;
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const line = [...before, process.execPath, ...flags, '--input-type=module', '--eval', source];
  return spawnSync(line[0] as string, line.slice(1), { cwd, encoding: 'utf8', timeout: 30_000, ...options }).stdout;
}

test('a process that may not use the folder is told so', () => {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const all = '--allow-fs-read=*';
  const own = `--allow-fs-read=${fileURLToPath(new URL('../..', import.meta.url))}*`;
  for (const flags of [
    [permission, own],
    [permission, all],
  ])
    expect(joins(folder(), flags)).toMatch(/^DIRECTORY the /);
});

test('a process that has too many files open is told that the folder cannot be used', () => {
  const directory = folder();
  // What the package loads when it is used is loaded before.
  const load = `
    const warm = await (await import('taketurns-processes')).Space.local({ directory: ${JSON.stringify(folder())} });
    await warm.close();`;
  const fill = (free: number): string => `${load}
    const { closeSync, openSync } = await import('node:fs');
    const open = [];
    try { while (true) open.push(openSync('/dev/null')); } catch {}
    for (let i = 0; i < ${free}; i++) closeSync(open.pop());`;
  // With so many free descriptors, another step of joining fails.
  for (const free of [0, 2, 3]) {
    const limit = ['sh', '-c', 'ulimit -n 64; exec "$@"', 'sh'];
    expect(joins(directory, [], fill(free), {}, limit)).toMatch(/^DIRECTORY .*: EMFILE: too many open files/);
  }
});

test.runIf(process.geteuid?.() === 0)('a umask that takes the rights of the own user is said', () => {
  const directory = folder();
  const user = { uid: 65_534, gid: 65_534 };
  chownSync(directory, user.uid, user.gid);
  const first = 'process.umask(0o777);';
  expect(joins(directory, [], first, user)).toMatch(/^DIRECTORY the folder .* cannot be made: EACCES/);
  expect(joins(directory, [], '', user)).toMatch(/^DIRECTORY the folder .* cannot be made: EACCES/);
  rmSync(directory, { recursive: true });
  mkdirSync(directory, { mode: 0o700 });
  chownSync(directory, user.uid, user.gid);
  expect(joins(directory, [], '', user)).toMatch(/^\d+\n$/);
  expect(joins(directory, [], first, user)).toContain('the umask of this process takes the rights of its own user');
});

test('tokens rise, and are exact numbers, however late the clock is', () => {
  const directory = folder();
  const first = 'Date.now = () => 8e15;';
  const tokens = Array.from({ length: 3 }, () => BigInt(joins(directory, [], first)));
  for (const [at, token] of tokens.slice(1).entries()) expect(token).toBeGreaterThan(tokens[at] as bigint);
  expect(Number.isSafeInteger(State.begin('history', 2 ** 43).ticket + 2 ** 40)).toBe(true);
});

test('on Windows the folder is in the profile of the user, and sockets are pipes with random names', () => {
  const drive = 'C:\\Users\\me';
  expect(home('win32', { LOCALAPPDATA: `${drive}\\AppData\\Local` })).toBe(`${drive}\\AppData\\Local\\taketurns`);
  expect(home('win32', { USERPROFILE: drive })).toBe(`${drive}\\AppData\\Local\\taketurns`);
  expect(address(`${drive}\\m.1`, 'abc', 'win32')).toBe('\\\\.\\pipe\\taketurns-abc');
  expect(home('linux')).toBe(`/tmp/taketurns-${process.geteuid?.()}`);
  expect(home('darwin')).toBe(home('linux'));
  expect(address('/tmp/x/m.1', 'abc', 'darwin')).toBe('/tmp/x/m.1');
});

/** Writes lines to the broker of the space, and returns what it answers until it has answered so many. */
async function talk(path: string, lines: readonly unknown[], answers: number): Promise<unknown[]> {
  const { number, fd, address } = new Folder(path).highest() ?? {};
  if (fd === undefined || !address) throw new Error(`no broker: ${number}`);
  closeSync(fd);
  const socket = connect(new Folder(path).listensAt(address));
  socket.write([[address.cookie, newMember()], ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
  let text = '';
  const heard = (): unknown[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  for await (const part of socket) {
    text += part;
    if (heard().length === answers + 1) break;
  }
  return heard().slice(1);
}

/** A broker, a session that holds the mutex `m`, and one of another member that waits for it. */
async function waits(): Promise<{ giveBack(): void; heard(): string; written: string[] }> {
  const files = new Folder(folder());
  const broker = (await Broker.start(files, undefined, newMember(), nobody)) as Broker;
  onTestFinished(() => broker.end());
  const call = (sid: string, ...args: string[]): string[] => [sid, '0', 'c:', ...args];
  const open = ['O', '2', '1', '3600000', 'label', '-', '0'];
  const ask = ['A', 'm', '-', '0000000001', '00000001'];
  const holder = newMember();
  broker.join(holder, { tell: () => {}, end: () => {} });
  broker.call(holder, call('a000000000000001', ...open, 'N', 'm', 'm', '1', '0', '0', '0', ...ask));
  const { fd, address } = files.highest() as { fd: number; address: Address };
  closeSync(fd);
  const written: string[] = [];
  const { write } = Socket.prototype;
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: unknown[]) {
    if (`${args[0]}`.includes('"Q 1"')) written.push(`${args[0]}`);
    return write.apply(this, args as never);
  });
  onTestFinished(() => spy.mockRestore());
  const socket = connect(files.listensAt(address));
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  const say = (...line: unknown[]): boolean => socket.write(`${JSON.stringify(line)}\n`);
  say(address.cookie, newMember());
  say(1, call('b000000000000001', ...open));
  await until(() => text.includes('[1,'));
  say(2, call('b000000000000001', ...ask));
  await until(() => read(files).object('m')?.waiting === 1);
  return { giveBack: () => void broker.call(holder, call('a000000000000001', 'X')), heard: () => text, written };
}

test('a process hears by one write that it has waited, and that it holds', async () => {
  // The broker has no timers, so no time of it can pass.
  const spy = vi.spyOn(clock, 'after').mockReturnValue(undefined);
  onTestFinished(() => spy.mockRestore());
  const { giveBack, heard, written } = await waits();
  giveBack();
  await until(() => heard().includes('[0,'));
  expect(written).toEqual([expect.stringMatching(/^\[2,\["Q 1"\]\]\n\[0,"b000000000000001",.*\]\n$/)]);
});

test('a process that waits for long hears that it waits', async () => {
  const { heard, written } = await waits();
  await until(() => heard().includes('[2,'));
  expect(written).toEqual(['[2,["Q 1"]]\n']);
});

/** A connection to a broker. */
async function dial(files: Folder, generation: Generation): Promise<SocketConnection> {
  const owner = { name: newMember(), isNeeded: false, patience: 1000, dialling: undefined, listens: async () => {} };
  const events = { answered: () => {}, hear: () => {}, suspect: async () => {}, over: () => {} };
  const connection = (await SocketConnection.dial(files, generation, { ...owner, ...events })) as SocketConnection;
  onTestFinished(() => connection.end(new Error('the test is over')));
  return connection;
}

test.each([
  ['a thread', true],
  ['the main thread', false],
])(
  'who calls a broker in %s stays awake for the answer; a thread that nobody waits for, for the next call',
  async (_, hasThread) => {
    const files = new Folder(folder());
    const broker = (await Broker.start(files, undefined, newMember(), nobody, hasThread)) as Broker;
    onTestFinished(() => broker.end());
    const generation = files.highest() as Generation;
    closeSync(generation.fd);
    const [a, b] = [await dial(files, generation), await dial(files, generation)];
    let vigils: [what: string, who: Vigil][] = [];
    for (const what of ['begin', 'end'] as const) {
      const spy = vi.spyOn(Vigil.prototype, what).mockImplementation(function (this: Vigil) {
        vigils.push([what, this]);
      });
      onTestFinished(() => spy.mockRestore());
    }
    const open = ['O', '2', '1', '3600000', 'label', '-', '0'];
    const ask = ['A', 'm', '-', '0000000001', '00000001'];
    await a.call(['a000000000000001', '0', 'c:', ...open, 'N', 'm', 'm', '1', '0', '0', '0', ...ask]);
    const own = vigils[0]?.[1];
    const of = (isOwn: boolean) => vigils.filter(([, who]) => (who === own) === isOwn).map(([what]) => what);
    expect(of(true)).toEqual(['begin', 'end']);
    expect(of(false)).toEqual(hasThread ? ['end', 'begin'] : []);
    await b.call(['b000000000000001', '0', 'c:', ...open]);
    vigils = [];
    const waits = b.call(['b000000000000001', '0', 'c:', ...ask]);
    await until(() => read(files).object('m')?.waiting === 1);
    await a.call(['a000000000000001', '0', 'c:', 'X']);
    await waits;
    const begun = vigils.filter(([what]) => what === 'begin').map(([, who]) => who);
    expect(begun.length).toBe(2);
    expect(begun.filter((who) => who === own).length).toBe(1);
    // While `a` has a call under way, another answer does not end its vigil.
    vigils = [];
    const calls = [a.call(['malformed']), a.call(['malformed'])].map((call) => call.catch(() => {}));
    await Promise.all(calls);
    expect(of(true)).toEqual(['begin', 'begin', 'end']);
  },
);

test('a malformed call is refused, and changes nothing', async () => {
  const directory = folder();
  const space = await joined({ directory });
  const held = await (await space.mutex('m')).holdAsync();
  const head = ['p000000000000001', '0', 'c:'];
  const ticket = '0'.repeat(14);
  const open = ['O', '2', '1', '3600000', 'label', '-', '0'];
  const calls: [unknown, string][] = [
    ['O', 'a call must be a list of strings'],
    [[...head, 1], 'a call must be a list of strings'],
    [['x', '0', 'c:', ...open], 'a call must begin with its session'],
    [['p000000000000001', '-1', 'c:', ...open], 'a call must begin with its session'],
    [['p000000000000001', '0'], 'a call must begin with its session'],
    [head, 'a call must have an operation'],
    [[...head, 'Z'], 'there is no operation "Z"'],
    [[...head, 'constructor'], 'there is no operation "constructor"'],
    [[...head, 'A', 'm', '-', '0000000001'], 'argument 4 of A is malformed'],
    [[...head, 'A', '', '-', '0000000001', '00000001'], 'argument 1 of A is malformed'],
    [[...head, 'A', 'm', '-', '1', '00000001'], 'argument 3 of A is malformed'],
    [[...head, 'A', 'm', '-', '0000000001', '1'], 'argument 4 of A is malformed'],
    [[...head, 'N', 'm', 'q', '1', '0', '0', '0'], 'argument 2 of N is malformed'],
    [[...head, 'N', 'm', 's', 'NaN', '0', '0', '0'], 'argument 3 of N is malformed'],
    [[...head, 'U', '2', '0000000001'], 'argument 1 of U is malformed'],
    [[...head, 'U', '99999999', '0000000001'], 'argument 1 of U is malformed'],
    [[...head, 'D', 'm', '0000000001', ticket, '00000001', '1', 'x', '0', '0'], 'argument 6 of D is malformed'],
    [[...head, 'C', '0000000001', ...open], 'O must come first'],
    [[...head, ...open, 'X', 'C', '0000000001'], 'X must come last'],
  ];
  const said = await talk(
    directoryOf('default', directory),
    calls.map(([args], at) => [at + 1, args]),
    calls.length,
  );
  expect(said).toEqual(calls.map(([, fault], at) => [at + 1, null, `MALFORMED ${fault}`]));
  expect((await space.inspect()).sessions.length).toBe(1);
  expect(held.held).toBe(true);
  await held.unlock();
});

test('whoever does not know the cookie, or writes no lines of JSON, is not answered', async () => {
  const directory = folder();
  const space = await joined({ directory });
  const { fd, address: to } = new Folder(directoryOf('default', directory)).highest() ?? {};
  closeSync(fd as number);
  const member = newMember();
  for (const text of [`["wrong", "${member}"]\n`, `["${to?.cookie}", "x"]\n`, '{}\n', 'GET / HTTP/1.1\r\n\r\n', '\n']) {
    const socket = connect(new Folder(directoryOf('default', directory)).listensAt(to as Address));
    socket.write(text);
    const heard: unknown[] = [];
    for await (const part of socket) heard.push(part);
    expect(heard).toEqual([]);
  }
  await (await space.mutex('m')).runExclusive(() => {});
});

test('whoever writes no line of JSON to the socket of a process harms nobody', async () => {
  const directory = folder();
  const space = await joined({ directory });
  const held = await (await space.mutex('m')).holdAsync();
  const files = new Folder(directoryOf('default', directory));
  const [member = ''] = files.members();
  for (const text of ['GET / HTTP/1.1\r\n\r\n', '{}\n', '\n', '[]\n', '[null]\n', '["1"]\n']) {
    const socket = connect(files.of(`m.${member}`));
    socket.end(text);
    for await (const part of socket) expect(part).toBeUndefined();
  }
  expect(held.held).toBe(true);
  await held.unlock();
});

test('a process takes over from a broker that writes no lines of JSON', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('default', directory));
  const member = newMember();
  const draft = files.draft(undefined, member, false);
  const servers = [createServer().listen(files.of(`m.${member}`)), createServer((socket) => socket.end('hello\n'))];
  servers[1]?.listen(files.listensAt(draft.address));
  onTestFinished(() => {
    for (const server of servers) server.close();
  });
  closeSync(files.usurp(undefined, draft)?.fd as number);
  const space = await joined({ directory });
  await (await space.mutex('m')).runExclusive(() => {});
});

test('who joins does not wait for a process that had the broker, has closed the space, and lives on', async () => {
  const directory = folder();
  await (await Space.local({ directory })).close();
  // While the clock stands still, no patience comes to its end.
  vi.spyOn(clock, 'now').mockReturnValue(clock.now());
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const space = await joined({ directory });
  await (await space.mutex('m')).runExclusive(() => {});
  await until(() => new Folder(directoryOf('default', directory)).members().length === 1);
});

test('a young process waits for an older one to take over, and then takes over itself', async () => {
  const directory = folder();
  const files = new Folder(directoryOf('default', directory));
  const broker = await Broker.start(files, undefined, DEAD, { ended: () => {}, joined: () => {} });
  broker?.end();
  // This member lives, and does nothing.
  const server = createServer().listen(files.of(`m.${newMember()}`));
  onTestFinished(() => {
    server.close();
  });
  await once(server, 'listening');
  const space = await joined({ directory });
  await (await space.mutex('m')).runExclusive(() => {});
  const present = files.highest();
  expect(present?.number).toBeGreaterThan(1);
  closeSync(present?.fd as number);
});
