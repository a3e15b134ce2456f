/** The tests of a file share one server. Each test has a space of its own. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { type Server, startServer } from '../servers/servers.js';
import type { SpaceOptions } from '../src/options.js';
import { TURN } from '../src/script/turn-source.js';
import { keysOf } from '../src/script/wire.js';
import { Space } from '../src/space/space.js';
import { onEachServer } from './each-server.js';

export interface Setting {
  readonly server: Server;
  /** Joins the space of this test. Each call stands for another process. */
  join(options?: SpaceOptions): Promise<Space>;
  /** Returns a client that is closed at the end of the test. */
  another(): Redis;
  /** The key of the space of this test. */
  key(name: string): string;
  /** Ends a session on the server, as its process ends it by `close`. The process learns that by its next call. */
  end(session: string): Promise<void>;
}

/** Runs tests on a server of each kind that this run uses, or only on the first. */
export function onServers(name: string, tests: (setting: Setting) => void, which: 'all' | 'first' = 'all'): void {
  onEachServer((binary) => {
    describe(name, () => {
      let server: Server;
      let clients: Redis[] = [];
      let spaces: Space[] = [];
      let count = 0;
      const setting: Setting = {
        get server() {
          return server;
        },
        async join(options = {}) {
          const space = await Space.connect(setting.another(), { space: `test${count}`, ...options });
          spaces.push(space);
          return space;
        },
        another() {
          const client = new Redis(server.url, { lazyConnect: true });
          client.on('error', () => {});
          clients.push(client);
          return client;
        },
        key: (key) => `tt:{test${count}.0}:${key}`,
        async end(session) {
          const { keys, channel } = keysOf(`test${count}`, 0);
          expect(await setting.another().eval(TURN.text, keys.length, ...keys, session, '0', channel, 'X')).toEqual([
            'X',
          ]);
        },
      };
      beforeAll(async () => {
        server = await startServer({ server: binary });
      });
      afterEach(async () => {
        await Promise.all(spaces.map((space) => space.close()));
        for (const client of clients) client.disconnect();
        spaces = [];
        clients = [];
        count++;
      });
      afterAll(() => server?.stop());
      tests(setting);
    });
  }, which);
}

/** Resolves when the condition holds. */
export async function until(condition: () => unknown): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Keeps the event loop busy. */
export function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Notes that something has happened, and passes it on. */
export function noting<T, W>(order: W[], what: W): (value: T) => T {
  return (value) => {
    order.push(what);
    return value;
  };
}
