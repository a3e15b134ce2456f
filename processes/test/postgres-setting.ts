/** The tests of a file share one server of PostgreSQL. Each test has a space of its own. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findPostgres, NO_POSTGRES, type PostgresServer, startPostgres } from '../servers/postgres.js';
import type { SpaceOptions } from '../src/options.js';
import { Space } from '../src/space/space.js';
import { until } from './setting.js';

export interface PostgresSetting {
  readonly server: PostgresServer;
  /** The name of the space of this test. */
  readonly space: string;
  /** Joins the space of this test. Each call stands for another process. */
  join(options?: SpaceOptions): Promise<Space>;
  /** Joins it with this client. */
  connect(client: unknown, options?: SpaceOptions): Promise<Space>;
  /** Returns a pool that is closed at the end of the test. */
  another(options?: pg.PoolConfig): pg.Pool;
  /** Ends the backends of all clients. */
  cut(): Promise<void>;
  /** How many clients are connected. */
  connections(): Promise<number>;
}

/**
 * Runs tests on PostgreSQL. Without it the tests are reported as skipped. If CI is true, a test fails instead, so that
 * nothing is left out there unnoticed.
 * @param when `in CI`: a plain `npm test` leaves these tests out, to end soon.
 */
export function onPostgres(
  name: string,
  tests: (setting: PostgresSetting) => void,
  when: 'always' | 'in CI' = 'always',
): void {
  if (when === 'in CI' && process.env.CI !== 'true') {
    describe.skip(`PostgreSQL: ${name}, in CI alone`, () => test('CI=true npm test', () => {}));
    return;
  }
  const installed = findPostgres();
  if (!installed && process.env.CI === 'true') {
    test('PostgreSQL is installed', () => {
      throw new Error(NO_POSTGRES);
    });
    return;
  }
  const described = installed ? describe : describe.skip;
  described(installed ? `PostgreSQL ${installed.version}` : NO_POSTGRES, () => {
    describe(name, () => tests(shared()));
  });
}

/** A busy machine may give a server or a test no time for long, and then no space is to give up. */
export const PATIENT = { connectTimeout: 600_000 };

/** No lease is over during a test. */
export const LONG_LEASE = 3_600_000;

/** The server of this file, once a test needs it. */
let started: Promise<PostgresServer> | undefined;
/** The number of the test. */
let count = 0;

afterAll(async () => (await started)?.kill());

/** A setting whose server is started before the tests. */
function shared(): PostgresSetting {
  let server: PostgresServer;
  let pools: pg.Pool[] = [];
  let spaces: Space[] = [];
  const setting: PostgresSetting = {
    get server() {
      return server;
    },
    get space() {
      return `test${count}`;
    },
    join: (options) => setting.connect(setting.another(), options),
    async connect(client, options = {}) {
      const space = await Space.connect(client, { space: setting.space, ...PATIENT, ...options });
      spaces.push(space);
      return space;
    },
    another(options = {}) {
      const pool = new pg.Pool({ connectionString: server.url, ...options });
      pool.on('error', () => {});
      pools.push(pool);
      return pool;
    },
    async cut() {
      await server.query(`select pg_terminate_backend(pid) from ${CLIENTS}`);
    },
    async connections() {
      return Number((await server.query(`select count(*) as clients from ${CLIENTS}`))[0]?.clients);
    },
  };
  beforeAll(async () => {
    started ??= startPostgres();
    server = await started;
    const space = await Space.connect(setting.another(), { space: 'first', createSchema: true, ...PATIENT });
    await space.close();
  });
  afterEach(async () => {
    await Promise.all(spaces.map((space) => space.close()));
    await Promise.all(pools.map((pool) => pool.end()));
    spaces = [];
    pools = [];
    count++;
  });
  return setting;
}

/** The clients besides the one that asks. */
const CLIENTS = `pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Two processes hand a permit over, again and again: whoever holds next has waited, and has a larger token. */
export async function handOver(one: Space, other: Space, times = 4): Promise<void> {
  const [mine, yours] = [await one.semaphore('permit', 1), await other.semaphore('permit', 1)];
  let held = await mine.holdAsync();
  for (let time = 0; time < times; time++) {
    const waiting = (time % 2 === 0 ? yours : mine).holdAsync();
    await until(async () => (await mine.inspect())?.waiting === 1);
    await held.release();
    const next = await waiting;
    expect(next.token).toBeGreaterThan(held.token);
    held = next;
  }
  await held.release();
}
