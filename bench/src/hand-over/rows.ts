// The rows of the hand-over benchmark. To add a row, add an entry.

import { scriptRow } from '../benchmarks.js';
import { SemaphoreAsLock } from '../rows/locks.js';
import { native, type Row, type ScriptRow } from '../rows/row.js';
import type { LockLike, SemaphoreLike } from '../rows/subjects.js';
import { BareWaitNotify } from './bare.js';

/** The floors: a bare hand-over by wait and notify of the runtime, and by those of the operating system. */
export const BARE = 'bare wait/notify';
export const NATIVE_BARE = 'bare futex';

/** Takes a semaphore of semabench as a lock. */
function asLock(name: string): ScriptRow<LockLike> {
  const row = scriptRow('semaphores', name) as ScriptRow<SemaphoreLike>;
  const { kind, family, share } = row;
  const join = async (shared: unknown) => ({
    subject: new SemaphoreAsLock((await row.join(shared)).subject),
  });
  return { kind, name, family, share, join };
}

export const HAND_OVERS: readonly Row[] = [
  scriptRow('locks', 'Mutex'),
  asLock('Semaphore'),
  asLock('BinarySemaphore'),
  asLock('TwaSemaphore'),
  scriptRow('locks', 'js-barging'),
  {
    kind: 'script',
    name: BARE,
    family: 'JavaScript',
    share: async () => ({ shared: BareWaitNotify.share() }),
    join: async (words) => ({ subject: new BareWaitNotify(words as Int32Array) }),
  } satisfies ScriptRow<LockLike>,
  native('pthread_mutex'),
  native('sem_t'),
  native('twa-futex'),
  native(NATIVE_BARE, 'bare-futex'),
];

export function handOverRow(name: string): ScriptRow<LockLike> {
  const row = HAND_OVERS.find((candidate) => candidate.name === name);
  if (row?.kind !== 'script') throw new Error(`no script row of hand-over is called ${name}`);
  return row as ScriptRow<LockLike>;
}
