import type { Job } from '../crew/worker.js';
export interface QueueOrder {
  readonly x: number;
}
export const queue: Job<QueueOrder> = async () => () => {};
