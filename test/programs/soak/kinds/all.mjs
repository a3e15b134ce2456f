/**
 * The kinds of objects, by the names that `--kinds` takes. A kind that is added here is drawn for programs. It has:
 *
 * - `make(shape, arena)`, `open(shape, arena, life)` if threads may open it by its name, and `from(handle, shape, life)`;
 * - `shape(draw)`: in what its objects differ;
 * - `use(task, object)` and `useSync(task, object)`: one thing that a task does with an object, and checks. Calls of the
 *   library are made by `task.attempt`, `task.attemptSync` and `task.give`, which know what may be thrown;
 * - `wrong(context, object, lib)`: what is wrong with an object once all threads have ended, if anything;
 * - `mortal`: how to make and call one that any thread may dispose of. `make(name, arena, draw)` opens it if there is a
 *   name; `calls(lib, within)` are the calls on it; `mayThrow(error)` allows what only this kind throws;
 *
 * and, where it needs them: `isLock` (it is held, so a task that holds one waits only for a higher one), `haunts` (a request
 * that was interrupted stays in line until its thread ends), `tells(object)` and `telling(lib)` (`onOwnerDied`),
 * `repair(life, object, lib)` (what a callback of it does), `look(lib)` (what it tells), `feed(program, object, lib)` (lets
 * those go on for whom no thread may come), `ended(board, object, lib, life)` and `mend(lib, unsure, noted)` (what a dead
 * thread has not given back), `letGo(object, lib, me, board)` (after an interrupt), `leaves(lib)` (the thread ends),
 * `disposeOf(lib)`.
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
