/** A function may take the signal out of its guard. The signal still looks at the clock itself. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { busy, onServers, until } from './setting.js';

const LEASE = 500;
const PROGRAM = fileURLToPath(new URL('./signal-program.mjs', import.meta.url));

function thrownBy(signal: AbortSignal): unknown {
  try {
    signal.throwIfAborted();
  } catch (error) {
    return error;
  }
  return undefined;
}

onServers(
  'the signal that runExclusive gives',
  (setting) => {
    test('says in each way that the lease was lost while the process was stopped', async () => {
      const space = await setting.join({ space: 'signal', lease: LEASE });
      const mutex = await space.mutex('m');
      const child = fork(PROGRAM, [`${setting.server.port}`, 'signal', `${LEASE}`], {
        stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'ipc'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const ended = once(child, 'exit');
      const said: string[] = [];
      child.on('message', async (text: string) => {
        if (text.includes(':')) return said.push(text);
        // The process is stopped until this test holds the mutex that the process held.
        child.kill('SIGSTOP');
        const held = await mutex.holdAsync();
        child.kill('SIGCONT');
        (child.stdio[3] as Writable).write('!');
        await until(() => said.some((line) => line.startsWith(`${text}:`)) || child.exitCode !== null);
        return held.unlock();
      });
      expect((await ended)[0]).toBe(0);
      const ways = [
        ...['aborted', 'reason', 'throwIfAborted', 'any', 'fetch', 'sleep', 'once', 'addEventListener', 'onabort'],
        ...['addAbortListener', 'listener'],
      ];
      expect(said).toEqual(ways.map((way) => `${way}: LeaseLostError`));
    });

    test.each<[string, (signal: AbortSignal) => unknown]>([
      ['aborted', (signal) => signal.aborted && signal.reason],
      ['reason', (signal) => signal.reason],
      ['throwIfAborted', thrownBy],
      ['any', (signal) => AbortSignal.any([signal]).reason],
      ['onabort', (signal) => new Promise((heard) => (signal.onabort = () => heard(signal.reason)))],
      ['a listener', (signal) => new Promise((heard) => signal.addEventListener('abort', () => heard(signal.reason)))],
    ])('says by %s that the lease was lost while the process computed', async (_, look) => {
      const space = await setting.join({ lease: LEASE });
      const mutex = await space.mutex('m');
      let said: unknown;
      const run = mutex.runExclusive(({ signal }) => {
        expect(signal.aborted).toBe(false);
        busy(0.9 * LEASE);
        const pending = look(signal);
        // What a timer tells later comes too late.
        if (pending instanceof Promise) pending.then((reason) => (said ??= reason));
        else said = pending;
        return Promise.resolve().then(() => (said ??= 'nothing'));
      });
      await expect(run).rejects.toMatchObject({ name: 'LeaseLostError' });
      expect(said).toMatchObject({ name: 'LeaseLostError' });
    });

    test('ends a request whose signal it is, also if the lease is found lost while the request begins to listen', async () => {
      const space = await setting.join({ lease: LEASE });
      const { signal } = await (await space.mutex('m')).holdAsync();
      const busyMutex = await space.mutex('busy');
      await busyMutex.holdAsync();
      const { addEventListener } = signal;
      signal.addEventListener = (...args: unknown[]) => {
        busy(0.9 * LEASE);
        Reflect.apply(addEventListener, signal, args);
      };
      await expect(busyMutex.holdAsync({ signal })).rejects.toMatchObject({ name: 'LeaseLostError' });
    });

    test('is an AbortSignal, and stays silent when the guard has given back', async () => {
      const space = await setting.join({ lease: LEASE });
      const mutex = await space.mutex('m');
      const held = await mutex.holdAsync();
      const { signal } = held;
      expect(signal).toBeInstanceOf(AbortSignal);
      expect(held.signal).toBe(signal);
      await held.unlock();
      busy(0.9 * LEASE);
      expect(signal.aborted).toBe(false);
      expect(signal.reason).toBe(undefined);
      signal.throwIfAborted();
    });
  },
  'first',
);
