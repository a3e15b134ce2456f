/** Opens so many names, locks each mutex if it shall, and keeps all of them. */
import { Arena, Mutex } from 'taketurns';

const kept = [];

export default function keepNames({ arena, prefix, count, locks }) {
  const here = Arena.from(arena);
  for (let i = 0; i < count; i++) {
    const mutex = Mutex.open(`${prefix}${i}`, { arena: here });
    if (locks) mutex.lock();
    kept.push(mutex);
  }
  return kept.length;
}
