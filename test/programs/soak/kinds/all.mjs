/**
 * The kinds of objects, by the names that `--kinds` takes. The soak draws the objects of its programs from these kinds.
 * A kind has:
 *
 * - `make(shape, arena)` and `from(handle, shape, life)`, and `open(shape, arena, life)` if threads may open an object
 *   by its name;
 * - `shape(draw)`: draws the properties in which objects of the kind differ;
 * - `use(task, object)` and `useSync(task, object)`: do one thing with an object in a task, and check it. They call the
 *   library by `task.attempt`, `task.attemptSync` and `task.give`, which know what the library may throw;
 * - `wrong(context, object, lib)`: returns what is wrong with an object once all threads have ended, if anything;
 * - `mortal`: how to make and call an object that any thread may dispose of. `make(name, arena, draw)` opens it if
 *   there is a name; `calls(lib, within)` are the calls on it; `mayThrow(error)` allows errors that only this kind
 *   throws.
 *
 * Where a kind needs them, it also has:
 *
 * - `isLock`: tasks hold the object, or permits of it. A task that holds such an object waits without a limit only for
 *   another with a higher number;
 * - `haunts`: a request that was interrupted stays in line until its thread ends;
 * - `tells(object)` and `telling(lib)`: whether the object has an `onOwnerDied`, and which library object has it;
 * - `repair(life, object, lib)`: what the callback `onOwnerDied` repairs;
 * - `look(lib)`: reads properties of the object;
 * - `feed(program, object, lib)`: lets waiters go on if perhaps no thread comes that would do so;
 * - `ended(board, object, lib, life)` and `mend(lib, unsure, noted)`: give back what a dead thread has not given back;
 * - `letGo(object, lib, me, board)`: gives back what the thread may have got by a call that was interrupted;
 * - `leaves(lib)`: is called when the thread ends;
 * - `disposeOf(lib)`: disposes of the object, if that takes more than `dispose`.
 */
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
