import type { Job } from '../crew/worker.js';
export interface BenchOrder {
  readonly x: number;
}
export const bench: Job<BenchOrder> = async () => () => {};
