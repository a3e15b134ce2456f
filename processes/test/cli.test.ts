/** The program `taketurns-processes`, as a shell runs it: commands that take turns, and are killed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { type Given, read, UsageError } from '../src/command/arguments.js';
import { BUSY, run } from '../src/command/run.js';
import { objects, revoke, show } from '../src/command/show.js';
import { sql } from '../src/command/sql.js';
import { type ObjectEntry, Space } from '../src/space/space.js';
import { CLI, cli, type Ended, jobs, start, startWith, waitingFor } from './commands.js';
import { WHOLE } from './each-server.js';
import { folder } from './local-processes.js';
import { onServers, until } from './setting.js';

test('the status of the command is passed through', async () => {
  const { run } = jobs();
  expect((await run('--', 'sh', '-c', 'exit 3').ended).status).toBe(3);
  expect((await run('--', 'true').ended).status).toBe(0);
  expect((await run('--', 'sh', '-c', 'kill -9 $$').ended).status).toBe(128 + 9);
  expect(await run('--', 'no-such-program').ended).toEqual({
    status: 127,
    stdout: '',
    stderr: 'taketurns-processes: no-such-program: there is no such program\n',
  });
  expect((await run('--', '/').ended).status).toBe(126);
});

test('commands run in the order in which they ask, with tokens that rise', async () => {
  const { at, run, job, hasBegun, end, looker } = jobs();
  const first = job('first');
  await until(() => hasBegun('first'));
  const space = await looker();
  const others: Promise<Ended>[] = [];
  for (let i = 0; i < 4; i++) {
    others.push(run('--', 'sh', '-c', `echo ${i} $TAKETURNS_TOKEN >> ${at('order')}`).ended);
    await until(async () => (await waitingFor(space)) === i + 1);
  }
  end('first');
  expect((await first.ended).status).toBe(0);
  for (const { status } of await Promise.all(others)) expect(status).toBe(0);
  const lines = readFileSync(at('order'), 'utf8').trim().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['0', '1', '2', '3']);
  const tokens = lines.map((line) => BigInt(line.split(' ')[1] as string));
  for (const [i, token] of tokens.slice(1).entries()) expect(token).toBeGreaterThan(tokens[i] as bigint);
});

test('with --try, and with --timeout, a command that cannot run in time is not run', async () => {
  const { run, job, hasBegun, end, at } = jobs();
  const holder = job('holder');
  await until(() => hasBegun('holder'));
  const late = ['--', 'touch', at('late')];
  expect((await run('--try', ...late).ended).status).toBe(75);
  expect((await run('--timeout', '0.1', ...late).ended).status).toBe(75);
  expect((await run('--timeout', '0', ...late).ended).status).toBe(75);
  expect(existsSync(at('late'))).toBe(false);
  end('holder');
  await holder.ended;
  expect((await run('--try', ...late).ended).status).toBe(0);
  expect(existsSync(at('late'))).toBe(true);
});

test('with --try, each command runs after the one before was killed, whatever was killed', {
  timeout: 600_000,
}, async () => {
  const { run } = jobs();
  for (let at = 0; at < (WHOLE ? 200 : roundsInCi(12, 3)); at++) {
    const { child, ended } = run('--try', '--', 'sh', '-c', 'echo $$; exec sleep 60');
    // Nothing comes if it is told that the turn is not free.
    const [pid] = await Promise.race([once(child.stdout as Readable, 'data'), ended.then(({ status }) => [status])]);
    expect(Number(pid)).not.toBe(BUSY);
    const what = ['the program', 'the command', 'both'][Math.floor(Math.random() * 3)];
    if (what !== 'the command') child.kill('SIGKILL');
    // While the command runs, it keeps the turn.
    if (what === 'the program') {
      await once(child, 'exit');
      expect((await run('--try', '--', 'true').ended).status).toBe(BUSY);
    }
    process.kill(Number(pid), 'SIGKILL');
    // The output ends when both have.
    await ended;
  }
});

test('with --permits so many commands run at once', async () => {
  const { job, hasBegun, end, run } = jobs();
  const all = ['a', 'b', 'c'].map((name) => job(name, 0, '--permits', '2'));
  const begun = (): string[] => ['a', 'b', 'c'].filter(hasBegun);
  await until(() => begun().length === 2);
  expect((await run('--permits', '2', '--try', '--', 'true').ended).status).toBe(75);
  expect(begun().length).toBe(2);
  // It is a semaphore by now, of which a command without the option takes one permit.
  expect((await run('--permits', '3', '--', 'true').ended).stderr).toContain('exists already, as a semaphore (max 2)');
  end(begun()[0] as string);
  await until(() => begun().length === 3);
  for (const name of begun()) end(name);
  for (const { ended } of all) expect((await ended).status).toBe(0);
  expect((await run('--', 'true').ended).status).toBe(0);
});

test('signals go on to the command, and whoever only waits ends', async () => {
  const { run, job, hasBegun, at, looker } = jobs();
  const script = `trap 'echo TERM; exit 9' TERM; echo >> ${at('trap.began')}; while :; do sleep 0.02; done`;
  const holder = run('--', 'sh', '-c', script);
  await until(() => hasBegun('trap'));
  const waiter = job('waiter');
  const space = await looker();
  await until(async () => (await waitingFor(space)) === 1);
  waiter.child.kill('SIGTERM');
  await waiter.ended;
  expect(waiter.child.signalCode).toBe('SIGTERM');
  await until(async () => (await waitingFor(space)) === 0);
  holder.child.kill('SIGTERM');
  expect(await holder.ended).toMatchObject({ status: 9, stdout: 'TERM\n' });
  expect(hasBegun('waiter')).toBe(false);
});

test('a command that cannot be signalled keeps its turn', async () => {
  const { runs, run, script, hasBegun, end } = jobs();
  // The kernel refuses each signal, as it does for a command of another user.
  const refuse = `
    import { ChildProcess } from 'node:child_process';
    const { kill } = ChildProcess.prototype;
    ChildProcess.prototype.kill = function (name) {
      this._handle.kill = () => -1;
      return kill.call(this, name);
    };`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(refuse)}`];
  const holder = startWith(flags, [...runs, '--', 'sh', '-c', script('holder', 3)]);
  await until(() => hasBegun('holder'));
  const said = once(holder.child.stderr as Readable, 'data');
  holder.child.kill('SIGTERM');
  expect(`${await said}`).toBe('taketurns-processes: sh: it cannot be signalled: kill EPERM\n');
  expect((await run('--try', '--', 'true').ended).status).toBe(75);
  end('holder');
  expect((await holder.ended).status).toBe(3);
  expect((await run('--try', '--', 'true').ended).status).toBe(0);
});

test.each([
  ['', ''],
  [', which has used the descriptors 3 to 9', 'exec 3>&1 4>&1 5>&1 6>&1 7>&1 8>&1 9>&1; '],
])('a program that is killed: its turn lasts until its command has ended%s', async (_, first) => {
  const { run, script, job, hasBegun, end } = jobs();
  const holder = run('--', 'sh', '-c', first + script('holder'));
  await until(() => hasBegun('holder'));
  holder.child.kill('SIGKILL');
  const next = job('next');
  expect((await run('--timeout', '2.5', '--', 'true').ended).status).toBe(75);
  expect(hasBegun('next')).toBe(false);
  end('holder');
  await until(() => hasBegun('next'));
  end('next');
  expect((await next.ended).status).toBe(0);
  // The standard streams of the killed program are those of its command too.
  await holder.ended;
});

test('a revoked turn ends its command', async () => {
  const { directory, job, hasBegun, run } = jobs();
  const holder = job('holder');
  await until(() => hasBegun('holder'));
  const at = ['--directory', directory];
  const shown = await cli('show', ...at);
  expect(shown.stdout).toMatch(
    /^job {2}mutex {2}held\n {2}holds +\d+\.\d s {2}token \d+ {2}sh \(pid \d+ on \S+\)(; command: pid \d+)?\n$/,
  );
  const token = /token (\d+)/.exec(shown.stdout)?.[1] as string;
  expect(await cli('revoke', ...at, 'job', '12')).toEqual({
    ...{ status: 1, stdout: '' },
    stderr: 'taketurns-processes: nobody holds "job" with the token 12\n',
  });
  expect(await cli('revoke', ...at, 'job', token)).toMatchObject({ status: 0, stderr: '' });
  expect(await holder.ended).toMatchObject({ status: 70, stderr: expect.stringContaining('it was revoked') });
  expect((await run('--try', '--', 'true').ended).status).toBe(0);
});

test('show and revoke do not make an object anew that is disposed of meanwhile', async () => {
  const { directory, looker } = jobs();
  const space = await looker();
  const listed = Space.prototype.objects;
  const names = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of listed.call(space)) found.push(name);
    return found;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockReturnValue(true),
    vi.spyOn(console, 'error').mockReturnValue(undefined),
    vi.spyOn(Space.prototype, 'objects').mockImplementation(async function* (this: Space) {
      const entries: ObjectEntry[] = [];
      for await (const entry of listed.call(this)) entries.push(entry);
      await (await space.mutex('gone')).dispose();
      yield* entries;
    }),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  await space.mutex('gone');
  expect(await show(read(['show', '--directory', directory, '--once', 'gone']) as Given)).toBe(0);
  expect(spies[0]).toHaveBeenLastCalledWith('gone  is not known\n');
  expect(await names()).toEqual([]);
  await space.mutex('gone');
  expect(await revoke(read(['revoke', '--directory', directory, 'gone', '12']) as Given)).toBe(1);
  expect(await names()).toEqual([]);
});

test('show tells who holds and waits, and objects tells all', async () => {
  const { directory, job, hasBegun, end, looker } = jobs();
  const at = ['--directory', directory];
  expect((await cli('show', ...at)).stdout).toBe('nobody holds or waits\n');
  const space = await looker();
  await (await space.semaphore('pool', 4, { robust: true })).holdAsync(3);
  await (await space.rwLock('table')).readAsync();
  await space.mutex('idle');
  const holder = job('holder', 0, '--label', 'the first');
  await until(() => hasBegun('holder'));
  const waiter = job('waiter');
  await until(async () => (await waitingFor(space)) === 1);
  const lines = (await cli('show', ...at)).stdout
    .replace(/\d+\.\d s/g, 'S')
    .replace(/token \d+/g, 'T')
    .split('\n');
  expect(lines).toEqual([
    'pool  semaphore  3 of 4 held',
    expect.stringMatching(/^ {2}holds 3 +S {2}T {2}pid \d+ on /),
    'table  read-write lock  held',
    expect.stringMatching(/^ {2}holds to read +S {2}T {2}pid \d+ on /),
    'job  mutex  held, 1 wait',
    expect.stringMatching(/^ {2}holds +S {2}T {2}the first(; command: pid \d+)?$/),
    expect.stringMatching(/^ {2}waits +S {2}T {2}sh \(pid \d+ on \S+\)$/),
    '',
  ]);
  expect((await cli('show', ...at, 'idle', 'none')).stdout).toBe('idle  mutex  free\nnone  is not known\n');
  expect((await cli('objects', ...at)).stdout).toBe(
    'pool  semaphore, robust  3 of 4 held\ntable  read-write lock  held\nidle  mutex  free\njob  mutex  held, 1 wait\n',
  );
  for (const name of ['holder', 'waiter']) end(name);
  await Promise.all([holder.ended, waiter.ended]);
});

test.runIf(process.platform === 'linux')(
  'show tells the process of the command, also when its program was killed',
  async () => {
    const { directory, run } = jobs();
    const holder = run('--', 'sh', '-c', 'echo $$; sleep 60 & wait');
    const pid = Number((await once(holder.child.stdout as Readable, 'data'))[0]);
    onTestFinished(() => {
      process.kill(pid, 'SIGKILL');
    });
    const shown = async (): Promise<string> => (await cli('show', '--directory', directory)).stdout;
    expect(await shown()).toMatch(new RegExp(`sh \\(pid ${holder.child.pid} on \\S+\\); command: pid ${pid}\n$`));
    const told = JSON.parse((await cli('show', '--json', '--directory', directory)).stdout);
    expect(told.holders).toMatchObject([{ command: pid }]);
    holder.child.kill('SIGKILL');
    await once(holder.child, 'exit');
    expect(await shown()).toContain(`sh (pid ${holder.child.pid} on ${hostname()}); has ended; command: pid ${pid}\n`);
  },
);

/** Runs a line of the shell, in which $0 is Node, $1 this program, and $2 a folder. */
const shell = (line: string, directory: string, options = {}) =>
  spawnSync('bash', ['-c', line, process.execPath, CLI, directory], { encoding: 'utf8', ...options });

