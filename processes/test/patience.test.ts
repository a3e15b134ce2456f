/**
 * A process that has stood still itself suspects no broker for this: neither while it dials, nor when it waits for an
 * answer. One that only the broker does not answer suspects it.
 */
import { closeSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Broker } from '../src/local/broker.js';
import { type Owner, SocketConnection } from '../src/local/connection.js';
import { directoryOf } from '../src/local/directory.js';
import { Folder, type Generation, newMember } from '../src/local/generations.js';
import { LOOK } from '../src/local/patience.js';
import { clock } from '../src/runtime/clock.js';
import { folder, Member } from './local-processes.js';
import { until } from './setting.js';

const PATIENCE = 300;

/** Stands still. */
const block = (ms: number): void => {
  for (const end = performance.now() + ms; performance.now() < end; );
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Watched extends Owner {
  suspicions: number;
}

function owner(): Watched {
  return {
    ...{ name: newMember(), isNeeded: true, patience: PATIENCE, dialling: undefined, suspicions: 0 },
    listens: async () => {},
    answered: () => {},
    hear: () => {},
    async suspect() {
      this.suspicions++;
    },
    over: () => {},
  };
}

/** The present generation. Its file is closed. */
function present(files: Folder): Generation {
  const generation = files.highest() as Generation;
  closeSync(generation.fd);
  return generation;
}

test.each([0, 1, 2, 3])('a process that dials and stands still after %i turns finds the broker', async (turns) => {
  const files = new Folder(folder());
  const broker = await Broker.start(files, undefined, newMember(), { ended: () => {}, joined: () => {} });
  onTestFinished(() => broker?.end());
  const dialled = SocketConnection.dial(files, present(files), owner());
  for (let at = 0; at < turns; at++) await turn();
  block(2 * PATIENCE);
  const found = await dialled;
  expect(found).toBeInstanceOf(SocketConnection);
  (found as SocketConnection).end(new Error('the test is over'));
});

test('a broker that has answered is not silent, however long the own socket takes', async () => {
  const files = new Folder(folder());
  const broker = await Broker.start(files, undefined, newMember(), { ended: () => {}, joined: () => {} });
  onTestFinished(() => broker?.end());
  let listens = (): void => {};
  const listening = new Promise<void>((resolve) => {
    listens = resolve;
  });
  const dialled = SocketConnection.dial(files, present(files), { ...owner(), listens: () => listening });
  setTimeout(listens, 2 * PATIENCE);
  const found = await dialled;
  expect(found).toBeInstanceOf(SocketConnection);
  (found as SocketConnection).end(new Error('the test is over'));
});

test('a process that only waits sends a ping a second, and rests after each answer', async () => {
  const files = new Folder(folder());
  const broker = await Broker.start(files, undefined, newMember(), { ended: () => {}, joined: () => {} });
  onTestFinished(() => broker?.end());
  let pings = 0;
  const own = { ...owner(), answered: () => pings++ };
  const connection = (await SocketConnection.dial(files, present(files), own)) as SocketConnection;
  // The test lets the timers of the connection expire.
  const timers: [ms: number, run: () => void][] = [];
  const after = vi.spyOn(clock, 'after').mockImplementation((ms, run) => timers.push([ms, run]));
  onTestFinished(() => {
    after.mockRestore();
    connection.end(new Error('the test is over'));
  });
  connection.watch();
  for (let at = 1; at <= 3; at++) {
    const [[rest, ping] = []] = timers.splice(0);
    expect(rest).toBe(1000);
    ping?.();
    await until(() => pings === at);
    const [[wait, look] = []] = timers.splice(0);
    expect(wait).toBe(LOOK);
    look?.();
    await turn();
  }
  expect(pings).toBe(3);
});

/** A broker in the thread of another process, and a connection to it. */
async function connected(): Promise<{ other: Member; own: Watched; connection: SocketConnection }> {
  const directory = folder();
  const files = new Folder(directoryOf('test', directory));
  const other = await Member.start(directory);
  const own = owner();
  const first = await SocketConnection.dial(files, present(files), own);
  await until(() => present(files).address.hasThread);
  (first as SocketConnection).end(new Error('a thread has taken over'));
  const connection = (await SocketConnection.dial(files, present(files), own)) as SocketConnection;
  onTestFinished(() => connection.end(new Error('the test is over')));
  return { other, own, connection };
}

test('both stand still and go on together: nobody is suspected', async () => {
  const { other, own, connection } = await connected();
  other.stop();
  // The signal needs a moment.
  block(20);
  const answered = connection.call(undefined);
  block(2 * PATIENCE);
  // The other process needs a moment until it answers.
  setTimeout(() => other.goOn(), 20);
  await answered;
  expect(own.suspicions).toBe(0);
});

test('a broker that does not answer is suspected, also by a process that stands still again and again', async () => {
  const { other, own, connection } = await connected();
  other.stop();
  connection.call(undefined).catch(() => {});
  while (own.suspicions === 0) {
    block(200);
    await turn();
  }
  other.goOn();
});
