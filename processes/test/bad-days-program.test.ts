/** A program of a bad day: every rejection reaches somebody, and the process ends by itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { onServers } from './setting.js';

onServers(
  'a program with strict rejections',
  (setting) => {
    test('hears of every error, and ends', async () => {
      const program = fileURLToPath(new URL('./bad-days-program.mjs', import.meta.url));
      const { port, pid } = setting.server;
      const child = spawn(process.execPath, ['--unhandled-rejections=strict', program, `${port}`, `${pid}`]);
      const output: string[] = [];
      const errors: string[] = [];
      child.stdout.on('data', (text) => output.push(`${text}`));
      child.stderr.on('data', (text) => errors.push(`${text}`));
      const [code] = await once(child, 'exit');
      expect(errors.join('')).toBe('');
      expect(code).toBe(0);
      const said = output.join('').trim().split('\n');
      const each = (name: string) =>
        [
          'time-out: TimeoutError',
          'aborted: Error',
          'cancelled: CancelledError',
          'time-out without a server: TimeoutError',
          'lost: LeaseLostError',
          'repair: Error',
          'free: 1 1',
          'closed: DisposedError',
          'closed: DisposedError',
          'after the close: DisposedError',
          'opened after the close: DisposedError',
          'inspected after the close: DisposedError',
        ].map((line) => `${name}, ${line}`);
      expect(said).toEqual([
        'no server: SpaceError UNREACHABLE',
        'wrong password: SpaceError WRONGPASS',
        expect.stringMatching(/^no module: Error ERR_MODULE_NOT_FOUND$/),
        'a beating client without a server: SpaceError UNREACHABLE',
        ...each('ioredis'),
        ...each('node-redis'),
      ]);
    });
  },
  'first',
);
