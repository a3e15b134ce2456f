// A lock of the Web Locks API, as Node has it from 24.5 on.

import * as threads from 'node:worker_threads';

export interface LockOfPromises {
  lock(): Promise<unknown>;
  unlock(): void;
}

/** The part of the Web Locks API that the row needs. The types of Node 20 lack it. */
interface LockManager {
  request(name: string, run: () => Promise<void>): Promise<void>;
}

const { locks } = threads as unknown as { locks?: LockManager };

/** Whether this runtime has the Web Locks API. */
export const hasWebLocks = locks !== undefined;

export async function webLocks(): Promise<LockManager> {
  if (locks === undefined) throw new Error(`Node ${process.versions.node} has no worker_threads.locks: 24.5 has them`);
  return locks;
}

/** A name of the Web Locks API. The lock is held until a promise settles, which `unlock` does. */
export class WebLock implements LockOfPromises {
  readonly #locks: LockManager;
  readonly #name: string;
  #release: () => void = () => {};

  constructor(locks: LockManager, name: string) {
    this.#locks = locks;
    this.#name = name;
  }

  lock(): Promise<void> {
    return new Promise((granted, failed) => {
      this.#locks
        .request(this.#name, () => {
          const released = new Promise<void>((release) => {
            this.#release = release;
          });
          granted();
          return released;
        })
        .catch(failed);
    });
  }

  unlock(): void {
    this.#release();
  }
}
