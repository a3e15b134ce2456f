/** The locks of the papers, and the facts about each that the tests need. */
import { ClhLock, LifoLock, McsLock, ReciprocatingLock, TicketLock, TtsLock, TwaLock } from 'taketurns/algorithms';

/** The order in which the lock admits threads that come while it is held; undefined: any order. */
type Order = 'first come' | 'last come' | undefined;

export interface LockKind {
  readonly kind: string;
  readonly Class: typeof TtsLock;
  readonly order: Order;
}

function kind(Class: unknown, order: Order): LockKind {
  return { kind: (Class as typeof TtsLock).name, Class: Class as typeof TtsLock, order };
}

export const LOCKS: readonly LockKind[] = [
  kind(TtsLock, undefined),
  kind(TicketLock, 'first come'),
  kind(TwaLock, 'first come'),
  kind(McsLock, 'first come'),
  kind(ClhLock, 'first come'),
  kind(LifoLock, 'last come'),
  // While one thread holds the lock, all others join one segment, and the last one of it comes first.
  kind(ReciprocatingLock, 'last come'),
];

/** A TwaLock whose waiters stand on chains. Other threads attach to the lock by the handle of a TwaLock. */
class ChainedTwaLock extends TwaLock {
  constructor(options: ConstructorParameters<typeof TwaLock>[0] = {}) {
    super({ ...options, waiting: 'chains' });
  }
}

export const ON_CHAINS: LockKind = { ...kind(ChainedTwaLock, 'first come'), kind: 'TwaLock on chains' };
