/** What a space on PostgreSQL has besides the suite of behaviour (forms.ts): clients, rights, the tables and functions. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import postgres from 'postgres';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TABLES } from '../check/tables.js';
import { schema } from '../src/drivers/schema.js';
import type { SpaceError } from '../src/errors.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';
import { proxy } from './postgres-proxy.js';
import { handOver, LONG_LEASE, onPostgres, PATIENT } from './postgres-setting.js';
import { sleep, until } from './setting.js';

const PROGRAM = new URL('../bin/taketurns-processes.js', import.meta.url).pathname;

/** What came of a space that could not be joined. */
const refusal = (joining: Promise<Space>): Promise<SpaceError> =>
  joining.then(
    async (space) => {
      await space.close();
      throw new Error('the space was joined');
    },
    (error) => error,
  );

onPostgres('clients', (setting) => {
  const { join, connect, another } = setting;

  describe.each(['Pool', 'Client', 'postgres'] as const)('%s', (kind) => {
    const make = (url = setting.server.url) => {
      if (kind === 'Pool') return new pg.Pool({ connectionString: url });
      return kind === 'Client' ? new pg.Client(url) : postgres(url, { max: 1 });
    };

    test('two processes hand a permit over, and their connections end with them', async () => {
      const ended = () => until(async () => (await setting.connections()) === 0);
      await ended(); // those of earlier tests
      const [one, other] = [await connect(make()), await connect(make())];
      await handOver(one, other);
      expect(await setting.connections()).toBe(4);
      await one.close();
      await other.close();
      await ended();
    });

    test('names, labels and keys come back as they were', async () => {
      const label = 'a "label" \\ with $1, \'quotes\' and ü';
      const name = '\\x \'"{},\u0001n ü';
      const [one, other] = [await connect(make(), { label }), await connect(make())];
      const held = await (await one.mutex(name)).holdAsync();
      expect((await (await other.mutex(name)).inspect())?.holders).toMatchObject([{ label }]);
      const names: string[] = [];
      for await (const entry of other.objects()) names.push(entry.name);
      expect(names).toEqual([name]);
      await held.unlock();
      const users = one.keyedRateLimiter('users', 1, 60_000);
      await users.takeAsync('\u0001s');
      expect(await other.keyedRateLimiter('users', 1, 60_000).tryTake('\u0001s')).toBe(false);
      expect(await other.keyedRateLimiter('users', 1, 60_000).tryTake('\u0001')).toBe(true);
    });

    test('a process that holds nothing may end, and one that waits stays alive', async () => {
      const program = `
        import pg from 'pg';
        import postgres from 'postgres';
        import { Space } from '${new URL('../dist/node/index.mjs', import.meta.url)}';
        const [url, space] = process.argv.slice(1);
        const client = ${kind === 'postgres' ? 'postgres(url)' : `new pg.${kind}({ connectionString: url })`};
        const joined = await Space.connect(client, { space });
        const mutex = await joined.mutex('x');
        console.log('joined');
        const held = await mutex.holdAsync();
        await held.unlock();
        console.log('done');
      `;
      const held = await (await (await join()).mutex('x')).holdAsync();
      const args = ['--input-type=module', '-e', program, setting.server.url, setting.space];
      const running = promisify(execFile)(process.execPath, args, { cwd: new URL('.', import.meta.url) });
      running.catch(() => {});
      await Promise.race([once(running.child.stdout as NodeJS.EventEmitter, 'data'), running]);
      await sleep(100);
      expect(running.child.exitCode).toBeNull();
      await held.unlock();
      expect((await running).stdout).toBe('joined\ndone\n');
    });

    test('a wrong address, password or database is told', async () => {
      const away = await refusal(
        Space.connect(make('postgres://postgres@127.0.0.1:1/postgres'), { connectTimeout: 300 }),
      );
      expect(away).toMatchObject({ code: 'UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') });
      const nowhere = make(setting.server.url.replace(/postgres$/, 'nowhere'));
      expect(await refusal(Space.connect(nowhere, PATIENT))).toMatchObject({ code: '3D000' });
      const nobody = make(setting.server.url.replace('postgres@', 'nobody@'));
      expect(await refusal(Space.connect(nobody, PATIENT))).toMatchObject({ code: 'WRONGPASS' });
    });

    test('goes on when its connections were cut, and when the server was restarted', async () => {
      const lease = LONG_LEASE;
      const [one, other] = [await connect(make(), { lease }), await connect(make(), { lease })];
      const mutex = await one.mutex('kept');
      const held = await mutex.holdAsync();
      await setting.cut();
      await handOver(one, other);
      await setting.server.restart();
      await handOver(one, other);
      await setting.server.restart({ kill: true });
      await handOver(one, other);
      expect(held.signal.aborted).toBe(false);
      await held.unlock();
    });
  });

  test('the clients may differ', async () => {
    await handOver(await connect(postgres(setting.server.url)), await join());
  });

  test('a time limit in the URL of pg does not count', async () => {
    const url = `${setting.server.url}?query_timeout=1`;
    for (const make of [() => another({ connectionString: url }), () => new pg.Client(url)]) {
      const [one, other] = [await connect(make()), await connect(make())];
      const trouble: string[] = [];
      for (const space of [one, other]) space.on('trouble', ({ message }) => trouble.push(message));
      await handOver(one, other);
      expect(trouble).toEqual([]);
    }
  });

  test('the advice for another client and for wrong options', async () => {
    const pool = another();
    const others = [{}, { Client: pg.Client, query() {}, connect() {}, end() {} }];
    for (const other of others) {
      await expect(Space.connect(other, {})).rejects.toThrow(
        'a Pool or Client of pg (8.11 or later), or an instance of postgres',
      );
    }
    // As pg-native has it.
    class Native {
      connectionParameters = {};
      query(): void {}
      connect(): void {}
      end(): void {}
    }
    for (const native of [new Native(), Object.assign(new Native(), { Client: Native, options: {} })]) {
      await expect(Space.connect(native)).rejects.toThrow(
        'cannot use the clients of pg-native: give new pg.Pool(options) in place of new pg.native.Pool(options)',
      );
    }
    await expect(Space.connect(pool, { durability: { replicas: 1, timeout: 10 } })).rejects.toThrow(
      'durability must be left out with a client of PostgreSQL',
    );
    await expect(Space.connect(pool, { createschema: true } as never)).rejects.toThrow(
      'options must be of { space, lease, partitions, turn, label, connectTimeout, heartbeat, durable, createSchema, listen } (perhaps createSchema), got "createschema"',
    );
    await expect(Space.connect(pool, { durable: 1 as never })).rejects.toThrow('durable must be true or false');
    await expect(Space.connect(pool, { createSchema: 'x' as never })).rejects.toThrow(
      'createSchema must be true or false',
    );
    await expect(Space.connect(pool, { listen: {} })).rejects.toThrow('listen must be a Pool or Client of pg');
    const client = new Redis({ lazyConnect: true });
    for (const option of [{ durable: false }, { createSchema: true }, { listen: false }]) {
      await expect(Space.connect(client, option)).rejects.toThrow('with a client of PostgreSQL');
    }
  });

  test('a process listens while it holds or waits, and a moment longer', async () => {
    const one = await proxy(setting.server.port);
    const space = await connect(another({ connectionString: one.url }));
    const mutex = await space.mutex('x');
    const held = await mutex.holdAsync();
    const listens = () => one.statements.filter((text) => /^(un)?listen/.test(text)).map((text) => text.split(' ')[0]);
    expect(listens()).toEqual(['listen']);
    await held.unlock();
    await until(() => listens().length === 2);
    expect(listens()).toEqual(['listen', 'unlisten']);
    // Who waits again hears by a message, and not by the next beat.
    await handOver(space, await join());
    await handOver(await join(), space);
    expect(listens()).toEqual(['listen', 'unlisten', 'listen']);
  });

  test('a message that came before the process listened is not missed', async () => {
    const way = await proxy(setting.server.port);
    // No beat comes during the test, either.
    const lease = LONG_LEASE;
    const space = await connect(another({ connectionString: way.url }), { lease });
    const other = await join({ lease });
    const [mine, yours] = [await space.mutex('x'), await other.mutex('x')];
    await until(() => way.statements.includes('unlisten *'));
    const held = await yours.holdAsync();
    const listen = way.hold(/^listen/);
    const waiting = mine.holdAsync();
    await until(async () => (await yours.inspect())?.waiting === 1);
    await held.unlock();
    await until(async () => (await yours.inspect())?.holders.length === 1);
    listen();
    await (await waiting).unlock();
  });

  test('calls that wait go in one statement', async () => {
    const one = await proxy(setting.server.port);
    const space = await connect(another({ connectionString: one.url }), { partitions: 4 });
    const names = Array.from({ length: 16 }, (_, at) => `name ${at}`);
    const objects = await Promise.all(names.map((name) => space.mutex(name)));
    await Promise.all(objects.map((object) => object.holdAsync()));
    const from = one.statements.length;
    for (let round = 0; round < 20; round++) {
      await Promise.all(objects.map((object) => object.inspect()));
    }
    const calls = one.statements.slice(from).filter((text) => text.includes('turn_1'));
    expect(calls.some((text) => text.split('turn_1').length > 2)).toBe(true);
    // Each statement locks its partitions in ascending order, so no two processes wait for each other.
    for (const text of calls) {
      const partitions = [...text.matchAll(/turn_1\(e'[^']*', (\d+)/g)].map(([, number]) => Number(number));
      expect(partitions).toEqual(partitions.toSorted((a, b) => a - b));
    }
  });

  test('a sign of life does not wait for the calls that were made before', async () => {
    const way = await proxy(setting.server.port);
    const space = await connect(another({ connectionString: way.url }), {
      listen: false,
      lease: LONG_LEASE,
    });
    const mutex = await space.mutex('kept');
    const held = await mutex.holdAsync();
    // Nothing is answered until there are calls for many statements, and a beat behind them.
    const goOn = way.hold(/turn_1/);
    const from = way.statements.length;
    const calls: Promise<unknown>[] = [];
    for (let count = 0; count < 200; count++) {
      calls.push(mutex.inspect());
      await new Promise(setImmediate);
    }
    // Longer than the pause after which it looks for news, which is a beat.
    await sleep(700);
    goOn();
    await Promise.all(calls);
    const statements = way.statements.slice(from).filter((text) => text.includes('turn_1'));
    expect(statements.length).toBeGreaterThan(4);
    expect(statements.slice(0, 2).some((text) => text.includes('"B"'))).toBe(true);
    await held.unlock();
  });

  test('with durable: false a call does not wait for the disk, and else it does', async () => {
    await setting.server.query('alter database postgres set synchronous_commit = off');
    await setting.server.query(`create table if not exists seen(setting text);
      create or replace function see() returns trigger language plpgsql as
        $$ begin insert into public.seen values (current_setting('synchronous_commit')); return null; end $$;
      create or replace trigger see after insert on taketurns.object for each statement execute function see()`);
    await (await join()).mutex('a');
    await (await join({ durable: false })).mutex('b');
    // Behind a pooler the connections keep the settings of the role.
    const way = await proxy(setting.server.port);
    way.backend = 12345;
    await (await connect(another({ connectionString: way.url }), { listen: false })).mutex('c');
    const seen = await setting.server.query('select setting from seen');
    await setting.server.query(
      'drop table seen; drop function see cascade; alter database postgres reset synchronous_commit',
    );
    expect(seen.map(({ setting }) => setting)).toEqual(['on', 'off', 'on']);
  });
});

onPostgres('the tables and functions', (setting) => {
  const fresh = async (): Promise<string> => {
    const name = `fresh${Math.random().toString(36).slice(2)}`;
    await setting.server.query(`create database ${name}`);
    return setting.server.url.replace(/postgres$/, name);
  };

  test('without them the error says how to make them, and the advice works', async () => {
    const url = await fresh();
    const error = await refusal(Space.connect(setting.another({ connectionString: url }), PATIENT));
    expect(error).toMatchObject({ code: 'SCHEMA', message: expect.stringContaining('npx taketurns-processes sql') });
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'sql']);
    expect(stdout).toBe(await schema());
    // psql may run it again.
    for (let times = 0; times < 2; times++) await setting.server.query(stdout, new URL(url).pathname.slice(1));
    const space = await Space.connect(setting.another({ connectionString: url }), PATIENT);
    await space.close();
  });

  test('many processes may make them at once, and one does', async () => {
    const url = await fresh();
    const ways = await Promise.all(Array.from({ length: 6 }, () => proxy(setting.server.port)));
    const join = ({ url: way }: (typeof ways)[number]) =>
      Space.connect(setting.another({ connectionString: way.replace(/postgres$/, new URL(url).pathname.slice(1)) }), {
        createSchema: true,
        ...PATIENT,
      });
    const spaces = await Promise.all(ways.map(join));
    const statements = ways.flatMap((way) => way.statements);
    expect(statements.filter((text) => text.includes('create schema'))).toHaveLength(1);
    await handOver(spaces[0] as Space, spaces[1] as Space);
    await Promise.all(spaces.map((space) => space.close()));
  });

  test('the settings of the database do not matter', async () => {
    const connectionString = await fresh();
    const database = new URL(connectionString).pathname.slice(1);
    await setting.server.query(
      `create schema others;
      create function others.pg_is_in_recovery() returns boolean return true;
      create function others.set_config(text, text, boolean) returns text return null;
      create view others.pg_proc as select oid, proname, null::oid as pronamespace from pg_proc;
      create domain others.text as varchar(1);
      alter database ${database} set search_path = others, pg_catalog;
      alter database ${database} set standard_conforming_strings = off;
      alter database ${database} set backslash_quote = off;
      alter database ${database} set default_transaction_isolation = 'serializable';
      alter database ${database} set client_encoding = 'LATIN1';
      alter database ${database} set extra_float_digits = -15;
      alter database ${database} set plpgsql.extra_errors = 'all'`,
      database,
    );
    const join = (options: SpaceOptions = {}) =>
      Space.connect(setting.another({ connectionString }), {
        createSchema: true,
        ...PATIENT,
        label: "it's \\ 語",
        ...options,
      });
    const [one, other] = [await join(), await join()];
    await handOver(one, other);
    const held = await (await one.mutex("it's \\ 語")).holdAsync();
    expect((await (await other.mutex("it's \\ 語")).inspect())?.holders).toMatchObject([{ label: "it's \\ 語" }]);
    expect((await one.inspect()).sessions.map(({ label }) => label)).toEqual(["it's \\ 語", "it's \\ 語"]);
    for (const options of [{ lease: 5000 }, { partitions: 2 }]) {
      expect(await refusal(join(options))).toMatchObject({ code: 'SETTINGS' });
    }
    await held.unlock();
    await Promise.all([one.close(), other.close()]);
  });

  test.each([
    ['connection is ended', 'pg_terminate_backend'],
    ['statement is cancelled', 'pg_cancel_backend'],
  ])('if the %s meanwhile, the next connection makes them', async (_, end) => {
    const url = await fresh();
    const other = await setting.another({ connectionString: url }).connect();
    const { rows } = await other.query('select oid from pg_database where datname = current_database()');
    await other.query(`select pg_advisory_lock(${0x74_61_6b_65})`);
    const joining = Space.connect(setting.another({ connectionString: url }), { createSchema: true, ...PATIENT });
    const cut = `select ${end}(pid) from pg_locks where database = ${rows[0].oid} and not granted`;
    await until(async () => (await other.query(cut)).rows.length === 1);
    await until(async () => (await other.query(cut)).rows.length === 0);
    await other.query('select pg_advisory_unlock_all()');
    await (await joining).close();
    other.release(true);
  });

  test('rows that are restored have another history: tokens rise, and who has lost a grant hears so', async () => {
    const connectionString = await fresh();
    const database = new URL(connectionString).pathname.slice(1);
    const query = (text: string) => setting.server.query(text, database);
    const join = (options: SpaceOptions = {}) =>
      Space.connect(setting.another({ connectionString }), {
        createSchema: true,
        lease: 60_000,
        ...PATIENT,
        ...options,
      });
    const [one, other] = [await join(), await join()];
    const kept = await (await one.mutex('kept')).holdAsync();
    // A dump, and later what restores it.
    const each = (text: (table: string) => string): string => TABLES.map(text).join(';');
    await query(each((table) => `create table public.${table} as table taketurns.${table}`));
    const lost = await (await other.mutex('lost')).holdAsync();
    await query(
      `begin; ${each(
        (table) =>
          `delete from taketurns.${table}; insert into taketurns.${table} overriding system value table public.${table}`,
      )}; commit`,
    );
    const third = await join();
    const next = await (await third.mutex('lost')).holdAsync();
    expect(next.token).toBeGreaterThan(lost.token);
    const failovers: Space[] = [];
    for (const space of [one, other]) space.on('failover', () => failovers.push(space));
    await setting.cut();
    await until(() => lost.signal.aborted && failovers.length === 2);
    expect(lost.signal.reason).toMatchObject({ message: expect.stringContaining('a failover has lost the grant') });
    expect(kept.signal.aborted).toBe(false);
    await Promise.all([one, other, third].map((space) => space.close()));
  });

  test('a copy of the database has another history', async () => {
    const connectionString = await fresh();
    const [original, copy] = [new URL(connectionString).pathname.slice(1), `copy${Date.now()}`];
    const turn = async (url: string): Promise<bigint> => {
      const space = await Space.connect(setting.another({ connectionString: url }), { createSchema: true, ...PATIENT });
      const held = await (await space.mutex('x')).holdAsync();
      await space.close();
      return held.token;
    };
    const first = await turn(connectionString);
    const hasEnded = `select from pg_stat_activity where datname = '${original}'`;
    await until(async () => (await setting.server.query(hasEnded)).length === 0);
    await setting.server.query(`create database ${copy} template ${original}`);
    const last = await turn(connectionString);
    expect(last).toBeGreaterThan(first);
    expect(await turn(setting.server.url.replace(/postgres$/, copy))).toBeGreaterThan(last);
  });

  test('a vacuum that writes the rows anew leaves the history', async () => {
    const space = await setting.join({ lease: 60_000 });
    await (await space.mutex('x')).holdAsync();
    const failovers: unknown[] = [];
    space.on('failover', () => failovers.push(1));
    await setting.server.query('vacuum full taketurns.history');
    const resumed = new Promise<void>((heard) => space.on('resumed', heard));
    await setting.cut();
    await resumed;
    await (await space.mutex('y')).holdAsync();
    expect(failovers).toEqual([]);
  });

  test('a role needs USAGE and EXECUTE alone, and the error says so', async () => {
    await setting.server.query('create role clerk login');
    const connectionString = setting.server.url.replace('postgres@', 'clerk@');
    const join = () => Space.connect(setting.another({ connectionString }), { space: setting.space, ...PATIENT });
    const error = await refusal(join());
    expect(error.code).toBe('NOPERM');
    for (const [grant] of error.message.matchAll(/GRANT [^;]*"role"/g)) {
      await setting.server.query(grant.replace('"role"', 'clerk'));
    }
    const [one, other] = [await join(), await join()];
    await handOver(one, other);
    await one.rateLimiter('rate', 1, 1000);
    const direct = setting.another({ connectionString });
    for (const table of ['session', 'object', 'request', 'partition']) {
      await expect(direct.query(`select from taketurns.${table}`)).rejects.toThrow('permission denied');
    }
    await Promise.all([one.close(), other.close()]);
  });

  test('a role that may not connect hears what to grant', async () => {
    const url = await fresh();
    const database = new URL(url).pathname.slice(1);
    await setting.server.query(`create role outsider login; revoke connect on database ${database} from public`);
    const connectionString = url.replace('postgres@', 'outsider@');
    const join = (client: unknown) => refusal(Space.connect(client, PATIENT));
    for (const client of [setting.another({ connectionString }), postgres(connectionString)]) {
      const error = await join(client);
      expect(error.code).toBe('NOPERM');
      expect([...error.message.matchAll(/GRANT/g)]).toHaveLength(1);
      const [grant = ''] = /GRANT .*"role"/.exec(error.message) ?? [];
      await setting.server.query(grant.replace('"database"', database).replace('"role"', 'outsider'));
      expect(await join(client)).toMatchObject({ code: 'SCHEMA' });
      await setting.server.query(`revoke connect on database ${database} from outsider`);
    }
  });

  test('if the owner of the functions lacks a right, the error says so, and not that this role lacks it', async () => {
    const url = await fresh();
    const database = new URL(url).pathname.slice(1);
    await (await Space.connect(setting.another({ connectionString: url }), { createSchema: true, ...PATIENT })).close();
    await setting.server.query(
      'create role keeper; grant all on schema taketurns to keeper; alter function taketurns.turn_1 owner to keeper',
      database,
    );
    const error = await refusal(Space.connect(setting.another({ connectionString: url }), PATIENT));
    expect(error).toMatchObject({
      code: 'NOPERM',
      message: expect.stringMatching(/permission denied for table partition.*the same role must own the tables/),
    });
    expect(error.message).not.toContain('GRANT');
  });

  test('createSchema without the right to create says who must make them', async () => {
    const url = await fresh();
    await setting.server.query('create role poor login');
    const connectionString = url.replace('postgres@', 'poor@');
    const error = await refusal(
      Space.connect(setting.another({ connectionString }), { createSchema: true, ...PATIENT }),
    );
    expect(error).toMatchObject({ code: 'NOPERM', message: expect.stringContaining('as a role that may') });
  });

  test('a database that is not of UTF8 is refused', async () => {
    await setting.server.query('create database latin encoding LATIN1 template template0');
    const connectionString = setting.server.url.replace(/postgres$/, 'latin');
    const error = await refusal(
      Space.connect(setting.another({ connectionString }), { createSchema: true, ...PATIENT }),
    );
    expect(error).toMatchObject({ code: 'ENCODING', message: expect.stringContaining('LATIN1') });
  });
});

