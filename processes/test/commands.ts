/** Commands that take turns: the program `taketurns-processes`, as a shell runs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { Space } from '../src/space/space.js';
import { folder } from './local-processes.js';

export const CLI = fileURLToPath(new URL('../bin/taketurns-processes.js', import.meta.url));

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** What a process has written so far. */
export function textsOf(child: { readonly stdout: Readable; readonly stderr: Readable }) {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  return texts;
}

export const start = (...line: readonly string[]): Running => startWith([], line);

/** flags: of Node. */
export function startWith(flags: readonly string[], line: readonly string[]): Running {
  const child = spawn(process.execPath, [...flags, CLI, ...line], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const texts = textsOf(child);
  return { child, ended: once(child, 'close').then(([status]) => ({ status, ...texts })) };
}

export const cli = (...line: readonly string[]): Promise<Ended> => start(...line).ended;

/** A folder, and how to start a command with the name `job`: in it, or where these options say. */
export function jobs(where?: readonly string[]) {
  const directory = folder();
  const runs = ['run', '--name', 'job', ...(where ?? ['--directory', directory])];
  const run = (...line: readonly string[]): Running => start(...runs, ...line);
  /** A script that makes the file `NAME.began`, waits for the file `NAME.end`, and then exits with a status. */
  const script = (name: string, status = 0): string =>
    `echo >> ${at(`${name}.began`)}; while [ ! -e ${at(`${name}.end`)} ]; do sleep 0.02; done; exit ${status}`;
  /** Starts this script. */
  const job = (name: string, status = 0, ...options: readonly string[]): Running =>
    run(...options, '--', 'sh', '-c', script(name, status));
  const at = (file: string): string => join(directory, file);
  const hasBegun = (name: string): boolean => existsSync(at(`${name}.began`));
  const end = (name: string): void => writeFileSync(at(`${name}.end`), '');
  const looker = async (): Promise<Space> => {
    const space = await Space.local({ directory });
    onTestFinished(() => space.close());
    return space;
  };
  return { directory, at, runs, run, script, job, hasBegun, end, looker };
}

export const waitingFor = async (space: Space): Promise<number | undefined> =>
  (await (await space.mutex('job')).inspect())?.waiting;
