/** The kinds of objects: how each is made, used, and looked at when all is over. */
import { condition } from './condition.mjs';
import { mutex } from './mutex.mjs';
import { barrier, event, latch, once, waitGroup } from './phases.mjs';
import { rwLock } from './rw-lock.mjs';
import { semaphore } from './semaphore.mjs';

export const kinds = {
  semaphore,
  mutex,
  'rw-lock': rwLock,
  condition,
  barrier,
  latch,
  'wait-group': waitGroup,
  event,
  once,
};
