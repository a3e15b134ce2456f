/** The locks of the papers, and what their tests must know of each. */
import { TicketLock, TtsLock, TwaLock } from 'taketurns/algorithms';

/** In which order those are admitted who come while the lock is held; undefined: any. */
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
];
