/** The permits of a semaphore, as its words and its queue tell them. */
import { GRANT, O_ADDED, O_INITIAL, TICKET } from '../border/numbers.js';
import type { Queue } from './elements.js';
import { View } from './view.js';

/** The permits of a semaphore. */
export interface Permits {
  /** With how many it was made, and those added since then, less those taken away. */
  readonly made: number;
  /** The number that can be taken now. */
  readonly available: number;
  /** The number that requests have taken and not given back; below 0 if more were released than taken. */
  readonly out: number;
}

/** Returns the permits of a semaphore. They are exact only while all threads rest. */
export function permitsAt(view: View, object: number, queue: Pick<Queue, 'permits' | 'cancelled'>): Permits {
  const made = view.load(object + O_INITIAL) + view.load(object + O_ADDED);
  const grant = [view.load(object + GRANT), view.load(object + GRANT + 4)] as const;
  const balance = View.difference(...grant, view.load(object + TICKET), view.load(object + TICKET + 4));
  return { made, available: Math.max(balance, 0), out: made - balance - queue.permits - queue.cancelled };
}
