/** Calls `locationWait` once for each key. This first call only announces the waiter and returns. */
import { Arena } from 'taketurns';
import { locationWait } from 'taketurns/algorithms';

export default function emplace({ arena: handle, keys, alternating }) {
  const arena = Arena.from(handle);
  for (const key of keys) locationWait(key, { arena, alternating });
}