onPostgres('long messages', (setting) => {
  test.each(['0', 'ü', '語', '😀'])(
    'are split between two news, and each is shorter than 8,000 bytes (%s)',
    async (character) => {
      const [holder, waiter] = ['p00000000000000a', 'p00000000000000b'];
      const [channel, most] = ['long_', 120];
      const heard: string[] = [];
      const client = new pg.Client(setting.server.url);
      await client.connect();
      onTestFinished(() => client.end());
      client.on('notification', ({ payload = '' }) => heard.push(payload));
      await client.query(`listen ${channel}${waiter}`);
      const call = async (sid: string, ...operations: string[]): Promise<string[]> => {
        const text = 'select taketurns.turn_1($1, 0, $2) as reply';
        const { rows } = await client.query(text, [setting.space, [sid, '0', channel, ...operations]]);
        return JSON.parse(rows[0].reply);
      };
      const enter = ['O', '2', '1', '3600000', 'label', '-', '0'];
      const rids = Array.from({ length: most }, (_, at) => `${character.repeat(70 + (at % 7))}${at}`);
      const all = most.toString(16).padStart(8, '0');
      const object = ['N', 'x', 's', `${most}`, '0', '0', '0'];
      const answers = await call(holder, ...enter, ...object, 'A', 'x', '-', 'all', all);
      const ticket = answers.find((text) => text.startsWith('H '))?.slice(2, 16) ?? '';
      await call(waiter, ...enter, ...rids.flatMap((rid) => ['A', 'x', '-', rid, '00000001']));
      await call(holder, 'D', 'x', 'all', ticket, all, `${most}`, '-', '0', '0');
      expect(heard.length).toBeGreaterThan(1);
      for (const text of heard) expect(Buffer.byteLength(text)).toBeLessThan(8000);
      const numbers = heard.map((text) => Number(text.split(';')[0]));
      expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] as number) + at));
      const news = heard.flatMap((text) => text.slice(text.indexOf(';') + 1).split(','));
      expect(news.map((each) => each.split(':')[0])).toEqual(rids);
    },
  );
});

onPostgres('the program with PostgreSQL', (setting) => {
  test('commands take turns on it', async () => {
    const held = await (await (await setting.join()).mutex('job')).holdAsync();
    const own = ['--url', setting.server.url, '--space', setting.space];
    const program = (...args: string[]) => promisify(execFile)(process.execPath, [PROGRAM, ...args]);
    const job = ['run', '--name', 'job', ...own];
    await expect(program(...job, '--try', '--', 'true')).rejects.toMatchObject({ code: 75 });
    expect((await program('show', ...own)).stdout).toContain('job  mutex  held\n');
    await held.unlock();
    const { stdout } = await program(...job, '--', 'sh', '-c', 'echo $TAKETURNS_TOKEN');
    expect(BigInt(stdout)).toBeGreaterThan(held.token);
  });
});
