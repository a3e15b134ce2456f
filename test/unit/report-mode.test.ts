/** `node --import taketurns/report`: programs that hang, and never ask for a report. `taketurns-report` asks them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../src/report/answers.js';
import { addressOf, checkFolder, home, listen, listening } from '../../src/report/socket.js';
import { linesOf, stackText } from '../../src/report/stacks.js';
import { until } from '../support/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../programs/unasked.mjs', import.meta.url));
const CLI = fileURLToPath(new URL('../../dist/report/cli.js', import.meta.url));
const FLAGS = ['--import', 'taketurns/report'];
const DEADLINE = 20_000;

/** A process that is killed leaves its socket behind. */
function removeSocket({ pid }: ChildProcess): void {
  rmSync(join(home(), `report-${pid}`), { force: true });
}

/** Runs `taketurns-report`. */
function ask(...args: (string | number)[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args.map(String)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      err += data;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

interface Run {
  readonly flags?: readonly string[];
  readonly program?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program is killed when its standard error has this. */
  readonly until?: RegExp;
  /** The program is told a line each time its standard error has this once more. */
  readonly tells?: RegExp;
}

/** Runs a program, and returns what its standard error has at its end. */
function errorsOf({ flags = FLAGS, program = PROGRAM, args = [], env = {}, until, tells }: Run): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, program, ...args], {
      cwd: ROOT,
      stdio: [tells ? 'pipe' : 'ignore', 'ignore', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE);
    let errors = '';
    let told = 0;
    child.stderr?.on('data', (data) => {
      errors += data;
      for (const times = tells ? errors.split(tells).length - 1 : 0; told < times; told++) child.stdin?.write('\n');
      if (until?.test(errors)) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      removeSocket(child);
      resolve(errors);
    });
  });
}

describe.concurrent('report mode', () => {
  it.each([
    ['by a flag', { flags: FLAGS }],
    ['by NODE_OPTIONS', { flags: [], env: { NODE_OPTIONS: FLAGS.join(' ') } }],
  ])('%s, names a deadlock while all threads block, the main thread too', async (_, run) => {
    const errors = await errorsOf({ ...run, args: ['deadlock'], until: /deadlock: .*terminated\n/ });
    expect(errors).toMatch(/^\(node:\d+\) taketurns\/report: deadlock: thread 1 \(threadId 0\) holds Mutex "accounts"/);
    expect(errors).toContain('waits for Mutex "audit"');
    expect(errors).not.toContain('TaketurnsWarning');
  });

  it('tells of a wait that has lasted for long, and who has what it waits for', async () => {
    const until = /Mutex "accounts": locked, held by thread 1 \(threadId 0\), 1 waiting/;
    const errors = await errorsOf({ args: ['long'], env: { TAKETURNS_REPORT_AFTER: '1' }, until });
    expect(errors).toMatch(/taketurns\/report: thread 2 \(threadId \d+\) has waited for Mutex "accounts" for \d+ s\n/);
    expect(errors).toMatch(until);
  });

  it('says until when a wait for a rate lasts', async () => {
    const until = /, until its date in \d+ ms\n/;
    const errors = await errorsOf({ args: ['rate'], env: { TAKETURNS_REPORT_AFTER: '1' }, until });
    expect(errors).toMatch(/ has waited for RateLimiter "requests" for \d+ s, until its date in 5\d{4} ms\n/);
  });

  it('tells of a wait again if it has ended meanwhile', async () => {
    const tells = /has waited for/;
    const until = /(has waited for Mutex "accounts".*){2}/s;
    const errors = await errorsOf({ args: ['again'], env: { TAKETURNS_REPORT_AFTER: '0.1' }, until, tells });
    expect(errors.match(/has waited for Mutex "[a-z]+"/g)).toEqual(
      ['accounts', 'another', 'accounts'].map((name) => `has waited for Mutex "${name}"`),
    );
  });

  it('takes no burst of promises for a deadlock', async () => {
    expect(await errorsOf({ args: ['burst'] })).toBe('');
  });

  it('tells of promises that perhaps wait in a circle when they have waited for as long as the user has asked', async () => {
    const until = /perhaps a deadlock: .*\n/;
    const errors = await errorsOf({ args: ['promises'], env: { TAKETURNS_REPORT_AFTER: '2' }, until });
    const [, waited] = /perhaps a deadlock: .* by a promise, for (\d+) ms/.exec(errors) ?? [];
    expect(Number(waited)).toBeGreaterThanOrEqual(2000);
    for (const name of ['accounts', 'audit']) expect(errors).toContain(`Mutex "${name}"`);
  });

  it('tells of a thread that blocks in select, and where', async () => {
    const until = /thread 1 \(threadId 0\) waits at .*unasked\.mjs:\d+/;
    const errors = await errorsOf({ args: ['select'], env: { TAKETURNS_REPORT_AFTER: '2' }, until });
    expect(errors).toMatch(until);
    for (const name of ['jobs', 'urgent']) {
      expect(errors).toContain(`thread 1 (threadId 0) has waited for ReceivingEnd "${name}"`);
      expect(errors).toMatch(new RegExp(`ReceivingEnd "${name}": .*\n  thread 1 .* waits for 1, blocked, for`));
    }
  });

  it('names a circle over three arenas, though no thread is attached to all of them', async () => {
    const program = fileURLToPath(new URL('../programs/crosswise.mjs', import.meta.url));
    const errors = await errorsOf({ program, args: ['unasked'], until: /terminated\n/ });
    const [, first] = /taketurns\/report: (deadlock: .*)\n/.exec(errors) ?? [];
    for (let i = 0; i < 3; i++)
      expect(first).toMatch(
        new RegExp(`holds Mutex "m${i}" of arena \\d and waits for Mutex "m${(i + 1) % 3}" of arena`),
      );
    expect(errors).not.toContain('TaketurnsWarning');
  });

  it('waits for no reporter that has died', async () => {
    const [before, program] = ['workers/no-reporter', 'reporter-dies'].map((name) =>
      fileURLToPath(new URL(`../programs/${name}.mjs`, import.meta.url)),
    ) as [string, string];
    expect(await errorsOf({ flags: ['--import', before, ...FLAGS], program })).toBe('not-equal\n');
  });

  it('is not there if the program was started without it', async () => {
    const errors = await errorsOf({ flags: [], args: ['deadlock'], until: /terminated\n/ });
    expect(errors).toContain('TaketurnsWarning: deadlock: ');
    expect(errors).not.toContain('taketurns/report:');
  });

  it.each(['', 'soon', '0', '-1', '86401'])('refuses TAKETURNS_REPORT_AFTER=%j', async (seconds) => {
    const errors = await errorsOf({ args: ['deadlock'], env: { TAKETURNS_REPORT_AFTER: seconds } });
    expect(errors).toContain(
      `TAKETURNS_REPORT_AFTER must be a number of seconds above 0, at most 86400, not ${JSON.stringify(seconds)}`,
    );
  });
});

