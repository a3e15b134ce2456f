/** `node --import taketurns/report`: programs that hang, and never ask for a report. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../programs/unasked.mjs', import.meta.url));
const FLAGS = ['--import', 'taketurns/report'];
const DEADLINE = 20_000;

interface Run {
  readonly flags?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program is killed when its standard error has this. */
  readonly until?: RegExp;
}

/** Runs a program, and returns what its standard error has at its end. */
function errorsOf({ flags = FLAGS, args = [], env = {}, until }: Run): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...flags, PROGRAM, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE);
    let errors = '';
    child.stderr.on('data', (data) => {
      errors += data;
      if (until?.test(errors)) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      resolve(errors);
    });
  });
}

describe('report mode', () => {
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
