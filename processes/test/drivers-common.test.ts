/** What all drivers have in common, tested with a client library that the test fakes. */
import { describe, expect, test, vi } from 'vitest';
import { byCommands } from '../src/drivers/commands.ts';
import { Connections, slotOf } from '../src/drivers/connections.ts';
import { type Events, impatient } from '../src/drivers/link.ts';
import { driverOf } from '../src/drivers/recognise.ts';
import { LIST, Watched } from './drivers-suite.ts';

describe('what drivers have in common', () => {
  /** A connection. The test plays the server. */
  class Fake {
    readonly sent: { command: readonly string[]; answer(reply: unknown): void }[] = [];
    readonly events: Events;
    closed = false;

    constructor(events: Events) {
      this.events = events;
    }

    names(): (string | undefined)[] {
      return this.sent.map(({ command }) => `${command[0]} ${command.at(-1)}`);
    }
  }

  function fakes(delay: () => number | undefined = () => 1) {
    const opened: Fake[] = [];
    const watching = new Watched(
      new Connections({
        cluster: false,
        ...{ strategy: delay, connectTimeout: undefined, addresses: 1 },
        locate: async () => () => ({
          name: '',
          open(events) {
            const fake = new Fake(events);
            opened.push(fake);
            return {
              ...byCommands(
                (command, args) =>
                  new Promise((resolve, reject) => {
                    const answer = (reply: unknown) => (reply instanceof Error ? reject(reply) : resolve(reply));
                    fake.sent.push({ command: [command, ...args], answer });
                  }),
              ),
              subscribe: (channel) =>
                new Promise((answer) => fake.sent.push({ command: ['SUBSCRIBE', channel], answer })),
              unsubscribe: async () => undefined,
              keepAlive: () => undefined,
              close: () => {
                fake.closed = true;
                // As the libraries do: what is pending is rejected when the connection is closed.
                for (const { answer } of fake.sent) answer(new Error('Connection is closed.'));
              },
            };
          },
        }),
      }),
    );
    return { watching, opened };
  }

  async function ready(opened: Fake[], from = 0): Promise<[Fake, Fake]> {
    await expect.poll(() => opened.length).toBe(from + 2);
    for (const fake of opened.slice(from)) fake.events.ready();
    return opened.slice(from) as [Fake, Fake];
  }

  const NOSCRIPT = new Error('NOSCRIPT No matching script. Please use EVAL.');

  test('a call is not overtaken while it is sent again', async () => {
    const { watching, opened } = fakes();
    const [commands] = await ready(opened);
    await watching.up();
    const { driver } = watching;
    const done: string[] = [];
    const run = (name: string) => driver.run(LIST, ['k'], [name]).then(() => done.push(name));
    const first = [run('1'), run('2')];
    commands.sent[0]?.answer(NOSCRIPT);
    await new Promise(setImmediate);
    const second = [run('3')];
    expect(commands.names()).toEqual(['EVALSHA 1', 'EVALSHA 2']);
    commands.sent[1]?.answer(NOSCRIPT);
    await expect.poll(() => commands.names().slice(2)).toEqual(['EVAL 1', 'EVALSHA 2', 'EVALSHA 3']);
    commands.sent[2]?.answer('ok');
    commands.sent[3]?.answer(NOSCRIPT);
    commands.sent[4]?.answer(NOSCRIPT);
    await expect.poll(() => commands.names().slice(5)).toEqual(['EVAL 2', 'EVALSHA 3']);
    commands.sent[5]?.answer('ok');
    commands.sent[6]?.answer('ok');
    await Promise.all([...first, ...second]);
    expect(done).toEqual(['1', '2', '3']);
    await driver.close();
  });

  test('a call that was overtaken nevertheless is rejected, and the connection replaced', async () => {
    const { watching, opened } = fakes();
    const [commands] = await ready(opened);
    await watching.up();
    const results = Promise.allSettled(['1', '2', '3'].map((name) => watching.driver.run(LIST, ['k'], [name])));
    commands.sent[0]?.answer(NOSCRIPT);
    commands.sent[1]?.answer('ran');
    commands.sent[2]?.answer(NOSCRIPT);
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(commands.closed).toBe(true);
    expect(commands.sent.length).toBe(3);
    expect(watching.downs).toEqual([expect.stringContaining('forgotten the script')]);
    await expect.poll(() => opened.length).toBe(3);
    opened[2]?.events.ready();
    await watching.up(2);
    await watching.driver.close();
  });

  test.each([
    ['commands', 0],
    ['messages', 1],
  ] as const)('the probe replaces a dead connection for %s, and stays open', async (_, dead) => {
    const { watching, opened } = fakes();
    const pair = await ready(opened);
    await watching.up();
    const { driver } = watching;
    driver.probe('k', new Error('silent'));
    await expect.poll(() => opened.length).toBe(3);
    const [probe, alive] = [opened[2] as Fake, pair[1 - dead] as Fake];
    alive.sent[0]?.answer('PONG');
    probe.events.ready();
    await expect.poll(() => probe.names()).toEqual(['ping ping']);
    probe.sent[0]?.answer('PONG');
    await watching.up(2);
    expect(watching.downs).toEqual(['silent']);
    expect(opened.map(({ closed }) => closed)).toEqual([dead === 0, dead === 1, false]);
    // The replacement carries what the dead connection carried.
    const call = dead === 0 ? driver.run(LIST, ['k'], ['1']) : driver.ping?.('k');
    probe.sent[1]?.answer('carried');
    expect(await call).toBe('carried');
    expect(opened.length).toBe(3);
    await driver.close();
  });

  test('each silence has an error of its own, which a user may change', async () => {
    const silence = () => new Promise<Error>((late) => impatient(new Promise<never>(() => {}), late, 1));
    const first = await silence();
    first.message = 'changed';
    expect((await silence()).message).toBe('the server does not answer');
  });

  test('a server that takes no writes any more is left', async () => {
    const { watching, opened } = fakes();
    const [commands, messages] = await ready(opened);
    await watching.up();
    const call = watching.driver.run(LIST, ['k'], ['1']);
    commands.sent[0]?.answer(new Error("READONLY You can't write against a read only replica."));
    await expect(call).rejects.toThrow('READONLY');
    expect([commands.closed, messages.closed]).toEqual([true, true]);
    await ready(opened, 2);
    await watching.up(2);
    await watching.driver.close();
  });

  test('up is called when the subscriptions are confirmed, and not before', async () => {
    const { watching, opened } = fakes();
    const [, messages] = await ready(opened);
    await watching.up();
    const heard: string[] = [];
    const listening = watching.driver.listen('c', (message) => heard.push(message));
    messages.sent[0]?.answer(undefined);
    await listening;
    messages.events.lost(new Error('cut'));
    expect(watching.downs).toEqual(['cut']);
    await expect.poll(() => opened.length).toBe(3);
    opened[2]?.events.ready();
    await expect.poll(() => opened[2]?.names()).toEqual(['SUBSCRIBE c']);
    await new Promise(setImmediate);
    expect(watching.ups).toBe(1);
    opened[2]?.sent[0]?.answer(undefined);
    await watching.up(2);
    opened[2]?.events.message('c', 'hello');
    expect(heard).toEqual(['hello']);
    await watching.driver.close();
  });

  test('a connection that is lost while it is subscribed rejects the listener', async () => {
    const { watching, opened } = fakes();
    const [, messages] = await ready(opened);
    await watching.up();
    const listening = watching.driver.listen('c', () => undefined);
    messages.events.lost(new Error('cut'));
    await expect(listening).rejects.toThrow('cut');
    await expect.poll(() => opened.length).toBe(3);
    opened[2]?.events.ready();
    await watching.up(2);
    expect(opened[2]?.sent).toEqual([]);
    await watching.driver.close();
  });

  test('a lost connection is opened again under fake timers', async () => {
    const { watching, opened } = fakes();
    const [commands] = await ready(opened);
    await watching.up();
    const { setTimeout: start } = globalThis;
    // `expect.poll` would let the fake timers expire.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      commands.events.lost(new Error('cut'));
      for (let n = 0; opened.length < 3 && n < 1000; n++) await new Promise((resolve) => start(resolve, 1));
      expect(opened.length).toBe(3);
    } finally {
      vi.useRealTimers();
    }
    await watching.driver.close();
  });

  test('a strategy that wants no more attempts is heeded', async () => {
    const { watching, opened } = fakes(() => undefined);
    const [commands] = await ready(opened);
    await watching.up();
    commands.events.lost(new Error('cut'));
    await new Promise(setImmediate);
    expect(opened.length).toBe(2);
    await expect(watching.driver.run(LIST, ['k'], [])).rejects.toThrow('not connected: cut');
    await watching.driver.close();
  });

  test('slots are those of the specification', () => {
    // The examples of the specification: 123456789 has the CRC 31C3, and only the first pair of braces counts, unless
    // this pair is empty.
    expect(slotOf('123456789')).toBe(0x31c3 % 16384);
    expect(slotOf('{user1000}.following')).toBe(slotOf('user1000'));
    expect(slotOf('foo{}{bar}')).not.toBe(slotOf('bar'));
    expect(slotOf('foo{{bar}}zap')).toBe(slotOf('{bar'));
    expect(slotOf('foo{bar}{zap}')).toBe(slotOf('bar'));
  });

  test('a driver is taken as it is, and anything else refused', () => {
    const { watching } = fakes();
    expect(driverOf(watching.driver)).toBe(watching.driver);
    void watching.driver.close();
    for (const value of [undefined, null, 1, 'redis://', {}, new Map(), { duplicate() {} }]) {
      expect(() => driverOf(value as never)).toThrow(TypeError);
    }
    const sentinel = { duplicate() {}, sendCommand() {}, sSubscribe() {}, getMasterNode() {}, getSentinelNode() {} };
    expect(() => driverOf(sentinel as never)).toThrow('for Sentinel one of ioredis');
    // A client with the methods of node-redis 4. Its connections end by other methods than those of node-redis 5.
    const four = { duplicate() {}, sendCommand() {}, sSubscribe() {}, disconnect() {}, quit() {} };
    expect(() => driverOf(four as never)).toThrow('redis (5 or later)');
  });
});
