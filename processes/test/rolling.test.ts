/**
 * A rolling upgrade: processes of two versions of the package run side by side on a real server, and take turns. The
 * versions are builds of this package whose script and format are changed in a copy.
 *
 *     shipped      format 2
 *     script       format 2, with another script
 *     reads3       writes format 2 and reads format 3, in which the state of an object begins with `!`
 *     writes3      writes and reads format 3
 *     writes10     writes and reads format 10
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keysOf } from '../src/script/wire.js';
import { onServers, type Setting } from './setting.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('rolling-program.mjs', import.meta.url));

type Change = readonly [from: string, to: string];

const READS_3: Change = [
  "local text = call('HGET', OBJECTS, name)",
  "local text = call('HGET', OBJECTS, name)\n  if text and sub(text, 1, 1) == '!' then text = sub(text, 2) end",
];
const WRITES_3: Change = ["call('HSET', OBJECTS, name, text_of(o))", "call('HSET', OBJECTS, name, '!' .. text_of(o))"];

const VERSIONS: Record<
  string,
  { readonly written: number; readonly read: number; readonly script: readonly Change[] }
> = {
  script: { written: 2, read: 2, script: [['local answers = {}', 'local answers = {} -- another script']] },
  reads3: { written: 2, read: 3, script: [READS_3] },
  writes3: { written: 3, read: 3, script: [READS_3, WRITES_3] },
  writes10: { written: 10, read: 10, script: [READS_3, WRITES_3] },
};

function changed(text: string, [from, to]: Change): string {
  expect(text.split(from)).toHaveLength(2);
  return text.replace(from, () => to);
}

/** Makes a build in a folder of its own. */
function build(folder: string, name: string): void {
  const { written, read, script } = VERSIONS[name] as (typeof VERSIONS)[string];
  const path = join(folder, name);
  cpSync(join(PACKAGE, 'build/src'), join(path, 'src'), { recursive: true });
  const own = join(path, 'processes/src');
  cpSync(join(PACKAGE, 'build/processes/src'), own, { recursive: true });
  const wire = readFileSync(join(own, 'script/wire.js'), 'utf8');
  const formats = changed(wire, ['written: 2, read: 2 }', `written: ${written}, read: ${read} }`]);
  writeFileSync(join(own, 'script/wire.js'), formats);
  const text = script.reduce(changed, readFileSync(join(PACKAGE, 'src/script/joined.lua'), 'utf8'));
  const sha = createHash('sha1').update(text).digest('hex');
  writeFileSync(join(own, 'script/turn-source.js'), `export const TURN = ${JSON.stringify({ text, sha })};\n`);
}

/** A process with one of the builds. */
class Process {
  readonly #child: ChildProcess;
  readonly #words: AsyncIterator<string>;

  constructor(path: string, server: string, space: string) {
    this.#child = spawn(process.execPath, [PROGRAM, pathToFileURL(path).href, server, space], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
    this.#words = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  async hears(): Promise<[word: string, more: unknown]> {
    const { value } = await this.#words.next();
    return JSON.parse(value);
  }

