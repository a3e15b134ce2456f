/**
 * Calls of many connections at once on the function of PostgreSQL, and what befalls a call: a transaction that sees old
 * rows, a cancelled statement, a promoted standby.
 */
import pg from 'pg';
import { expect, test } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { schemaText } from '../check/tables.js';
import { compareConcurrent } from '../check/tables-concurrent.js';
import { startPostgres } from '../servers/postgres.js';
import * as wire from '../src/script/wire.js';
import { WHOLE } from './each-server.js';
import { onPostgres } from './postgres-setting.js';

const CALLS = WHOLE ? 2000 : roundsInCi(150, 50);
const [ONE, TWO] = ['p000000000000001', 'p000000000000002'];
const rid = (number: number): string => wire.hex(number, 10);

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function turn(client: pg.Client, sid: string, ...operations: readonly string[]): Promise<unknown[]> {
  const text = "select taketurns.turn_1('raw', 0, $1)";
  const { rows } = await client.query(text, [[sid, '0', 'c:', ...operations]]);
  return JSON.parse(rows[0].turn_1);
}

const enter = (topmost = '0'): string[] => wire.enter(1, 10_000, 'l', '-', topmost);
const MUTEX = ['N', 'm', 'm', '1', '0', '0', '0'];

onPostgres('concurrent calls', (setting) => {
  test('do what they do one after the other, in the order of their tickets', { timeout: 600_000 }, async () => {
    expect(await compareConcurrent(setting.server.url, 'concurrent', 8, CALLS)).toBe(8 * CALLS);
  });

  test('a transaction that sees old rows is refused', async () => {
    const client = await connected(setting.server.url);
    await client.query('begin isolation level repeatable read');
    await expect(turn(client, ONE, ...enter())).rejects.toMatchObject({
      code: '25000',
      message: 'taketurns: turn_1 needs the isolation level READ COMMITTED, and this transaction has REPEATABLE READ',
    });
    await client.query('rollback');
    await client.end();
  });

  test('a call that is cancelled while it waits for its partition has done nothing', async () => {
    const [one, two, third] = await Promise.all([1, 2, 3].map(() => connected(setting.server.url)));
    for (const [client, sid] of [
      [one, ONE],
      [two, TWO],
    ] as const)
      await turn(client as pg.Client, sid, ...enter());
    await turn(one as pg.Client, ONE, ...MUTEX, 'A', 'm', '-', rid(1), wire.hex(1, 8));
    await one?.query('begin');
    await turn(one as pg.Client, ONE, 'J', '-inf');
    const cancelled = turn(two as pg.Client, TWO, 'A', 'm', '-', rid(2), wire.hex(1, 8)).catch((error) => error);
    const waits = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'";
    while ((await third?.query(waits))?.rows.length === 0);
    expect(await cancelled).toMatchObject({ code: '57014' });
    await one?.query('commit');
    const [told] = (await turn(two as pg.Client, TWO, 'I', 'm', '9', '', '')) as [[string, string[]]];
    expect(told[0]).toMatch(/ 0 0 0 0$/);
    expect(told[1]).toEqual([]);
    for (const client of [one, two, third]) await client?.end();
  });

  test('a promoted standby has another history, its tickets leap, and holders keep what they hold', {
    timeout: 120_000,
  }, async () => {
    const primary = await startPostgres();
    const client = await connected(primary.url);
    await client.query(schemaText());
    await turn(client, ONE, ...enter());
    await turn(client, TWO, ...enter());
    const [, held] = await turn(client, ONE, ...MUTEX, 'A', 'm', '-', rid(1), wire.hex(1, 8));
    const ticket = `${held}`.slice(2, 16);
    await turn(client, TWO, 'A', 'm', '-', rid(2), wire.hex(1, 8));
    const before = wire.beatIn((await turn(client, TWO, 'B', '-'))[0]).sign;
    const standby = await startPostgres({ of: primary });
    // The last call of the primary may be lost.
    const late = wire.beatIn((await turn(client, TWO, 'B', '-'))[0]).sign;
    expect(late.place).toBe(before.place);
    await client.end();
    await primary.kill();
    await standby.query('select pg_promote()');
    const there = await connected(standby.url);
    await turn(there, TWO, ...enter(late.ticket));
    const after = wire.beatIn((await turn(there, TWO, 'B', '-'))[0]).sign;
    expect(after.place).not.toBe(before.place);
    expect(after.ticket > late.ticket).toBe(true);
    // Who held gives back what the standby knows, and who waited gets a ticket that is larger than all that were lost.
    expect(await turn(there, ONE, 'D', 'm', rid(1), ticket, wire.hex(1, 8), '1', '-', '0', '0')).toEqual(['D']);
    const [, granted] = (await turn(there, TWO, 'S', '', rid(9), '1', rid(2)))[0] as [string, string];
    expect(granted).toMatch(/^H /);
    expect(granted.slice(2, 16) > late.ticket).toBe(true);
    await there.end();
    await standby.kill();
  });
});
