/** The attempts to enter a session: what the process itself has not read yet is no silence of the server. */
import { MessageChannel } from 'node:worker_threads';
import { expect, type Mock, test, vi } from 'vitest';
import { type Entering, tryToEnter } from '../src/attempts.js';
import { clock } from '../src/clock.js';
import { busy } from './setting.js';

/** With a lease of so many milliseconds, the first attempt waits 250 ms for the answer. */
const LEASE = 1000;
const PATIENCE = 250;

interface Entrance {
  readonly reset: Mock<(error: Error) => void>;
  readonly attempts: number;
}

/** Tries to enter until `enter` resolves. */
async function entering(enter: (patience: () => void, reset: Promise<never>) => Promise<void>): Promise<Entrance> {
  let silent: (error: Error) => void = () => {};
  const reset = vi.fn((error: Error) => silent(error));
  let attempts = 0;
  let isEntering = true;
  const session = {
    around: { clock, lease: LEASE, driver: { reset }, whenConnected: async () => {}, note: () => {} } as never,
    isNeeded: true,
    watchedAt: Infinity,
    get isEntering() {
      return isEntering;
    },
    era: 0,
    async enterOnce(patience: () => void) {
      attempts++;
      const cut = new Promise<never>((_, reject) => {
        silent = reject;
      });
      cut.catch(() => {});
      await enter(patience, cut);
      isEntering = false;
    },
    refuse: () => {},
  } satisfies Entering;
  await tryToEnter(session);
  return { reset, attempts };
}

/** An answer that is there, and that the process reads when it next looks for messages. */
function arrived(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const read = new Promise<void>((resolve) => port1.once('message', () => resolve()));
  port2.postMessage('answer');
  return read.finally(() => port1.close());
}

test('an answer that came while the process was busy counts', async () => {
  const { reset, attempts } = await entering(async () => {
    const answer = arrived();
    busy(2 * PATIENCE);
    await answer;
  });
  expect(attempts).toBe(1);
  expect(reset).not.toHaveBeenCalled();
});

test('so does one after which the server has more time', async () => {
  const { reset, attempts } = await entering(async (patience) => {
    const answer = arrived();
    busy(2 * PATIENCE);
    await answer;
    patience();
    const next = arrived();
    busy(2 * PATIENCE);
    await next;
  });
  expect(attempts).toBe(1);
  expect(reset).not.toHaveBeenCalled();
});

test('a server that does not answer is silent: the connections are reset, and the next attempt follows', async () => {
  let isFirst = true;
  const { reset, attempts } = await entering(async (_, cut) => {
    if (!isFirst) return;
    isFirst = false;
    await cut;
  });
  expect(attempts).toBe(2);
  expect(reset).toHaveBeenCalledOnce();
});
