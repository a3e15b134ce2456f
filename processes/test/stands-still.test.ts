/** A process stands still for longer than a lease while it resumes its session. Then what it has read is outdated. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { onServers, until } from './setting.js';

const LEASE = 3000;
const PROGRAM = fileURLToPath(new URL('./stands-still-program.mjs', import.meta.url));

onServers(
  'who stands still while it resumes its session',
  (setting) => {
    // The grant is in the answer to the call that resumes the session, or in a message that comes before this answer.
    test.each(['the answer', 'a message'])('takes for its own no permit that %s has granted', async (by) => {
      const space = await setting.join({ space: 'still', lease: LEASE });
      const mine = await space.semaphore('db', 1);
      const held = await mine.holdAsync();
      const child = fork(PROGRAM, [`${setting.server.port}`, 'still', `${LEASE}`, by], {
        stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'ipc'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const ended = once(child, 'exit');
      const said: string[] = [];
      child.on('message', (text) => said.push(`${text}`));
      const isWaiting = async () => (await mine.inspect())?.waiting === 1;
      await until(isWaiting);

      // The child's connections are cut, and it resumes its session. Meanwhile the server grants it the permit.
      await setting.another().call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await until(() => said.includes('resumes'));
      await held.release();
      child.send('go on');
      await until(() => said.includes('stands still'));

      // The child stands still until its lease has ended and this test has the permit.
      const next = await mine.holdAsync();
      (child.stdio[3] as Writable).write('!');
      await until(async () => said.includes('granted') || (await isWaiting()));
      expect(said).toEqual(['resumes', 'stands still']);
      await next.release();
      expect((await ended)[0]).toBe(0);
      expect(said).toEqual(['resumes', 'stands still', 'granted']);
    });
  },
  'first',
);
