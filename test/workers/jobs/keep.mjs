/** Attaches to objects, and keeps them for as long as the thread lives. */
import { Semaphore } from 'taketurns';

const kept = [];

export default function keep({ handles }) {
  for (const handle of handles) kept.push(Semaphore.from(handle));
}
