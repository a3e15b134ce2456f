/**
 * The function of PostgreSQL (src/postgres/schema.sql) does what the script does on a server: the fixed sequences, and
 * random calls while sessions die, clocks jump and histories end. Replies, messages and data are compared after each call.
 */
import { expect, test } from 'vitest';
import { allInCi } from '../../test/support/rounds.js';
import { type Constants, FEW, USUAL } from '../check/comparing.js';
import { schemaText, Tables } from '../check/tables.js';
import {
  compareFew,
  compareFixed,
  compareFixedRates,
  compareRandom,
  compareRandomRates,
  compareSeldom,
  FEW_OF_RATES,
} from '../check/tables-calls.js';
import { ComparingTables } from '../check/tables-compared.js';
import { WHOLE } from './each-server.js';
import { onPostgres } from './postgres-setting.js';

const CALLS = WHOLE ? 10_000 : 600;

onPostgres('tables', (setting) => {
  async function compared(
    constants: Constants,
    compare: (on: ComparingTables) => Promise<void>,
  ): Promise<ComparingTables> {
    const tables = await Tables.make(setting.server.url, 'compared', schemaText(), constants);
    try {
      const on = new ComparingTables(tables, constants);
      await compare(on);
      expect(on.difference).toBeUndefined();
      return on;
    } finally {
      await tables.end();
    }
  }

  const LONG = { timeout: 600_000 };

  test('does what the script does in the fixed sequence', LONG, async () => {
    const { letters } = await compared(USUAL, compareFixed);
    expect(letters).toBe('ABDIKLNORSUX');
  });

  test('does what the script does in what other calls seldom hit', LONG, async () => {
    await compared(USUAL, compareSeldom);
  });

  test('does what the script does in a fixed sequence where each call does little', LONG, async () => {
    await compared(FEW, compareFew);
  });

  test('does what the script does in the fixed sequence of rates', LONG, async () => {
    await compared(USUAL, compareFixedRates);
  });

  test.each(allInCi([1, 2, 3], 3))('does what the script does in random calls, seed %i', LONG, async (seed) => {
    const { letters } = await compared(USUAL, (on) => compareRandom(on, seed, CALLS, USUAL));
    expect(letters).toBe('ABCDFIJKLNOPRSTUVWX');
  });

  test.each(allInCi([4, 5, 6], 3))(
    'does what the script does where each call does little, seed %i',
    LONG,
    async (seed) => {
      const { letters } = await compared(FEW, (on) => compareRandom(on, seed, CALLS, FEW));
      expect(letters).toBe('ABCDFIJKLNORSTUVWX');
    },
  );

  test.each(allInCi([1, 2, 3], 3))(
    'does what the script does in random calls on rates, seed %i',
    LONG,
    async (seed) => {
      await compared(USUAL, (on) => compareRandomRates(on, seed, CALLS));
    },
  );

  test.each(allInCi([4, 5, 6], 3))('does what the script does where rates keep little, seed %i', LONG, async (seed) => {
    const { letters } = await compared(FEW_OF_RATES, (on) => compareRandomRates(on, seed, CALLS));
    expect(letters).toBe('BEGOX');
  });
});
