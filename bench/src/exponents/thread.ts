// A thread that blocks on one object until it is let go, and says so.

import { parentPort, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';
import { Event, Latch } from 'taketurns/sync';

export interface ThreadOrder {
  kind: 'Semaphore' | 'Mutex' | 'Latch' | 'Event';
  handle: unknown;
}

const { kind, handle } = workerData as ThreadOrder;
try {
  if (kind === 'Semaphore') Semaphore.from(handle as never).acquire();
  else if (kind === 'Latch') Latch.from(handle as never).wait();
  else if (kind === 'Event') Event.from(handle as never).wait();
  else {
    const mutex = Mutex.from(handle as never);
    mutex.lock();
    mutex.unlock();
  }
} catch {
  // It has been cancelled, or disposed of.
}
parentPort?.postMessage('done');
