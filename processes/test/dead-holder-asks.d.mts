import type { Mutex, RwLock, Semaphore, Space } from '../src/index.js';

export interface Objects {
  readonly space: Space;
  readonly mutex: Mutex;
  readonly pool: Semaphore;
  readonly lock: RwLock;
}

export function open(space: Space): Promise<Objects>;
export function busy(objects: Objects, proof: string | undefined, first?: string): Promise<string[]>;
