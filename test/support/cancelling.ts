/** Requests that cancel for a test, and the tombstones that they leave. */
import type { Semaphore } from 'taketurns';
import { at, type Memory } from './memory.js';
import { type Settling, watch } from './settled.js';

export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

export const tombstones = (memory: Memory) => memory.standing.filter((state) => state === at('TOMBSTONE')).length;

/** A promise that may be aborted. */
export interface Request extends Settling<number> {
  abort(reason?: unknown): void;
}

export function ask(semaphore: Semaphore, n: number, label = n, log: number[] = []): Request {
  const controller = new AbortController();
  const settling = watch(semaphore.acquireAsync(n, { signal: controller.signal }), label, log);
  return Object.assign(settling, { abort: (reason?: unknown) => controller.abort(reason) });
}