test('a slow reader gets all lines, and a reader that goes is no error', async () => {
  const { directory, looker } = jobs();
  const space = await looker();
  const count = 3000;
  await Promise.all(Array.from({ length: count }, (_, at) => space.mutex(`customer ${at}`)));
  await space.close();
  const slow = shell('set -o pipefail; "$0" "$1" objects --directory "$2" | (sleep 1; wc -l)', directory);
  expect({ status: slow.status, lines: Number(slow.stdout) }).toEqual({ status: 0, lines: count });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell.
  const head = shell('"$0" "$1" objects --directory "$2" | head -1; exit ${PIPESTATUS[0]}', directory);
  expect(head).toMatchObject({ status: 141, stdout: 'customer 0  mutex  free\n', stderr: '' });
  const full = shell('"$0" "$1" objects --directory "$2" > /dev/full', directory);
  expect(full).toMatchObject({ status: 74, stderr: expect.stringContaining('the output cannot be written: ENOSPC') });
});

test('a name with a line break takes one line, and --json tells all of an object in a line', async () => {
  const { directory, looker } = jobs();
  const at = ['--directory', directory];
  const space = await looker();
  const name = 'two\nlines';
  const held = await (await space.mutex(name)).holdAsync();
  expect((await cli('objects', ...at)).stdout).toBe('"two\\nlines"  mutex  held\n');
  expect((await cli('show', ...at)).stdout.split('\n').length).toBe(3);
  const [line = '', ...others] = (await cli('objects', '--json', ...at)).stdout.split('\n');
  expect(others).toEqual(['']);
  expect(JSON.parse(line)).toMatchObject({ name, kind: 'mutex', free: 0, waiting: 0 });
  const shown = JSON.parse((await cli('show', '--json', ...at)).stdout);
  expect(shown).toMatchObject({ name, holders: [{ token: `${held.token}` }], queue: [] });
  expect((await cli('show', '--json', ...at, 'none')).stdout).toBe('');
});

