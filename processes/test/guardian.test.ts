/** Commands whose turn is a lease of a server: each ends before others can get its turn, whatever happens to `run`. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { HeldLock } from '../src/objects/hold.js';
import { fnv1a } from '../src/runtime/hash.js';
import { Lease } from '../src/session/lease.js';
import { tellRenewals } from '../src/space/space.js';
import { cli, jobs, type Running } from './commands.js';
import { onServers, until } from './setting.js';

/** Whether the process lives. A zombie does not. */
const lives = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** A command of two processes, a parent and its child, that prints their numbers. */
const two = (trap: string): string =>
  `${trap} echo $$; sh -c '${trap} echo $$; while :; do sleep 0.05; done' & wait; wait; wait; wait`;

async function pidsOf({ child }: Running): Promise<number[]> {
  let text = '';
  while (text.split('\n').length < 3) text += (await once(child.stdout as Readable, 'data'))[0];
  const pids = text.trim().split('\n').map(Number);
  onTestFinished(() => {
    for (const pid of pids) if (lives(pid)) process.kill(pid, 'SIGKILL');
  });
  return pids;
}

/** The guardian of a program, when it listens: it has a listener of SIGHUP then. */
async function guardianOf({ child }: Running): Promise<number> {
  const isIt = (pid: number): boolean => {
    try {
      const [, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (Number(parent) !== child.pid || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('guardian.'))
        return false;
      const caught = /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return (BigInt(`0x${caught}`) & 1n) === 1n;
    } catch {
      return false;
    }
  };
  let found: number | undefined;
  await until(() => {
    found = readdirSync('/proc').map(Number).find(isIt);
    return found;
  });
  return found as number;
}

let count = 0;

onServers(
  'a command with a lease',
  (setting) => {
    /** Commands of a space of their own, with a lease of two seconds. */
    const leased = () => {
      const where = ['--url', setting.server.url, '--space', `guarded ${count++}`, '--lease', '2'];
      const { run, at, hasBegun } = jobs(where);
      /** Starts a command that notes which of these processes live when it begins. */
      const next = (pids: readonly number[]): Running => {
        const notes = pids.map(
          (pid) => `grep -qs '^State:.[RSDTtI]' /proc/${pid}/status && echo ${pid} >> ${at('alive')};`,
        );
        return run('--', 'sh', '-c', `${notes.join(' ')} echo >> ${at('next.began')}`);
      };
      return { where, run, next, hasBegun: () => hasBegun('next'), noted: () => existsSync(at('alive')) };
    };

    for (const [trap, how] of [
      ['', 'ends by SIGTERM'],
      ['trap : TERM;', 'does not end by SIGTERM'],
    ] as const) {
      for (const [signal, what] of [
        ['SIGKILL', 'its program is killed'],
        ['SIGSTOP', 'its program stands still'],
      ] as const) {
        test(`${what}: a command that ${how} has ended, with all its processes, before the next one begins`, async () => {
          const { run, next, hasBegun, noted } = leased();
          const holder = run('--', 'sh', '-c', two(trap));
          const pids = await pidsOf(holder);
          const other = next(pids);
          await guardianOf(holder);
          expect(pids.map(lives)).toEqual([true, true]);
          holder.child.kill(signal);
          await until(hasBegun);
          expect(noted()).toBe(false);
          expect((await other.ended).status).toBe(0);
        });
      }

      test(`the server stands still: a command that ${how} has ended, with all its processes, before the next one begins`, async () => {
        const { run, next, noted } = leased();
        const holder = run('--', 'sh', '-c', two(trap));
        const pids = await pidsOf(holder);
        const other = next(pids);
        setting.server.pause();
        const { status, stderr } = await holder.ended.finally(() => setting.server.resume());
        expect(pids.map(lives)).toEqual([false, false]);
        expect(status).toBe(70);
        expect(stderr).toContain('taketurns-processes: the command is ended: ');
        expect((await other.ended).status).toBe(0);
        expect(noted()).toBe(false);
      });

      test(`its turn is revoked: a command that ${how} ends with all its processes`, async () => {
        const { run, where } = leased();
        const holder = run('--', 'sh', '-c', two(trap));
        const pids = await pidsOf(holder);
        const { stdout } = await cli('show', ...where);
        await cli('revoke', ...where, 'job', `${/token (\d+)/.exec(stdout)?.[1]}`);
        expect(await holder.ended).toMatchObject({ status: 70, stderr: expect.stringContaining('it was revoked') });
        expect(pids.map(lives)).toEqual([false, false]);
      });
    }

    test('it hears of the lease of its turn, and of that of no other partition', async () => {
      const space = await setting.join({ partitions: 2, lease: 500 });
      const names = ['a', 'b', 'c', 'd'];
      const held = await Promise.all(names.map(async (name) => (await space.mutex(name)).holdAsync()));
      expect(new Set(names.map((name) => fnv1a(name) % 2)).size).toBe(2);
      let told = -1;
      const renew = vi.spyOn(Lease.prototype, 'renew');
      onTestFinished(() => renew.mockRestore());
      space[tellRenewals](held[0] as HeldLock, () => told++);
      const times = (): number[] => {
        const leases = renew.mock.contexts;
        return [...new Set(leases)].map((lease) => leases.filter((each) => each === lease).length);
      };
      await until(() => times().length === 2 && Math.min(...times()) > 3);
      expect(times()).toContain(told);
      expect(held[0]?.held).toBe(true);
    });

    test('a guardian ends with its program, and a program goes on without it and says so', async () => {
      const { run, where } = leased();
      const holder = run('--', 'sh', '-c', two(''));
      const [pid = 0, child = 0] = await pidsOf(holder);
      const guardian = await guardianOf(holder);
      expect((await cli('show', ...where)).stdout).toMatch(/ sh \(pid \d+ on \S+\)(; command: pid \d+)?\n$/);
      for (const each of [pid, child]) process.kill(each, 'SIGKILL');
      expect((await holder.ended).status).toBe(128 + 9);
      await until(() => !lives(guardian));

      const alone = run('--', 'sh', '-c', two(''));
      const others = await pidsOf(alone);
      const said = once(alone.child.stderr as Readable, 'data');
      process.kill(await guardianOf(alone), 'SIGKILL');
      expect(`${await said}`).toContain('if this program is killed, the command runs on: no guardian: ');
      for (const each of others) process.kill(each, 'SIGKILL');
      expect((await alone.ended).status).toBe(128 + 9);
    });
  },
  'first',
);
