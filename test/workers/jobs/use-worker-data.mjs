/** Acquires a semaphore that came as workerData, and releases it twice. */
import { workerData } from 'node:worker_threads';
import { attach } from '../attach.mjs';

export default function useWorkerData() {
  const semaphore = attach(workerData);
  semaphore.acquire();
  semaphore.release();
  semaphore.release();
}
