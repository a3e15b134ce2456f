/** Opens shared objects of every kind from their handles. */
import * as taketurns from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import * as channel from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as p0514 from 'taketurns/p0514';
import * as sync from 'taketurns/sync';

export interface Handle {
  readonly kind: string;
}

export interface Lock {
  lock(): void;
  unlock(): void;
  tryLock?(): boolean;
}

const CLASSES = { ...taketurns, ...algorithms, ...channel, ...keyed, ...p0514, ...sync };

export function attach(handle: Handle): unknown {
  const found = CLASSES[handle.kind as keyof typeof CLASSES] as unknown as { from(handle: Handle): unknown };
  return found.from(handle);
}
