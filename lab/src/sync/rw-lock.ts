/** RwLock, if `taketurns/sync` has one. */
import type { ArenaHandle } from 'taketurns';
import * as sync from 'taketurns/sync';

export interface RwLockHandle {
  readonly kind: 'RwLock';
  readonly arena: ArenaHandle;
}

export interface RwLockLike {
  readonly handle: RwLockHandle;
  lockRead(): void;
  unlockRead(): void;
  lockWrite(): void;
  unlockWrite(): void;
  inspect(): {
    readonly readers: readonly number[];
    readonly writer: number | undefined;
    readonly waiters: readonly {
      readonly thread: number;
      readonly waited: number;
      readonly wants: 'read' | 'write' | 'drain';
    }[];
  };
  dispose(): void;
}

export const RwLock = Reflect.get(sync, 'RwLock') as
  | ((new () => RwLockLike) & { from(handle: RwLockHandle): RwLockLike })
  | undefined;