describe('taketurns-report', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      removeSocket(child);
    }
  });

  /** Starts a program in report mode. */
  function start(how: string, stdin: 'ignore' | 'pipe' = 'ignore'): ChildProcess & { readonly pid: number } {
    const child = spawn(process.execPath, [...FLAGS, PROGRAM, how], {
      cwd: ROOT,
      stdio: [stdin, 'pipe', 'ignore'],
      env: { ...process.env, NODE_OPTIONS: '', TAKETURNS_REPORT_AFTER: '86400' },
    });
    children.push(child);
    return child as ChildProcess & { readonly pid: number };
  }

  /** Asks again and again until the answer has this. */
  async function askUntil(form: RegExp, ...args: (string | number)[]): Promise<string> {
    const end = Date.now() + DEADLINE;
    while (true) {
      const { out, err } = await ask(...args);
      if (form.test(out)) return out;
      if (Date.now() > end) throw new Error(`the answer never had ${form}: ${out}${err}`);
    }
  }

  it('asks a process whose threads all block, and prints who waits for whom, and where the main thread does', async () => {
    const { pid } = start('deadlock');
    const said = await askUntil(
      /Deadlock: [\s\S]*The stack of the main thread \(threadId 0\):\n {4}at .*\n( {4}at .*\n)* {4}at .*unasked\.mjs:\d+/,
      pid,
      '--stack',
    );
    expect(said).toContain('Mutex "audit": locked, held by thread 2');
    expect(said).not.toContain('wasm:');
    expect((await ask()).out).toMatch(new RegExp(`^in report mode: .*\\b${pid}\\b`));
  });

  it('prints JSON for tools', async () => {
    const { pid } = start('deadlock');
    const answer = JSON.parse(await askUntil(/"deadlocks":\[\{/, pid, '--json')) as Answer;
    expect(answer.pid).toBe(pid);
    expect(answer.mainStack).toBeUndefined();
    expect(answer.arenas).toMatchObject([
      { waiting: 2, deadlocks: [{ edges: [{ blocked: true }, { blocked: true }] }] },
    ]);
  });

  it('tells the stack of a main thread that sleeps for a lock, and the main thread then gets the lock', async () => {
    const child = start('until told', 'pipe');
    const ended = new Promise((done) => child.on('close', done));
    const said = new Promise<string>((resolve) => child.stdout?.on('data', (data) => resolve(String(data))));
    await askUntil(/unasked\.mjs:\d+/, child.pid, '--stack');
    await askUntil(/unasked\.mjs:\d+/, child.pid, '--stack');
    child.stdin?.end();
    expect(await said).toBe('went on\n');
    await ended;
    expect(listening()).not.toContain(child.pid);
  });

  it('says that the main thread runs no code', async () => {
    const { pid } = start('idle');
    const said = await askUntil(/Mutex "accounts": locked, held by thread 1/, pid, '--stack');
    expect(said).toContain('(the main thread has run no code for 500 ms: it waits for events, or the machine is busy)');
  });

  it('is told nothing if it asks for anything else', async () => {
    const { pid } = start('deadlock');
    await askUntil(/Deadlock: /, pid);
    for (const question of ['', 'everything\n', 'json stack now\n', 'x'.repeat(1000)]) {
      const told = await new Promise((resolve) => {
        const socket = connect(addressOf(pid) as string, () => socket.end(question));
        let heard = '';
        socket.on('data', (data) => {
          heard += data;
        });
        socket.on('error', () => {});
        socket.on('close', () => resolve(heard));
      });
      expect(told).toBe('');
    }
    await askUntil(/Deadlock: /, pid);
  });

  it('says that there is no such process, also if the process was killed', async () => {
    const child = start('deadlock');
    await askUntil(/Deadlock: /, child.pid);
    expect(listening()).toContain(child.pid);
    child.kill('SIGKILL');
    // Its socket stays, until another process begins in report mode.
    await new Promise((done) => child.on('close', done));
    expect(await ask(child.pid)).toEqual({ code: 1, out: '', err: `there is no process ${child.pid}\n` });
    expect((await ask()).out).not.toMatch(new RegExp(`\\b${child.pid}\\b`));
  });

  it.each(['', 'No thread of the process', '{"pid":1}\n'])('says that a process has ended after %j', async (said) => {
    const server = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.end(said)));
    listen(server);
    const { code, out, err } = await ask(process.pid);
    await new Promise((done) => server.close(done));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^process \d+ has ended meanwhile/);
  });

  it('says that the process is not in report mode', async () => {
    const { code, err } = await ask(process.pid);
    expect(code).toBe(1);
    expect(err).toMatch(/^process \d+ cannot be asked: it was not started with node --import taketurns\/report, or/);
  });

  it.each([
    [['soon'], 'PID must be the number of a process, not "soon"'],
    [['0'], 'PID must be the number of a process, not "0"'],
    [['1', '2'], 'one PID at a time, not also "2"'],
    [['--stacks', '1'], "Unknown option '--stacks'"],
  ])('refuses %j', async (args, message) => {
    const { code, out, err } = await ask(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  it('explains itself', async () => {
    const { code, out } = await ask('--help');
    expect(code).toBe(0);
    expect(out).toContain('npx taketurns-report PID [options]');
  });
});

describe('the lines of a stack', () => {
  it.each([
    [
      'of V8',
      `Error
        at goOn (file:///app/node_modules/taketurns/dist/node/core.cjs:468:19)
        at wasm://wasm/000115b2:wasm-function[100]:0x3352
        at Condition.wait (file:///clone/dist/node/sync.cjs:2759:50)
        at transfer (file:///app/main.js:12:8)
        at async run (file:///app/main.js:3:1)`,
      ['at transfer (file:///app/main.js:12:8)', 'at async run (file:///app/main.js:3:1)'],
    ],
    [
      'of JavaScriptCore',
      'goOn@/app/node_modules/taketurns/dist/node/core.cjs:4:9\ntransfer@/app/main.js:12:8\nmodule code@/app/main.js:3:1',
      ['transfer@/app/main.js:12:8', 'module code@/app/main.js:3:1'],
    ],
    [
      'of a program whose own bundles lie in dist/node',
      'Error: 5\n    at a (/app/node_modules/taketurns/dist/node/core.cjs:1:1)\n    at b (/app/dist/node/server.cjs:2:2)\n    at c (/app/dist/node/index.cjs:3:3)',
      ['at b (/app/dist/node/server.cjs:2:2)', 'at c (/app/dist/node/index.cjs:3:3)'],
    ],
    ['of a program without this package', 'Error: 5\n    at a (b.js:1:1)', ['at a (b.js:1:1)']],
    ['that is none', '', []],
  ])('%s begin outside of this package', (_, stack, lines) => {
    expect(linesOf(stack)).toEqual(lines);
    const [place = 'at an unknown place'] = lines;
    expect(stackText({ thread: 2, threadId: 1, name: undefined, stack: lines })).toBe(
      `thread 2 (threadId 1) waits ${place}`,
    );
  });
});

describe.skipIf(process.platform === 'win32')('the folder of the sockets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'taketurns-folder-'));
  afterEach(() => chmodSync(folder, 0o700));

  it('may be this user alone', () => {
    expect(checkFolder(folder)).toBeUndefined();
    expect(listening(folder)).toEqual([]);
    expect(addressOf(1, folder)).toBeUndefined();
    expect(listening(join(folder, 'missing'))).toEqual([]);
  });

  it('loses what processes have left that were killed, and nothing that still answers', async () => {
    const listens =
      "require('net').createServer().listen(process.argv[1] + process.pid, () => process.kill(process.pid, 9))";
    const [killed, other] = [1, 2].map(() => spawnSync(process.execPath, ['-e', listens, join(folder, 'report-')]).pid);
    // Perhaps a process in another container, which has this folder too.
    rmSync(join(folder, `report-${other}`));
    const answers = createServer((socket) => socket.on('error', () => {})).listen(join(folder, `report-${other}`));
    const asked = once(answers, 'connection');
    expect(new Set(listening(folder))).toEqual(new Set([killed, other]));
    const server = createServer();
    listen(server, folder);
    await until(() => !listening(folder).includes(killed as number), 'it is removed');
    await asked;
    expect(new Set(listening(folder))).toEqual(new Set([process.pid, other]));
    for (const one of [server, answers]) await new Promise((done) => one.close(done));
    expect(listening(folder)).toEqual([]);
  });

  it('is refused if others may look into it', () => {
    chmodSync(folder, 0o750);
    expect(() => listening(folder)).toThrow(`${folder} is open to other users (mode 750); it must have the mode 700`);
    expect(() => addressOf(1, folder)).toThrow('is open to other users');
  });

  it('is refused if it is a link, or a file', () => {
    symlinkSync(folder, join(folder, 'link'));
    expect(() => checkFolder(join(folder, 'link'))).toThrow('link is a link');
    writeFileSync(join(folder, 'file'), '');
    expect(() => checkFolder(join(folder, 'file'))).toThrow('file is no folder');
  });

  it.skipIf(process.getuid?.() !== 0)('is refused if it belongs to another user', () => {
    chownSync(folder, 12_345, 12_345);
    expect(() => listening(folder)).toThrow(`belongs to the user 12345, and this process runs as 0`);
    chownSync(folder, 0, 0);
  });
});

