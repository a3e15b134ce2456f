/** Asks whether somebody holds: for dead-holder.test.ts, and for its processes. */

/** Opens what the holder holds. */
export const open = async (space) => ({
  space,
  mutex: await space.mutex('mutex'),
  pool: await space.semaphore('pool', 2),
  lock: await space.rwLock('lock'),
});

/**
 * Asks in every way whether somebody holds, and resolves to the answers which say so. proof: of the holder of the
 * mutex. first: the way that is asked first.
 */
export async function busy({ space, mutex, pool, lock }, proof, first = '') {
  const ways = {
    tryHold: async () => (await mutex.tryHold())?.unlock() ?? 'held',
    'tryHold of a part': async () => (await pool.tryHold())?.release() ?? 'held',
    tryRead: async () => (await lock.tryRead())?.unlock() ?? 'held',
    tryWrite: async () => (await lock.tryWrite())?.unlock() ?? 'held',
    'timeout 0': async () => (await mutex.holdAsync({ timeout: 0 })).unlock(),
    'a time-out': async () => (await mutex.holdAsync({ timeout: 1 })).unlock(),
    inspect: async () => ((await mutex.inspect())?.holders.length ? 'named' : undefined),
    validate: async () => ((await mutex.validate(proof)) ? 'valid' : undefined),
    objects: async () => {
      for await (const { name, free, max } of space.objects()) if (name === 'pool' && free < max) return 'held';
      return undefined;
    },
    sessions: async () =>
      (await space.inspect()).sessions.some(({ label }) => label === 'holder') ? 'named' : undefined,
  };
  const said = [];
  for (const way of [first, ...Object.keys(ways)]) {
    const word = await ways[way]?.().catch(({ name }) => name);
    if (word !== undefined) said.push(`${way}: ${word}`);
  }
  return said;
}
