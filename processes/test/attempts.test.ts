/** The attempts to enter a session: what the process itself has not read yet is no silence of the server. */
import { MessageChannel } from 'node:worker_threads';
import { expect, type Mock, test, vi } from 'vitest';
import { AnswerTimes } from '../src/drivers/answer-times.js';
import { SilentError } from '../src/drivers/link.js';
import { clock } from '../src/runtime/clock.js';
import { type Entering, tryToEnter } from '../src/session/attempts.js';
import { busy, until } from './setting.js';

/** With this patience an answer counts as late. */
const PATIENCE = 250;

interface Entrance {
  readonly probe: Mock<(key: string, error: Error) => void>;
  readonly noted: (string | undefined)[];
  readonly attempts: number;
}

/** Tries to enter until `enter` resolves. `lost` rejects when the driver has found a dead connection. */
async function entering(
  enter: (answered: (sentAt: number) => void, lost: Promise<never>) => Promise<void>,
  { isDead = true, begun = () => {} }: { isDead?: boolean; begun?(entrance: Omit<Entrance, 'attempts'>): void } = {},
): Promise<Entrance> {
  let lose: (error: Error) => void = () => {};
  const probe = vi.fn((_key: string, error: Error) => {
    if (isDead) lose(error);
  });
  const noted: (string | undefined)[] = [];
  let attempts = 0;
  let isEntering = true;
  const answers = new AnswerTimes(1000);
  expect(answers.patience).toBe(PATIENCE);
  const around = {
    ...{ clock, answers, driver: { probe }, whenConnected: async () => {} },
    note: (trouble?: Error) => noted.push(trouble?.message),
  };
  const session = {
    around: around as never,
    channel: 'c:',
    isNeeded: true,
    watchedAt: Infinity,
    get isEntering() {
      return isEntering;
    },
    era: 0,
    async enterOnce(answered: (sentAt: number) => void) {
      attempts++;
      const lost = new Promise<never>((_, reject) => {
        lose = reject;
      });
      lost.catch(() => {});
      await enter(answered, lost);
      isEntering = false;
    },
    refuse: () => {},
  } satisfies Entering;
  begun({ probe, noted });
  await tryToEnter(session);
  return { probe, noted, attempts };
}

/** An answer that is there, and that the process reads when it next looks for messages. */
function arrived(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const read = new Promise<void>((resolve) => port1.once('message', () => resolve()));
  port2.postMessage('answer');
  return read.finally(() => port1.close());
}

test('an answer that came while the process was busy counts', async () => {
  const { probe, attempts } = await entering(async () => {
    const answer = arrived();
    busy(2 * PATIENCE);
    await answer;
  });
  expect(attempts).toBe(1);
  expect(probe).not.toHaveBeenCalled();
});

test('so does one after which the server has more time', async () => {
  const { probe, attempts } = await entering(async (answered) => {
    const answer = arrived();
    busy(2 * PATIENCE);
    await answer;
    answered(clock.now());
    const next = arrived();
    busy(2 * PATIENCE);
    await next;
  });
  expect(attempts).toBe(1);
  expect(probe).not.toHaveBeenCalled();
});

test('when no answer comes, the connections are probed, and the next attempt follows if one is dead', async () => {
  let isFirst = true;
  const { probe, noted, attempts } = await entering(async (_, lost) => {
    if (!isFirst) return;
    isFirst = false;
    await lost;
  });
  expect(attempts).toBe(2);
  expect(probe).toHaveBeenCalledExactlyOnceWith('c:', expect.any(SilentError));
  expect(noted).toEqual(Array(2).fill(new SilentError().message));
});

test('an attempt does not fail because the server is slow', async () => {
  let entrance: Omit<Entrance, 'attempts'> | undefined;
  const { attempts } = await entering(
    async (answered) => {
      const sentAt = clock.now();
      await until(() => (entrance?.probe.mock.calls.length ?? 0) > 1);
      answered(sentAt);
    },
    {
      isDead: false,
      begun(given) {
        entrance = given;
      },
    },
  );
  expect(attempts).toBe(1);
  // A user who changes one of these errors does not change the others.
  const [[, first] = [], [, second] = []] = entrance?.probe.mock.calls ?? [];
  expect(first).not.toBe(second);
  expect(first?.stack).toContain('attempts');
  expect(entrance?.noted).toEqual([...Array(2).fill(new SilentError().message), undefined]);
});
