/** That the benchmark runs, and counts what it says it counts. Its times are not looked at. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Crew, measureCrowd } from '../build/processes/bench/crowd.js';
import { largestBypass } from '../build/processes/bench/overtaking.js';
import { onServers } from './setting.js';

const CLI = fileURLToPath(new URL('../build/processes/bench/cli.js', import.meta.url));

test.each([
  [[], 0],
  [[1], 0],
  [[1, 2, 3, 4], 0],
  [[2, 1], 1],
  [[4, 3, 2, 1], 3],
  [[2, 3, 1, 5, 6, 4], 2],
  [[5, 5, 5], 0],
])('of requests granted in the order %j the most overtaken is overtaken by %i', (places, expected) => {
  expect(largestBypass(places)).toBe(expected);
});

onServers(
  'benchmark',
  (setting) => {
    test('commands, messages and order of hand-overs are counted', async () => {
      const crew = new Crew(2);
      const measure = (subject: string, more = {}) =>
        measureCrowd(setting.server, crew, {
          subject,
          connectionsEach: 2,
          clientsEach: 1,
          seconds: 0.2,
          warmUp: 0.05,
          ...more,
        });
      try {
        const ours = await measure('Semaphore');
        expect(ours.handOvers).toBeGreaterThan(4);
        expect(ours.commands).toBeCloseTo(2, 1);
        expect(ours.messages).toBeLessThanOrEqual(1);
        expect(ours.bypass).toBe(0);
        const together = await measure('Semaphore, using');
        expect(together.commands).toBeLessThan(2);
        const herd = await measure('herd');
        expect(herd.commands).toBeGreaterThanOrEqual(2);
        expect(herd.messages).toBeCloseTo(4, 0);
        for (const subject of ['redis-semaphore', 'redlock', 'poll']) {
          const polling = await measure(subject);
          expect(polling.handOvers, subject).toBeGreaterThan(4);
          expect(polling.commands, subject).toBeGreaterThanOrEqual(2);
          expect(polling.messages, subject).toBe(0);
        }
        const bare = await measure('bare messages');
        expect(bare.commands).toBeCloseTo(1, 1);
        expect(bare.messages).toBeCloseTo(1, 0);
        const passing = await measure('Mutex', { clientsEach: 4, bypass: 16 });
        expect(passing.commands).toBeLessThan(ours.commands);
      } finally {
        await crew.end();
      }
    });

    test('one command prints tables and targets, and writes what it has measured', () => {
      const folder = mkdtempSync(join(tmpdir(), 'taketurns-bench-'));
      try {
        const file = join(folder, 'results.json');
        const options = ['--quick', '--seconds', '0.05', '--parts', 'pairs', '--server', setting.server.binary.name];
        const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...options, '--json', file], {
          encoding: 'utf8',
        });
        expect(status, stderr).toBe(0);
        expect(stdout).toContain('uncontended pair, one client');
        expect(stdout).toContain('to reach, medians of the rounds of this run');
        const { runs } = JSON.parse(readFileSync(file, 'utf8'));
        const calls = Object.fromEntries(runs.map(({ row, figures }: Run) => [row, figures.calls]));
        expect(calls['Semaphore, awaited']).toBeCloseTo(2, 1);
        expect(calls['Semaphore, 100 in a tick']).toBeLessThan(0.1);
        expect(calls['SET NX PX and delete script']).toBeCloseTo(1, 1);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  },
  'first',
);

interface Run {
  row: string;
  figures: { calls: number };
}
