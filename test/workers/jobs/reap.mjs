/** Declares another thread dead. */
import { Arena } from 'taketurns';

export default function reap({ arena, thread }) {
  return Arena.from(arena).reap(thread);
}
