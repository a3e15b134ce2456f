/** The texts of the errors and of the warning of a mutex. `at` says where the mutex is. */
import type { Core } from '../border/core.js';
import { MOST_WAITERS } from '../border/numbers.js';
import { disposedError, reference, type SharedObject } from '../objects/shared-object.js';
import { threadText } from '../objects/thread-text.js';
import {
  ArenaFullError,
  DisposedError,
  described,
  noRoom,
  SelfDeadlockError,
  selfDeadlock,
} from '../runtime/errors.js';

/** The error of a request that found the arena full, or the queue of the mutex full. */
export function full(core: Core, at: number): ArenaFullError {
  return core.waitersOf(at) < MOST_WAITERS ? noRoom(core) : new ArenaFullError('520,192 requests wait already');
}

/** The error of an unlock by a thread that is not the owner. */
export function notOwner(mutex: SharedObject<'Mutex'>, core: Core, at: number): Error {
  const owner = core.ownerOf(at);
  const who = owner === 0 ? 'nobody is' : `${threadText(core, owner)} is`;
  return new Error(`Mutex.unlock: this thread is not the owner of ${mutex[described]()}, ${who}`);
}

/** Says, for a TimeoutError, what a request waited for that has left the queue. */
export function wanted(mutex: SharedObject<'Mutex'>): string {
  const { membership, address } = mutex[reference];
  const { core } = membership;
  const owner = core.ownerOf(address);
  const who = owner ? `${threadText(core, owner)} has it` : 'free';
  return `${mutex[described]()} (${who}, ${core.waitersOf(address)} waiting)`;
}

/** The calls that block for a mutex. */
export type Blocking = 'lock' | 'hold' | 'waitForUnlock';

/** The error of a thread that would wait for itself, because it is the owner or a promise of it waits. */
export function ofItself(mutex: SharedObject<'Mutex'>, method: Blocking, isOwner: boolean): SelfDeadlockError {
  const call = `Mutex.${method}`;
  const lock = mutex[described]();
  const instead = `${method}Async()`;
  return isOwner
    ? selfDeadlock(call, `this thread has ${lock}`, 'code that has it must unlock first, or not lock again', instead)
    : new SelfDeadlockError(
        `${call}: a promise of this thread waits for ${lock}, so this thread would wait for itself: await ${instead}`,
      );
}

export const NESTED =
  'Mutex: a function of runExclusive asks for the same lock. If it awaits the lock, it waits for itself: do not lock ' +
  'again in the function, or give a timeout';

/**
 * Throws the error of a promise that has not got the lock, for the reason of the cancelled request or for another. A
 * DisposedError that is not this reason becomes the error of the mutex, which then lets go of the shared object.
 */
export function refuse(mutex: SharedObject<'Mutex'>, error: unknown, reason: unknown): never {
  throw error === reason || !(error instanceof DisposedError) ? error : mutex[disposedError]();
}
