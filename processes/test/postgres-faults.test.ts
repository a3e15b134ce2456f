/** Faults of PostgreSQL and of the way to it: what a process then does, and that nothing is lost and nobody overtakes. */
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { LeaseLostError } from '../src/errors.js';
import { fnv1a } from '../src/runtime/hash.js';
import { Space } from '../src/space/space.js';
import { WHOLE } from './each-server.js';
import { proxy } from './postgres-proxy.js';
import { LONG_LEASE, onPostgres, PATIENT } from './postgres-setting.js';
import { sleep, until } from './setting.js';

/** How often something is cut, killed or restarted. */
const ROUNDS = WHOLE ? 480 : 24;

/** A statement that calls the function. */
const CALL = /turn_1/;

onPostgres(
  'faults',
  (setting) => {
    const { join, another } = setting;
    const query = (text: string) => setting.server.query(text);

    /** Lets inserts into a table fail with a code, as often as `times` says. Nothing rolls a sequence back. */
    async function failing(table: string, code: string, message: string, times: number): Promise<void> {
      await query(`create sequence public.failures;
      create function public.fail() returns trigger language plpgsql as $$ begin
        if nextval('public.failures') <= ${times} then
          raise exception using errcode = '${code}', message = '${message}';
        end if;
        return null;
      end $$;
      create trigger fail after insert or update on taketurns.${table}
        for each row execute function public.fail()`);
      onTestFinished(async () => {
        await query('drop function public.fail cascade; drop sequence public.failures');
      });
    }

    const failures = async (): Promise<number> => {
      const [found] = await query('select last_value::int as last, is_called from public.failures');
      return found?.is_called ? Number(found.last) : 0;
    };

    test.each([
      ['40001', 'could not serialize access'],
      ['40P01', 'deadlock detected'],
      ['55P03', 'canceling statement due to lock timeout'],
      ['57014', 'canceling statement due to user request'],
    ])('what has done nothing runs again (%s)', async (code, message) => {
      const space = await join();
      const semaphore = await space.semaphore('x', 1);
      await failing('request', code, message, 4);
      const held = await semaphore.holdAsync();
      expect(await failures()).toBe(5);
      await held.release();
      expect(await semaphore.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });

    test.each([
      ['53100', 'could not extend file: No space left on device'],
      ['53200', 'out of memory'],
      ['54000', 'a limit is reached'],
    ])('without memory or disk space the caller hears so, and what is held stays held (%s)', async (code, message) => {
      const space = await join({ lease: LONG_LEASE });
      const kept = await (await space.mutex('kept')).holdAsync();
      const semaphore = await space.semaphore('x', 1);
      await failing('request', code, message, 1);
      await expect(semaphore.holdAsync()).rejects.toMatchObject({ code: 'OOM', message });
      const held = await semaphore.holdAsync();
      expect(kept.signal.aborted).toBe(false);
      await Promise.all([held.release(), kept.unlock()]);
    });

    test('another error reaches the caller with its code', async () => {
      const space = await join({ lease: LONG_LEASE });
      const kept = await (await space.mutex('kept')).holdAsync();
      const semaphore = await space.semaphore('x', 1);
      await failing('request', '22012', 'division by zero', 1);
      await expect(semaphore.holdAsync()).rejects.toMatchObject({ code: '22012', message: 'division by zero' });
      await (await semaphore.holdAsync()).release();
      expect(kept.signal.aborted).toBe(false);
    });

    test('calls in one statement with one that fails do not fail with it', async () => {
      const way = await proxy(setting.server.port);
      const partitions = 16;
      const space = await Space.connect(another({ connectionString: way.url }), {
        space: setting.space,
        partitions,
        ...PATIENT,
      });
      await query(`create function public.fail() returns trigger language plpgsql as $$ begin
        if new.name = 'bad' then raise exception division_by_zero; end if;
        return new;
      end $$;
      create trigger fail before insert on taketurns.request for each row execute function public.fail()`);
      onTestFinished(async () => {
        await query('drop function public.fail cascade');
      });
      const placeOf = (name: string): number => fnv1a(name) % partitions;
      const names = Array.from({ length: 12 }, (_, at) => `good ${at}`).filter(
        (name) => placeOf(name) !== placeOf('bad'),
      );
      const [bad, ...good] = await Promise.all(['bad', ...names].map((name) => space.mutex(name)));
      // While the first call waits for its partition, the others come together.
      const blocker = await another().connect();
      await blocker.query('begin; select from taketurns.partition for update');
      const looking = space.inspect();
      await until(async () => (await query("select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0);
      const failing = expect(bad?.holdAsync()).rejects.toMatchObject({ code: '22012' });
      const holding = good.map((mutex) => mutex.holdAsync());
      await new Promise(setImmediate);
      await blocker.query('commit');
      blocker.release();
      await Promise.all([looking, failing]);
      for (const held of await Promise.all(holding)) await held.unlock();
      expect(way.statements.some((text) => /"bad"/.test(text) && /"good/.test(text))).toBe(true);
      await space.close();
    });

    test.each(['too many notifications in the NOTIFY queue', 'zu viele Benachrichtigungen in NOTIFY-Schlange'])(
      'if the queue of notifications is full, a call runs without messages, and the others learn of it by their beats (%s)',
      async (message) => {
        const [one, other] = [await join(), await join()];
        const [mine, yours] = [await one.semaphore('x', 1), await other.semaphore('x', 1)];
        const held = await mine.holdAsync();
        const waiting = yours.holdAsync();
        await until(async () => (await mine.inspect())?.waiting === 1);
        // Only the commit finds out, and as long as there are messages.
        await query(`create function public.fail() returns trigger language plpgsql as $$ begin
        if current_query() ~ 'true, true\\)' then
          raise exception using errcode = '54000', message = '${message}';
        end if;
        return null;
      end $$;
      create constraint trigger fail after insert or update on taketurns.object deferrable initially deferred
        for each row execute function public.fail()`);
        onTestFinished(async () => {
          await query('drop function public.fail cascade');
        });
        await held.release();
        await (await waiting).release();
      },
    );

    test('a call that waits for its partition may be cancelled, and then runs', async () => {
      const space = await join();
      const semaphore = await space.semaphore('x', 1);
      const blocker = await another().connect();
      await blocker.query('begin; select from taketurns.partition for update');
      const holding = semaphore.holdAsync();
      const cancelled = async () => {
        const text = `select count(pg_cancel_backend(pid))::int as count from pg_stat_activity
        where wait_event_type = 'Lock' and query ~ 'turn_1'`;
        return (await query(text))[0]?.count;
      };
      for (let times = 0; times < 3; times++) await until(async () => (await cancelled()) === 1);
      await blocker.query('commit');
      blocker.release();
      await (await holding).release();
      expect(await semaphore.inspect()).toMatchObject({ free: 1, waiting: 0 });
    });

    test('a server that becomes read-only is waited for, and the way there is said', async () => {
      const space = await join();
      const troubles: string[] = [];
      space.on('trouble', ({ message }) => troubles.push(message));
      const semaphore = await space.semaphore('x', 1);
      const held = await semaphore.holdAsync();
      await query('alter database postgres set default_transaction_read_only = on');
      await setting.cut();
      await until(() => troubles.some((message) => message.startsWith('READONLY')));
      await query('begin read write; alter database postgres reset default_transaction_read_only; commit');
      await setting.cut();
      await held.release();
      await (await semaphore.holdAsync()).release();
    });

    test('a server without room for another connection is waited for', async () => {
      await query('alter database postgres connection limit 0; create role guest login');
      await query(
        'grant usage on schema taketurns to guest; grant execute on all functions in schema taketurns to guest',
      );
      const connectionString = setting.server.url.replace('postgres@', 'guest@');
      const joining = Space.connect(another({ connectionString }), { space: setting.space, ...PATIENT });
      await sleep(300);
      await query('alter database postgres connection limit -1');
      const space = await joining;
      await space.close();
      await query('drop owned by guest; drop role guest');
    });

    test.each([1, 2, 3])(
      'an answer that is lost after the commit loses no permit and grants none twice (%i)',
      async () => {
        const way = await proxy(setting.server.port);
        const space = await Space.connect(another({ connectionString: way.url }), { space: setting.space, ...PATIENT });
        const other = await join();
        const [mine, yours] = [await space.semaphore('x', 2), await other.semaphore('x', 2)];
        let last = 0n;
        for (let round = 0; round < 12; round++) {
          way.cutAnswer(CALL);
          const held = await mine.holdAsync();
          expect(held.token).toBeGreaterThan(last);
          last = held.token;
          way.cutAnswer(CALL);
          await held.release();
          await until(async () => (await yours.inspect())?.free === 2);
        }
        await space.close();
      },
    );

    test('connections that carry nothing are replaced, and who waits is served', async () => {
      const way = await proxy(setting.server.port);
      const options = { space: setting.space, lease: 2000, ...PATIENT };
      const space = await Space.connect(another({ connectionString: way.url }), options);
      const other = await join({ lease: 2000 });
      const [mine, yours] = [await space.semaphore('x', 1), await other.semaphore('x', 1)];
      for (const what of [CALL, /^listen/, /./]) {
        const held = await yours.holdAsync();
        const waiting = mine.holdAsync();
        await until(async () => (await yours.inspect())?.waiting === 1);
        expect(way.swallow(what)).toBeGreaterThan(0);
        await held.release();
        const next = await waiting;
        expect(next.token).toBeGreaterThan(held.token);
        await next.release();
        await until(async () => (await yours.inspect())?.free === 1);
      }
      await space.close();
    });

    test.each(['Pool', 'postgres'] as const)(
      'a call that waits on the server keeps its connection (%s)',
      async (kind) => {
        const way = await proxy(setting.server.port);
        const client = kind === 'Pool' ? another({ connectionString: way.url }) : postgres(way.url);
        const space = await Space.connect(client, { space: setting.space, lease: 1000, ...PATIENT });
        const mutex = await space.mutex('x');
        const holder = await another().connect();
        await holder.query('begin; select from taketurns.partition for update');
        const before = await setting.connections();
        const waiting = mutex.holdAsync();
        // The process asks again and again whether its connection is dead, each time over another one.
        await until(() => way.opened >= 8);
        expect(await setting.connections()).toBeLessThanOrEqual(before + 2);
        await holder.query('rollback');
        holder.release();
        await (await waiting).unlock();
        await space.close();
      },
    );

    test('a server that stands still for longer than the lease ends it, and who held hears so', async () => {
      const space = await join({ lease: 500 });
      const held = await (await space.mutex('x')).holdAsync();
      setting.server.pause();
      await until(() => held.signal.aborted);
      setting.server.resume();
      expect(held.signal.reason).toBeInstanceOf(LeaseLostError);
      const again = await (await space.mutex('x')).holdAsync();
      expect(again.token).toBeGreaterThan(held.token);
    });

    test('when a backend is killed the server starts again, what is held stays held, and tokens rise', async () => {
      const lease = LONG_LEASE;
      const [one, other] = [await join({ lease }), await join({ lease })];
      const failovers: number[] = [];
      other.on('failover', () => failovers.push(1));
      const [mine, yours] = [await one.mutex('x'), await other.mutex('x')];
      const held = await mine.holdAsync();
      const waiting = yours.holdAsync();
      await until(async () => (await mine.inspect())?.waiting === 1);
      const [backend] = await query(
        `select pid from pg_stat_activity where query ~ 'turn_1' and pid <> pg_backend_pid()`,
      );
      process.kill(Number(backend?.pid), 'SIGKILL');
      await until(async () => (await mine.inspect())?.waiting === 1);
      expect(held.signal.aborted).toBe(false);
      await held.unlock();
      const next = await waiting;
      expect(next.token).toBeGreaterThan(held.token);
      await next.unlock();
      await until(() => failovers.length > 0);
    });

    test('turns under cuts, kills and restarts: never two at once, tokens rise, nothing is lost', {
      timeout: 900_000,
    }, async () => {
      const ways = await Promise.all([1, 2, 3].map(() => proxy(setting.server.port)));
      const spaces = await Promise.all(
        ways.map(({ url }) => Space.connect(another({ connectionString: url }), { space: setting.space, ...PATIENT })),
      );
      let isOver = false;
      let [inside, turns, last] = [0, 0, 0n];
      const work = async (space: Space): Promise<void> => {
        const mutex = await space.mutex('register', { bypass: 0 });
        while (!isOver) {
          const held = await mutex.holdAsync();
          inside++;
          expect(inside).toBe(1);
          // The register refuses old tokens.
          expect(held.token).toBeGreaterThan(last);
          last = held.token;
          turns++;
          await sleep(1);
          inside--;
          await held.unlock();
        }
      };
      const working = spaces.flatMap((space) => [work(space), work(space)]);
      working.forEach((each) => void each.catch(() => {}));
      for (let round = 0; round < ROUNDS; round++) {
        const way = ways[round % 3];
        const before = turns;
        await until(() => turns > before + 3);
        if (round % 8 === 7) await setting.server.restart({ kill: round % 16 === 15 });
        else if (round % 3 === 0) way?.cutAnswer(CALL);
        else if (round % 3 === 1) way?.cut();
        else
          await query(
            `select pg_terminate_backend(pid) from pg_stat_activity where query ~ 'turn_1' and pid <> pg_backend_pid() limit 1`,
          );
      }
      isOver = true;
      await Promise.all(working);
      const mutex = await (spaces[0] as Space).mutex('register', { bypass: 0 });
      expect(await mutex.inspect()).toMatchObject({ free: 1, waiting: 0 });
      await Promise.all(spaces.map((space) => space.close()));
    });
  },
  'in CI',
);
