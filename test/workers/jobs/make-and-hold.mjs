/** Makes a robust semaphore without a name, and takes its permit. */
import { Arena, Semaphore } from 'taketurns';

const kept = [];

export default function ({ arena }) {
  const semaphore = new Semaphore(1, { robust: true, arena: Arena.from(arena) });
  semaphore.acquire();
  kept.push(semaphore);
}