test('a command learns of a death that concerns its own turn alone', () => {
  const env = { ...process.env, TAKETURNS_OWNER_DIED: '1' };
  const line = '"$0" "$1" run --name job --directory "$2" -- sh -c \'echo "<$TAKETURNS_OWNER_DIED>"\'';
  expect(shell(line, folder(), { env }).stdout).toBe('<>\n');
});

/**
 * A command that writes down the signals that it gets, and how to send some of them: each is written down once, before
 * the next one. A second delivery would come before the marker, which is sent after the first one was written down.
 */
function listener(at: (file: string) => string) {
  const names = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
  writeFileSync(
    at('listener.cjs'),
    `const { appendFileSync, writeFileSync } = require('node:fs');
    for (const name of ${JSON.stringify(names)}) {
      process.on(name, () => appendFileSync(${JSON.stringify(at('signals'))}, name + ' '));
    }
    setInterval(() => {}, 1000);
    writeFileSync(${JSON.stringify(at('ppid.new'))}, String(process.ppid));
    require('node:fs').renameSync(${JSON.stringify(at('ppid.new'))}, ${JSON.stringify(at('ppid'))});`,
  );
  const signals = (): string => (existsSync(at('signals')) ? readFileSync(at('signals'), 'utf8') : '');
  return {
    names,
    command: [process.execPath, at('listener.cjs')],
    received: () => signals().split(' ').slice(0, -1),
    /** The process that runs the command. */
    async began(): Promise<number> {
      await until(() => existsSync(at('ppid')));
      return Number(readFileSync(at('ppid'), 'utf8'));
    },
    async sends(name: NodeJS.Signals, send: () => void, pid: number): Promise<void> {
      const before = signals();
      const marker = name === 'SIGUSR1' ? 'SIGUSR2' : 'SIGUSR1';
      send();
      await until(() => signals().startsWith(`${before}${name} `));
      process.kill(pid, marker);
      await until(() => signals().endsWith(`${marker} `));
      expect(signals()).toBe(`${before}${name} ${marker} `);
    },
  };
}

