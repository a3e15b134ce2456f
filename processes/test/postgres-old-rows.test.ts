/** Old rows in the tables while somebody holds a snapshot: who is named, that the advice works, and what a call reads. */
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../servers/postgres.js';
import type { Space } from '../src/space/space.js';
import { onPostgres } from './postgres-setting.js';
import { sleep, until } from './setting.js';

onPostgres('a held snapshot', (setting) => {
  const { another, join } = setting;

  test('inspect tells how many old rows there are', async () => {
    const space = await join();
    const holder = await another().connect();
    await holder.query('begin isolation level repeatable read; select 1');
    const mutex = await space.mutex('x');
    const before = (await space.inspect()).oldRows;
    expect(before).toBeGreaterThanOrEqual(0);
    for (let times = 0; times < 100; times++) await (await mutex.holdAsync()).unlock();
    // The server counts from time to time.
    await until(async () => Number((await space.inspect()).oldRows) >= Number(before) + 200);
    holder.release(true);
  });

  /** How many pages were read so far. */
  const readSoFar = async (space: Space): Promise<number> => {
    // A connection tells what it has read when it runs a statement a second later.
    await sleep(1100);
    await space.inspect();
    const [row] = await setting.server.query(
      "select sum(heap_blks_hit)::int as hits from pg_statio_all_tables where schemaname = 'taketurns'",
    );
    return row?.hits as number;
  };

  test('a call reads few pages, however many old rows there are', async () => {
    const space = await join();
    const holder = await another().connect();
    await holder.query('begin isolation level repeatable read; select 1');
    const mutex = await space.mutex('x');
    const own = `where part in (select id from taketurns.partition where space = '${setting.space}')`;
    await setting.server.query(`do $$ begin for i in 1..1000 loop
      update taketurns.partition set v = v where space = '${setting.space}';
      update taketurns.session set seq = seq ${own}; update taketurns.object set free = free ${own};
    end loop; end $$`);
    const before = await readSoFar(space);
    for (let times = 0; times < 20; times++) await (await mutex.holdAsync()).unlock();
    expect(((await readSoFar(space)) - before) / 20).toBeLessThan(80);
    holder.release(true);
  });

  test('a call reads few pages, however few rows there were when its plan was made', async () => {
    const space = await join();
    const users = space.keyedRateLimiter('users', 1, 60_000);
    const act = async (at: number): Promise<void> => {
      await users.tryTake(`${at}`);
      await (await (await space.semaphore(`s${at}`, 1, { ephemeral: true })).tryHold())?.release();
    };
    for (let at = 0; at < 20; at++) await act(at);
    await space.mutex('kept');
    for (const table of ['rate', 'object']) {
      const ofSpace = `join taketurns.partition p on p.id = x.part and p.space = '${setting.space}'`;
      await setting.server.query(`create table public.many as select x.* from taketurns.${table} x ${ofSpace} limit 1;
        do $$ begin for i in 1..4000 loop
          update public.many set name = 'many' || i; insert into taketurns.${table} select * from public.many;
        end loop; end $$;
        drop table public.many`);
    }
    const before = await readSoFar(space);
    for (let at = 100; at < 120; at++) await act(at);
    expect(((await readSoFar(space)) - before) / 20).toBeLessThan(400);
  });

  describe('the warning', () => {
    beforeAll(async () => {
      await setting.server.query(`create procedure public.spend(times int) language plpgsql as
        $$ begin for i in 1..times loop perform pg_current_xact_id(); commit; end loop; end $$`);
      await setting.server.query(`create role modest login; grant usage on schema taketurns to modest;
        grant execute on all functions in schema taketurns to modest`);
    });
    const spend = (times: number) => setting.server.query(`call public.spend(${times})`);
    /** Its role has the two rights alone. */
    let modest: Space;
    beforeEach(async () => {
      const pool = another({ connectionString: setting.server.url.replace('postgres@', 'modest@') });
      modest = await setting.connect(pool);
    });
    afterEach(() => modest.close());
    const warning = async (): Promise<string | undefined> => (await modest.inspect()).warning;
    const ends = () => until(async () => (await warning()) === undefined);
    /** Begins a transaction that holds a snapshot. Returns the number of its process. */
    const hold = async (url = setting.server.url): Promise<number> => {
      const holder = new pg.Client(url);
      holder.on('error', () => {}); // it is ended
      await holder.connect();
      onTestFinished(() => holder.end());
      await holder.query('begin isolation level repeatable read');
      const { rows } = await holder.query('select pg_backend_pid() as pid');
      return rows[0].pid;
    };

    test('names a transaction that lasts long, and the advice works', async () => {
      const space = await join();
      const told = async (): Promise<string> => {
        await spend(10_001);
        return (await space.inspect()).warning as string;
      };
      await until(async () => (await told()) === undefined);
      const end = async (words: string): Promise<void> => {
        const [, advice] = /End it \((.*)\), or/s.exec(words) as RegExpExecArray;
        await setting.server.query(advice as string);
        await ends();
      };

      const pid = await hold();
      const words = await told();
      expect(words).toMatch(new RegExp(`^a transaction of process ${pid} holds a snapshot since 20.*Z, so`));
      expect(await warning()).toMatch(/^a transaction of process \d+ holds a snapshot, so/);
      await end(words);

      const preparer = await another().connect();
      await preparer.query("begin; select pg_current_xact_id(); prepare transaction 'it''s\nmine'");
      const others = await told();
      expect(others).toMatch(/^the prepared transaction it's\nmine holds a snapshot since 20.*Z, so/);
      await end(others);
      preparer.release(true);
    });

    // 300,000 transactions take long on a busy machine.
    test('names a replica and a replication slot, and the advice works', { timeout: 300_000 }, async () => {
      const args = ['-c', 'wal_receiver_status_interval=1'];
      const replica = await startPostgres({ of: setting.server, args });
      onTestFinished(() => replica.kill());
      const set = async (name: string, value: string): Promise<void> => {
        await replica.query(`alter system set ${name} = ${value}`);
        await replica.query('select pg_reload_conf()');
      };
      const holdThere = async (): Promise<number> => {
        await set('hot_standby_feedback', 'on');
        const pid = await hold(replica.url);
        await spend(100_001);
        return pid;
      };

      const pid = await holdThere();
      await until(async () =>
        /^a transaction on a replica holds.* See pg_stat_replication, pid \d+\. End it there, or set/.test(
          `${await warning()}`,
        ),
      );
      await replica.query(`select pg_terminate_backend(${pid})`);
      await ends();

      await setting.server.query("select pg_create_physical_replication_slot('spare')");
      await set('primary_slot_name', 'spare');
      await holdThere();
      await until(async () =>
        /^a transaction on the replica that uses the replication slot spare holds/.test(`${await warning()}`),
      );
      await set('hot_standby_feedback', 'off');
      await ends();

      await holdThere();
      await until(async () => (await warning()) !== undefined);
      await replica.kill();
      await until(async () => /^the replication slot spare, which no replica uses, holds/.test(`${await warning()}`));
      const [, advice] = /or drop it \((.*)\)$/.exec(`${await warning()}`) as RegExpExecArray;
      await setting.server.query(advice as string);
      await ends();
    });

    test('names no vacuum, which keeps no rows', async () => {
      await setting.server.query('create table public.large as select generate_series(1, 10000)');
      const cleaner = await another().connect();
      cleaner.on('error', () => {}); // it is ended below
      await cleaner.query('set vacuum_cost_delay = 100; set vacuum_cost_limit = 1');
      const vacuum = cleaner.query('vacuum public.large').catch(() => {});
      const seen = `from pg_stat_progress_vacuum join pg_stat_activity using (pid)
        where relid = 'public.large'::regclass and backend_xmin is not null`;
      await until(async () => (await setting.server.query(`select ${seen}`)).length === 1);
      await spend(10_001);
      expect(await warning()).toBeUndefined();
      // It has held its snapshot until now.
      const ended = `select age(backend_xmin) as age, pg_terminate_backend(pid) ${seen}`;
      expect((await setting.server.query(ended))[0]?.age).toBeGreaterThan(10_000);
      await vacuum;
      cleaner.release(true);
      await setting.server.query('drop table public.large');
    });
  });
});
