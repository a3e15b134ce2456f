/** The installed package in special processes: in a cluster, with few rights, under a debugger, and while stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { node } from '../support/run.js';

const folder = inject('folder');
/** What a team (programs/processes/team.js) says at its end. */
const SOUND = 'lost 0,0, early 0, deaths 0,0, permits 1,0, locked false';
/** For how many milliseconds a process is stopped. The environment variable STOPPED may set another number. */
const STOPPED = Number(process.env.STOPPED ?? 1000);

describe('in node:cluster', () => {
  it('each process has its own arena, and refuses the handles of another', () => {
    expect(node(folder, 'processes/cluster.js')).toBe(
      'TypeError: Semaphore.from: the arena of the handle must be the handle of an Arena of this process, got an object ' +
        '(Object): its memory is missing; send a handle by postMessage or workerData, and not as JSON or to another ' +
        'process\n0 available\n',
    );
  });
});

describe('where Node restricts what the program may do', () => {
  const permission = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  ) as string;
  const restricted = (...flags: string[]) =>
    node(folder, '--no-warnings', permission, `--allow-fs-read=${folder}/*`, ...flags, 'processes/restricted.js');

  it('all but workers works without them', () => {
    expect(restricted()).toBe('ERR_ACCESS_DENIED\n0 deaths\n');
  });

  it('workers work, and their deaths are noticed, by --allow-worker', () => {
    expect(restricted('--allow-worker')).toBe('1 deaths\n');
  });
});

describe('threads that hand over lose nothing, and nobody is taken for dead,', () => {
  it('while a debugger pauses them', () => {
    expect(node(folder, '--inspect=0', 'processes/debugged.js')).toBe(`3 threads, ${SOUND}\n`);
  });

  it.skipIf(process.platform !== 'linux')('while their process is stopped', async () => {
    const program = spawn(process.execPath, [join(folder, 'processes/stopped.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exit = once(program, 'exit');
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
    try {
      expect((await lines.next()).value).toBe('at work');
      program.kill('SIGSTOP');
      await sleep(STOPPED);
      expect(readFileSync(`/proc/${program.pid}/stat`, 'utf8')).toMatch(/\) T /);
      program.kill('SIGCONT');
      program.stdin.end();
      expect((await lines.next()).value).toBe(SOUND);
      expect((await exit)[0]).toBe(0);
    } finally {
      program.kill('SIGKILL');
    }
  });
});