test('a signal to the program, and one to its process group, reach the command once', async () => {
  const { runs, at } = jobs();
  const { names, command, began, sends } = listener(at);
  const child = spawn(process.execPath, [CLI, ...runs, '--', ...command], { detached: true, stdio: 'ignore' });
  const pid = child.pid as number;
  onTestFinished(() => {
    process.kill(-pid, 'SIGKILL');
  });
  expect(await began()).toBe(pid);
  for (const name of [...names, ...names]) {
    await sends(name, () => process.kill(pid, name), pid);
    await sends(name, () => process.kill(-pid, name), pid);
  }
});

test('different signals at once, some to the program and some to its group, each reach the command once', async () => {
  const { runs, at } = jobs();
  const { names, command, began, received } = listener(at);
  const child = spawn(process.execPath, [CLI, ...runs, '--', ...command], { detached: true, stdio: 'ignore' });
  const pid = child.pid as number;
  onTestFinished(() => {
    process.kill(-pid, 'SIGKILL');
  });
  await began();
  for (let round = 0; round < 20; round++) {
    const before = received().length;
    // The larger numbers first: the kernel hands over the smaller ones first.
    for (const [place, name] of [...names].reverse().entries())
      process.kill((place + round) % 2 === 0 ? pid : -pid, name);
    await until(() => received().length >= before + names.length);
    // What would come twice comes before the answer to this one.
    process.kill(pid, 'SIGUSR1');
    await until(() => received().at(-1) === 'SIGUSR1' && received().length > before + names.length);
    expect(received().slice(before).sort()).toEqual([...names, 'SIGUSR1'].sort());
  }
});

