/** Opens a KeyedMutex by its name, and holds keys for ever. */
import { Arena } from 'taketurns';
import { KeyedMutex } from 'taketurns/keyed';

const forEver = [];

export default function ({ name, arena, keys }) {
  const table = KeyedMutex.open(name, { arena: Arena.from(arena) });
  forEver.push(table, ...keys.map((key) => table.hold(key)));
}