/** Deno, if `npm start -w runtimes` has fetched it. */
const deno = join(ROOT, 'runtimes/build/cache/@deno+linux-x64-glibc@latest/node_modules/@deno/linux-x64-glibc/deno');

describe.skipIf(!existsSync(deno))('in Deno', () => {
  const run = (...rights: string[]) => ['run', '--no-prompt', ...rights, '--node-modules-dir=manual'];
  // Deno may take the code of an earlier build from its usual folder (see runtimes/src/runtimes.ts).
  const env = { ...process.env };
  beforeAll(() => {
    env.DENO_DIR = mkdtempSync(join(tmpdir(), 'taketurns-deno-'));
  });
  afterAll(() => rmSync(env.DENO_DIR as string, { recursive: true, force: true }));

  it('a program needs no right to load the package', () => {
    const program = "import { Mutex } from 'taketurns'; new Mutex().lock(); console.log('locked'); Deno.exit();";
    const { stdout, stderr } = spawnSync(deno, [...run('--allow-read'), '-'], {
      cwd: ROOT,
      env,
      input: program,
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'locked\n', stderr: '' });
  });

  it('report mode begins by the environment variable', async () => {
    const child = spawn(deno, [...run('--allow-all'), PROGRAM, 'idle'], {
      cwd: ROOT,
      stdio: 'ignore',
      env: { ...env, TAKETURNS_REPORT_AFTER: '86400' },
    });
    try {
      const end = Date.now() + DEADLINE;
      let said = '';
      while (!/Mutex "accounts": locked, held by thread 1/.test(said) && Date.now() < end)
        said = (await ask(child.pid as number, '--stack')).out;
      expect(said).toContain('(this runtime does not tell the stack of the main thread: ');
    } finally {
      child.kill('SIGKILL');
      removeSocket(child);
    }
  });
});
