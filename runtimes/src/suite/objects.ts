/** Shared objects by their handles, of every kind. */
import { Mutex, Semaphore } from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import { AtomicSemaphore, BinarySemaphore, CountingSemaphore } from 'taketurns/p0514';

export interface Handle {
  readonly kind: string;
}

export interface Lock {
  lock(): void;
  unlock(): void;
  tryLock?(): boolean;
}

const CLASSES = { ...algorithms, Mutex, Semaphore, AtomicSemaphore, BinarySemaphore, CountingSemaphore };

export function attach(handle: Handle): unknown {
  const found = CLASSES[handle.kind as keyof typeof CLASSES] as unknown as { from(handle: Handle): unknown };
  return found.from(handle);
}