/** Runs a line of the shell in a terminal of its own, where there is the program `script` of util-linux. */
const HAS_TERMINAL = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');

test.runIf(HAS_TERMINAL)(
  'Ctrl-C and a signal to the program reach the command once, also if input and output are redirected (needs `script`)',
  async () => {
    const { runs, at } = jobs();
    const { command, began, sends } = listener(at);
    const run = [process.execPath, CLI, ...runs, '--', ...command].map((word) => `'${word}'`).join(' ');
    const terminal = spawn('script', ['-qec', `exec ${run} < /dev/null > /dev/null 2>&1`, '/dev/null'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const pid = await began();
    onTestFinished(() => {
      process.kill(pid, 'SIGKILL');
      terminal.kill('SIGKILL');
    });
    for (let round = 0; round < 3; round++) {
      await sends('SIGINT', () => process.kill(pid, 'SIGINT'), pid);
      await sends('SIGINT', () => terminal.stdin?.write('\x03'), pid);
      await sends('SIGQUIT', () => terminal.stdin?.write('\x1c'), pid);
    }
  },
);

test('a program holds the mutex that a command waits for, whatever its settings are', async () => {
  const { run, looker, at } = jobs();
  const space = await looker();
  const mutex = await space.mutex('job', { robust: true, bypass: 0 });
  const held = await mutex.holdAsync();
  const command = run('--', 'sh', '-c', `echo $TAKETURNS_TOKEN > ${at('token')}`);
  await until(async () => (await mutex.inspect())?.waiting === 1);
  await held.unlock();
  expect((await command.ended).status).toBe(0);
  expect(BigInt(readFileSync(at('token'), 'utf8'))).toBeGreaterThan(held.token);
  expect((await run('--permits', '2', '--', 'true').ended).stderr).toContain('exists already, as a mutex');
});

test.each([
  [['frobnicate'], 'there is no command "frobnicate"; there are run, show, objects, revoke'],
  [['run', '--', 'true'], 'run: --name NAME is needed'],
  [['run', '--name', 'x'], 'run: a command is needed: run --name NAME -- COMMAND'],
  [['run', '--name', 'x', 'true'], 'run: what is to run stands behind --, got "true"'],
  [['run', '--name', '--', 'true'], 'run: --name needs a value: --name NAME'],
  [['run', '--nmae', 'x', '--', 'true'], 'run: there is no option --nmae; there are --name, --permits, --timeout, '],
  [['run', '-n', 'x', '--', 'true'], 'run: there is no option -n; there are --name'],
  [['run', '--name', 'x', '--name', 'y', '--', 'true'], 'run: --name is given twice'],
  [['run', '--name', 'x', '--try=1', '--', 'true'], 'run: --try has no value, got "1"'],
  [['run', '--name', 'x', '--timeout', 'soon', '--', 'true'], 'run: --timeout must be a number of seconds from 0 to '],
  [['run', '--name', 'x', '--timeout=-1', '--', 'true'], 'run: --timeout must be a number of seconds from 0 to '],
  [['run', '--name', 'x', '--permits', '0', '--', 'true'], 'run: --permits must be an integer from 1 to 2147483647'],
  [['run', '--name', 'x', '--permits', '1.5', '--', 'true'], 'run: --permits must be an integer from 1 to 2147483647'],
  [['run', '--name', 'x', '--try', '--timeout', '1', '--', 'true'], 'run: --try does not wait, so it has no --timeout'],
  [
    ['run', '--name', 'x', '--url', 'localhost', '--', 'true'],
    'run: --url must begin with redis://, rediss:// or postgres://, got',
  ],
  [['run', '--name', 'x', '--lease', '5', '--', 'true'], 'run: --lease is for a server, so it needs --url'],
  [['run', '--name', 'x', '--partitions', '5', '--', 'true'], 'run: --partitions is for a server, so it needs --url'],
  [
    ['show', '--url', 'redis://x', '--partitions', '0'],
    'show: --partitions must be an integer from 1 to 1024, got "0"',
  ],
  [['show', '--url', 'redis://x', '--directory', '/tmp'], 'show: --directory is for this machine, and --url for a'],
  [['revoke', 'x'], 'revoke: NAME and TOKEN are needed: revoke NAME TOKEN'],
  [['revoke', 'x', 'y'], 'revoke: TOKEN must be a number, got "y"'],
  [['objects', 'x'], 'objects: takes no names, got "x"'],
  [['sql', 'x'], 'sql: takes no names, got "x"'],
  [['sql', '--space', 'x'], 'sql: there is no option --space; there are none'],
])('bad: %j', async (line, message) => {
  const act = async (): Promise<unknown> => {
    const given = read(line);
    return given && { run, show, objects, revoke, sql }[given.command](given);
  };
  await expect(act()).rejects.toThrow(UsageError);
  await expect(act()).rejects.toThrow(message);
});

/** The last line of a crontab on the page that has this text. */
const crontabWith = (text: string): string => {
  const page = readFileSync(new URL('../docs/from-flock.md', import.meta.url), 'utf8');
  return page.split('\n').find((line) => /^\S+( \*){4} /.test(line) && line.includes(text)) as string;
};

test('once per period: of machines that come one after the other, one runs the job, as the page says', async () => {
  const { directory, at } = jobs();
  const line = crontabWith('sleep 600');
  const [, options = '', script = ''] = /taketurns-processes run (.*) -- sh -c '(.*)'$/.exec(line) ?? [];
  const words = options.replace('--url redis://db', `--directory ${directory}`).split(' ');
  // The job of the page, and a `sleep` that the test can end.
  writeFileSync(at('report.js'), `require('node:fs').appendFileSync('ran', 'once ');process.exit(3)`);
  writeFileSync(at('sleep'), `#!/bin/sh\n[ "$1" = 600 ] && while [ ! -e ${at('over')} ]; do :; done\n`, {
    mode: 0o755,
  });
  const machine = (): Promise<number | null> => {
    const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
    const child = spawn(process.execPath, [CLI, 'run', ...words, '--', 'sh', '-c', script], { cwd: directory, env });
    return once(child, 'exit').then(([status]) => status);
  };
  const first = machine();
  await until(() => existsSync(at('ran')));
  expect([await machine(), await machine()]).toEqual([75, 75]);
  writeFileSync(at('over'), '');
  expect(await first).toBe(3);
  expect(readFileSync(at('ran'), 'utf8')).toBe('once ');
  // The next period.
  expect(await machine()).toBe(3);
  expect(readFileSync(at('ran'), 'utf8')).toBe('once once ');
});

test('what is wrong with a command line is said', async () => {
  const { status, stdout, stderr } = await cli('run', '--', 'true');
  expect({ status, stdout }).toEqual({ status: 64, stdout: '' });
  expect(stderr).toContain('taketurns-processes: run: --name NAME is needed\n');
  expect(stderr).toContain('--help');
});

test('what is wrong with a name or with the folder is said', async () => {
  const directory = folder();
  const long = await cli('run', '--name', 'x'.repeat(109), '--directory', directory, '--', 'true');
  expect(long).toMatchObject({ status: 64, stderr: expect.stringContaining('name must be a string of 1 to 108') });
  appendFileSync(join(directory, 'file'), '');
  const file = await cli('objects', '--directory', join(directory, 'file'));
  expect(file).toMatchObject({ status: 69, stderr: expect.stringContaining('is no folder') });
});

test('--help says what there is', async () => {
  for (const line of [[], ['--help'], ['help'], ['run', '--help']]) {
    const { status, stdout } = await cli(...line);
    expect(status).toBe(0);
    for (const word of ['run --name NAME', '--permits N', '--timeout SECONDS', 'TAKETURNS_TOKEN', 'revoke']) {
      expect(stdout).toContain(word);
    }
  }
});

onServers(
  'the program with a server',
  (setting) => {
    test('commands take turns on it, and a server that does not answer is said', async () => {
      const space = await setting.join({ space: 'default' });
      const held = await (await space.mutex('job')).holdAsync();
      const url = ['--url', setting.server.url];
      expect((await cli('run', '--name', 'job', ...url, '--try', '--', 'true')).status).toBe(75);
      const command = start('run', '--name', 'job', ...url, '--', 'sh', '-c', 'echo $TAKETURNS_TOKEN; exit 5');
      await until(async () => (await waitingFor(space)) === 1);
      expect((await cli('show', ...url)).stdout).toContain('job  mutex  held, 1 wait\n');
      await held.unlock();
      const { status, stdout } = await command.ended;
      expect(status).toBe(5);
      expect(BigInt(stdout)).toBeGreaterThan(held.token);
      const away = await cli('objects', '--url', 'redis://127.0.0.1:1');
      expect(away).toMatchObject({ status: 69, stderr: expect.stringContaining('ECONNREFUSED') });
    });

    test('they join a space with the partitions and the lease that it has', async () => {
      const space = await setting.join({ space: 'shop', partitions: 16, lease: 5000 });
      const held = await (await space.mutex('job')).holdAsync();
      const shop = ['--url', setting.server.url, '--space', 'shop'];
      const tries = (...options: string[]) => cli('run', '--name', 'job', ...shop, ...options, '--try', '--', 'true');
      expect(await tries()).toMatchObject({ status: BUSY, stderr: '' });
      expect((await cli('show', ...shop)).stdout).toContain('job  mutex  held\n');
      await held.unlock();
      expect(await tries()).toMatchObject({ status: 0, stderr: '' });
      // What the command line asks for counts, and the advice works.
      const others = await tries('--partitions', '4');
      const advice = 'run: the space "shop" has 16 partitions: give --partitions 16, or leave --partitions out\n';
      expect(others).toMatchObject({ status: 64, stderr: expect.stringContaining(advice) });
      const longer = await tries('--partitions', '16', '--lease', '6');
      const also = 'run: the space "shop" has a lease of 5 seconds: give --lease 5, or leave --lease out\n';
      expect(longer).toMatchObject({ status: 64, stderr: expect.stringContaining(also) });
      expect(await tries('--partitions', '16', '--lease', '5')).toMatchObject({ status: 0, stderr: '' });
    });

    test('a command may make the space, with its partitions and its lease', async () => {
      const fresh = ['--url', setting.server.url, '--space', 'fresh', '--partitions', '8', '--lease', '2.5'];
      const command = start('run', '--name', 'job', ...fresh, '--', 'sh', '-c', 'echo runs; exec sleep 60');
      await once(command.child.stdout as Readable, 'data');
      const other = await cli('run', '--name', 'x', ...fresh.slice(0, 4), '--lease', '3', '--', 'true');
      expect(other.stderr).toContain('has a lease of 2.5 seconds');
      command.child.kill('SIGTERM');
      await command.ended;
      const space = await setting.join({ space: 'fresh', partitions: 8, lease: 2500 });
      expect((await (await space.mutex('job')).inspect())?.waiting).toBe(0);
    });
  },
  'first',
);
