/**
 * The suite of behaviour: tests that run on all forms of a space, on one machine without a server, on a server of Redis
 * or Valkey and, in CI, on PostgreSQL. What only one form has is tested apart (`onServers` in setting.ts, `onPostgres` in
 * postgres-setting.ts, and the files local*.test.ts).
 */
import { closeSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { afterEach, describe } from 'vitest';
import { Broker } from '../src/local/broker.js';
import { directoryOf } from '../src/local/directory.js';
import { Folder, newMember } from '../src/local/generations.js';
import { readJournal } from '../src/local/journal.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';
import { onPostgres, type PostgresSetting } from './postgres-setting.js';
import { onServers } from './setting.js';

export interface Form {
  /**
   * Joins the space of this test. Each call stands for another process. Options that a space without a server does not
   * have (`lease`, `partitions`) count only on a server.
   */
  join(options?: SpaceOptions): Promise<Space>;
  /** Cuts all connections of the space. */
  cut(): Promise<void>;
  /** Lets the space lose all that it knows, and cuts all connections. */
  forget(): Promise<void>;
  /** How many objects and how many requests the space knows. */
  known(): Promise<{ readonly objects: number; readonly requests: number }>;
}

const SPACE = 'test';

/**
 * Runs tests on all forms: without a server, on a server of each kind that this run uses, or only on the first, and on
 * PostgreSQL.
 */
export function onForms(name: string, tests: (form: Form) => void, which: 'all' | 'first' = 'all'): void {
  describe(`${name}, without a server`, () => tests(local()));
  onServers(
    name,
    ({ join, another, key }) => {
      const cut = async (): Promise<void> => {
        const client = another();
        await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      };
      tests({
        join,
        cut,
        async forget() {
          await another().flushall();
          await cut();
        },
        async known() {
          const client = another();
          return { objects: await client.hlen(key('objects')), requests: await client.zcard(key('records')) };
        },
      });
    },
    which,
  );
  const onTables = (setting: PostgresSetting): void =>
    tests({
      join: setting.join,
      cut: setting.cut,
      async forget() {
        await setting.server.query(FORGET);
        await setting.cut();
      },
      async known() {
        const count = (table: string): string =>
          `(select count(*)::int from taketurns.${table} where part in (select id from taketurns.partition where space = '${setting.space}'))`;
        const [found] = await setting.server.query(`select ${count('object')} objects, ${count('request')} requests`);
        return found as unknown as { objects: number; requests: number };
      },
    });
  onPostgres(name, onTables, 'in CI');
}

const FORGET = `do $$ begin
  execute (select 'truncate ' || string_agg('taketurns.' || quote_ident(tablename), ', ') from pg_tables
    where schemaname = 'taketurns');
end $$`;

/** Spaces of this process, in a folder of their own for each test. Each of them is a member of its own. */
function local(): Form {
  let base: string | undefined;
  let spaces: Space[] = [];
  let brokers: Broker[] = [];
  const path = (): string => {
    base ??= mkdtempSync('/tmp/tt-');
    return base;
  };
  afterEach(async () => {
    await Promise.all(spaces.map((space) => space.close()));
    for (const broker of brokers) broker.end();
    if (base !== undefined) rmSync(base, { recursive: true, force: true });
    base = undefined;
    spaces = [];
    brokers = [];
  });
  return {
    async join({ lease: _, partitions: __, ...options } = {}) {
      const space = await Space.local({ space: SPACE, directory: path(), ...options });
      spaces.push(space);
      return space;
    },
    /** Another broker takes over. */
    async cut() {
      const folder = new Folder(directoryOf(SPACE, path()));
      let broker: Broker | undefined;
      while (!broker) {
        const before = folder.highest();
        broker = await Broker.start(folder, before, newMember(), { ended: () => {}, joined: () => {} });
        if (before) closeSync(before.fd);
      }
      brokers.push(broker);
    },
    /** Somebody removes the folder. */
    async forget() {
      for (const name of readdirSync(path())) rmSync(`${base}/${name}`, { recursive: true });
    },
    async known() {
      const state = readJournal(new Folder(directoryOf(SPACE, path())), Number.POSITIVE_INFINITY);
      if (typeof state === 'number') return { objects: 0, requests: 0 };
      const { objects, records } = JSON.parse(state.dump());
      return { objects: objects.length, requests: records.length };
    },
  };
}
