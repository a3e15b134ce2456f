/**
 * The tryLock that McsLock, ClhLock and ReciprocatingLock share. The word of such a lock is 0 while the lock is free. A
 * thread takes the free lock by a cmpxchg from 0 to the address of its node.
 */
import { ADMITTED, ANSWER_CLOSED, ANSWER_FULL, REFUSED } from '../answers';
import { GRANT, TICKET } from '../arena/words';
import { giveNode, takeNode } from './nodes';
import { holds, own } from './ownership';

/**
 * Takes the lock if it is free. Returns ADMITTED, REFUSED, ANSWER_CLOSED or ANSWER_FULL. The owner gets REFUSED even if
 * the lock is closed, since it still has to unlock the lock.
 */
export function queueTryLock(s: usize): i32 {
  if (atomic.load<i64>(s, GRANT) < 0) return holds(s) ? REFUSED : ANSWER_CLOSED;
  if (atomic.load<u32>(s, TICKET) !== 0) return REFUSED;
  const node = takeNode();
  if (node === 0) return ANSWER_FULL;
  if (atomic.cmpxchg<u32>(s, 0, node as u32, TICKET) !== 0) {
    giveNode(node);
    return REFUSED;
  }
  own(s, node);
  return ADMITTED;
}
