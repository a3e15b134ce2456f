/** What is lost, and what is not: a connection during the commit, and a server with a replica that takes over. */
import { expect, onTestFinished, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../servers/postgres.js';
import { LeaseLostError } from '../src/errors.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';
import { proxy } from './postgres-proxy.js';
import { onPostgres, PATIENT } from './postgres-setting.js';
import { until } from './setting.js';

type Way = Awaited<ReturnType<typeof proxy>>;

/** Servers start, and one is killed: that takes long on a busy machine. */
const TIMEOUT = 240_000;

onPostgres(
  'losses',
  (setting) => {
    const { another } = setting;
    const query = (text: string) => setting.server.query(text);

    /** The commits of calls wait from now on, and the returned function lets them go on. */
    const commits = {
      // What a commit checks last may take as long as it likes. If it is cut off then, nothing was done.
      'before its record is written': async () => {
        await query(`create function public.slow() returns trigger language plpgsql as
            $$ begin perform pg_advisory_xact_lock(7); return null; end $$;
          create constraint trigger slow after insert or update on taketurns.object deferrable initially deferred
            for each row execute function public.slow()`);
        const blocker = await another().connect();
        // A server that starts again ends this connection, too.
        blocker.on('error', () => {});
        await blocker.query('select pg_advisory_lock(7)');
        let isHeld = true;
        // It is called again if the server has not started again yet.
        return async () => {
          if (isHeld) blocker.release(true);
          isHeld = false;
          await query('drop function if exists public.slow cascade');
        };
      },
      // A commit waits for replicas when its record is on the disk. If it is cut off then, all was done.
      'after its record is written': async () => {
        await query("alter system set synchronous_standby_names = 'nobody'");
        await query('select pg_reload_conf()');
        const isSet = "select 1 from pg_settings where name = 'synchronous_standby_names' and setting = 'nobody'";
        await until(async () => (await query(isSet)).length > 0);
        return async () => {
          await query('alter system reset synchronous_standby_names');
          await query('select pg_reload_conf()');
        };
      },
    };
    const inCommit = `from pg_stat_activity where query ~ 'turn_1' and pid <> pg_backend_pid()
      and (wait_event = 'advisory' or wait_event = 'SyncRep')`;

    /** What ends the connection meanwhile. */
    const cuts = {
      'its client is cut off': async (way: Way) => way.cut(),
      'its backend is ended': async () => {
        await query(`select pg_terminate_backend(pid) ${inCommit}`);
      },
      'its backend is killed': async () => {
        const [backend] = await query(`select pid ${inCommit}`);
        process.kill(Number(backend?.pid), 'SIGKILL');
      },
    };

    const cases = Object.keys(commits).flatMap((moment) => Object.keys(cuts).map((what) => [moment, what] as const));
    test.each(cases)(
      'a commit that is lost %s, because %s, was done or not, and never twice',
      { timeout: TIMEOUT },
      async (moment, what) => {
        const way = await proxy(setting.server.port);
        const lease = 60_000;
        const space = await Space.connect(another({ connectionString: way.url }), {
          space: setting.space,
          lease,
          ...PATIENT,
        });
        const other = await setting.join({ lease });
        const [mine, yours] = [await space.semaphore('x', 3), await other.semaphore('x', 3)];
        const first = await mine.holdAsync();
        const cutIn = async (act: () => Promise<unknown>): Promise<unknown> => {
          const goOn = await commits[moment as keyof typeof commits]();
          const acted = act();
          await until(async () => (await query(`select 1 ${inCommit}`)).length > 0);
          await cuts[what as keyof typeof cuts](way);
          // A server of which a backend was killed starts again.
          const hasGoneOn = () =>
            goOn().then(
              () => true,
              () => false,
            );
          await until(hasGoneOn);
          return acted;
        };
        const second = (await cutIn(() => mine.holdAsync(2))) as Awaited<ReturnType<typeof mine.holdAsync>>;
        expect(second.token).toBeGreaterThan(first.token);
        expect(await yours.inspect()).toMatchObject({ free: 0, waiting: 0, holders: [{}, {}] });
        const waiting = yours.holdAsync(2);
        await until(async () => (await yours.inspect())?.waiting === 1);
        await cutIn(() => second.release());
        const next = await waiting;
        expect(next.token).toBeGreaterThan(second.token);
        expect(await yours.inspect()).toMatchObject({ free: 0, waiting: 0 });
        expect(first.signal.aborted).toBe(false);
        await Promise.all([first.release(), next.release()]);
        await until(async () => (await yours.inspect())?.free === 3);
        await space.close();
      },
    );

    /** A server, its replica, and the way by which processes come to one of them. */
    async function pair(args: string[]): Promise<{ primary: PostgresServer; replica: PostgresServer; way: Way }> {
      const primary = await startPostgres({ args });
      const replica = await startPostgres({ of: primary, args });
      onTestFinished(async () => {
        await replica.kill();
        await primary.kill();
      });
      return { primary, replica, way: await proxy(primary.port) };
    }
    const join = async ({ url }: Way, options: SpaceOptions = {}): Promise<Space> => {
      const space = await Space.connect(another({ connectionString: url }), {
        createSchema: true,
        ...PATIENT,
        ...options,
      });
      onTestFinished(() => space.close());
      return space;
    };
    /** The replica takes over, and the processes are led to it. */
    async function takeOver(primary: PostgresServer, replica: PostgresServer, way: Way): Promise<void> {
      way.lead(replica.port);
      await primary.kill();
      way.cut();
      await replica.query('select pg_promote()');
    }

    test('a replica that lacks the last grants takes over: their holders hear so, and tokens rise', {
      timeout: TIMEOUT,
    }, async () => {
      const { primary, replica, way } = await pair([]);
      const lease = 60_000;
      const [one, other] = [await join(way, { lease }), await join(way, { lease })];
      const failovers: string[] = [];
      for (const space of [one, other]) space.on('failover', () => failovers.push('failover'));
      const [kept, lost] = [await one.mutex('kept'), await one.mutex('lost')];
      const keeps = await kept.holdAsync();
      const reached = async (): Promise<boolean> => {
        const [last] = await primary.query('select pg_current_wal_lsn()::text as at');
        const [row] = await replica.query(`select pg_last_wal_replay_lsn() >= '${last?.at}' as reached`);
        return row?.reached === true;
      };
      await until(reached);
      // The replica gets no more.
      await replica.query("alter system set primary_conninfo = ''");
      await replica.query('select pg_reload_conf()');
      await until(async () => (await replica.query('select from pg_stat_wal_receiver')).length === 0);
      const loses = await lost.holdAsync();
      const before = await (await other.mutex('before')).holdAsync();
      await takeOver(primary, replica, way);
      const next = await (await other.mutex('lost')).holdAsync();
      expect(next.token).toBeGreaterThan(before.token);
      await until(() => loses.signal.aborted && before.signal.aborted && failovers.length === 2);
      expect(loses.signal.reason).toBeInstanceOf(LeaseLostError);
      expect(keeps.signal.aborted).toBe(false);
      await Promise.all([keeps.unlock(), next.unlock()]);
    });

    test('a replica for which each call waits takes over: nothing that was answered is lost', {
      timeout: TIMEOUT,
    }, async () => {
      const { primary, replica, way } = await pair(['-c', 'synchronous_standby_names=*']);
      const lease = 60_000;
      const [one, other] = [await join(way, { lease }), await join(way, { lease })];
      const [mine, yours] = [await one.semaphore('x', 100), await other.semaphore('x', 100)];
      const held = [];
      for (let i = 0; i < 20; i++) held.push(await mine.holdAsync());
      // These are under way when the server ends.
      const more = Array.from({ length: 20 }, () => yours.holdAsync());
      await takeOver(primary, replica, way);
      // The new server waits for a replica, too.
      const next = await startPostgres({ of: replica });
      onTestFinished(() => next.kill());
      held.push(...(await Promise.all(more)));
      expect(held.map(({ signal }) => signal.aborted)).toEqual(held.map(() => false));
      expect(new Set(held.map(({ token }) => token)).size).toBe(40);
      expect(await mine.inspect()).toMatchObject({ free: 60, waiting: 0 });
      await Promise.all(held.map((each) => each.release()));
      expect(await mine.inspect()).toMatchObject({ free: 100, waiting: 0 });
    });
  },
  'in CI',
);