  tell(word: 'go' | 'close'): void {
    this.#child.stdin?.write(`${word}\n`);
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.tell('close');
    await ended;
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

onServers('a rolling upgrade', (setting: Setting) => {
  const { another } = setting;
  let folder: string;
  let count = 0;
  let space = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rolling-'));
    for (const name of Object.keys(VERSIONS)) build(folder, name);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (name: string): Process =>
    new Process(
      name === 'shipped' ? join(PACKAGE, 'dist/module/index.js') : join(folder, name, 'processes/src/index.js'),
      setting.server.url,
      space,
    );

  /** Starts a process that must not be refused. */
  async function joined(name: string): Promise<Process> {
    const process = start(name);
    expect(await process.hears()).toEqual(['ready', null]);
    return process;
  }

  /** Starts a process that must be refused, and returns why it is. */
  async function refused(name: string): Promise<unknown> {
    const [word, why] = await start(name).hears();
    expect(word).toBe('refused');
    return why;
  }

  /** All take turns at the same time. Nobody is inside besides the holder, and tokens rise. */
  async function takeTurns(...processes: Process[]): Promise<void> {
    for (const process of processes) process.tell('go');
    for (const process of processes) expect(await process.hears()).toEqual(['done', []]);
    const tokens = (await another().lrange(`${space}:tokens`, 0, -1)).map(BigInt);
    expect(tokens.length).toBeGreaterThanOrEqual(120 * processes.length);
    expect(tokens.every((token, at) => at === 0 || token > (tokens[at - 1] as bigint))).toBe(true);
  }

  test('processes with another script take turns with those of the shipped one', async () => {
    space = `rolling${count++}`;
    await takeTurns(...(await Promise.all(['shipped', 'script', 'shipped', 'script'].map(joined))));
  });

  test('a new format takes two releases, and nobody stops', async () => {
    space = `rolling${count++}`;
    const old = await Promise.all([joined('shipped'), joined('shipped')]);
    const next = await Promise.all([joined('reads3'), joined('reads3')]);
    await takeTurns(...old, ...next);
    // A process that writes what another one cannot read must wait for the end of that one.
    expect(await refused('writes3')).toMatchObject({
      code: 'SETTINGS',
      message: expect.stringContaining('writes format 3, and a process of the space'),
    });
    await takeTurns(...old, ...next);
    // One of them says that it ends, and the server finds that the other has ended.
    await old[0]?.close();
    await old[1]?.kill();
    const client = another();
    while ((await client.hget(`tt:{${space}.0}:meta`, 'reads2')) !== '0');
    const last = await Promise.all([joined('writes3'), joined('writes3')]);
    await takeTurns(...next, ...last);
    // What the data may have now, an old process cannot read, also when all others have left.
    for (const process of [...next, ...last]) await process.close();
    expect(await refused('shipped')).toMatchObject({
      code: 'SETTINGS',
      message: expect.stringContaining('have format 3, and this version of taketurns-processes reads formats up to 2'),
    });
    // One step back is possible.
    await takeTurns(await joined('reads3'), await joined('writes3'));
  });

  test('formats are compared as numbers', async () => {
    space = `rolling${count++}`;
    const old = await joined('shipped');
    expect(await refused('writes10')).toMatchObject({ message: expect.stringContaining('writes format 10') });
    await old.close();
    const ten = await joined('writes10');
    await takeTurns(ten);
    expect(await refused('writes3')).toMatchObject({
      message: expect.stringContaining('have format 10, and this version of taketurns-processes reads formats up to 3'),
    });
    await ten.close();
    expect(await refused('shipped')).toMatchObject({ message: expect.stringContaining('have format 10') });
  });

  test('a process of format 1 keeps what it has, however long it is silent, and keeps this version away', async () => {
    space = `rolling${count++}`;
    const client = another();
    const [meta = '', , , , sessions = '', leases = ''] = keysOf(space, 0).keys;
    // The label begins with digits, and the lease was scored by a clock and not by a ticket.
    await client.hset(meta, { v: 1, p: 1, lease: 30_000, ticket: 50, clock: 7, last: 1, first: 'pOLD', since: 1 });
    await client.hset(sessions, 'pOLD', '0 7 on host');
    await client.zadd(leases, 37, 'pOLD');
    const before = await client.hgetall(meta);
    expect(await refused('shipped')).toMatchObject({
      code: 'SETTINGS',
      message: expect.stringContaining('processes of taketurns-valkey 0.2.0 use the space'),
    });
    expect(await client.hgetall(meta)).toEqual(before);
    expect([await client.hget(sessions, 'pOLD'), await client.zscore(leases, 'pOLD')]).toEqual(['0 7 on host', '37']);
    // It says that it ends.
    await client.hdel(sessions, 'pOLD');
    await client.zrem(leases, 'pOLD');
    await takeTurns(await joined('shipped'));
  });

  test('dead processes of an old version keep a new format away for a lease at most', async () => {
    space = `rolling${count++}`;
    const old = await joined('shipped');
    await old.kill();
    // Whoever tries again and again comes in when the lease of the dead process is over.
    for (;;) {
      const process = start('writes3');
      const [word] = await process.hears();
      if (word === 'refused') continue;
      await takeTurns(process);
      break;
    }
  });
});
