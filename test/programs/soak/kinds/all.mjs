/**
 * The kinds of objects, by the names that `--kinds` takes. The soak draws the objects of its programs from these kinds.
 * Each file of this folder exports `kinds`, an object that has the kinds of the file by their names. This file reads
 * the folder, so there is no list of the files. `parts/` has what several files share. No file of the folder may import
 * this one, nor a file that does: each would wait for the other to load. A kind has:
 *
 * - `make(shape, arena)` and `from(handle, shape, life)`, and `open(shape, arena, life)` if threads may open an object
 *   by its name;
 * - `use(task, object)` and `useSync(task, object)`: do one thing with an object in a task, and check it. They call the
 *   library by `task.attempt`, `task.attemptSync` and `task.give`, which know what the library may throw;
 * - `wrong(context, object, lib)`: returns what is wrong with an object once all threads have ended, if anything.
 *
 * Where a kind needs them, it also has:
 *
 * - `shape(draw)`: draws the properties in which objects of the kind differ;
 * - `mortal`: how to make and call an object that any thread may dispose of. `make(name, arena, draw)` opens it if
 *   there is a name; `calls(lib, within)` are the calls on it; `mayThrow(error)` allows errors that only this kind
 *   throws;
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
 * - `queues`: the queues of the object, as `inspect` names them, if it has more than one;
 * - `disposeOf(lib)`: disposes of the object, if that takes more than `dispose`.
 */
import { readdirSync } from 'node:fs';

const NEEDED = ['make', 'from', 'use', 'useSync', 'wrong'];

const folder = new URL('.', import.meta.url);
const all = [];
for (const file of readdirSync(folder).sort()) {
  if (!file.endsWith('.mjs') || file === 'all.mjs') continue;
  const { kinds } = await import(new URL(file, folder).href);
  if (kinds === undefined) throw new Error(`soak/kinds/${file} exports no \`kinds\``);
  for (const [name, kind] of Object.entries(kinds)) {
    const missing = NEEDED.filter((method) => typeof kind[method] !== 'function');
    if (missing.length > 0) throw new Error(`soak/kinds/${file}: ${name} has no ${missing.join(', ')}`);
    if (all.some(([other]) => other === name)) throw new Error(`soak/kinds/${file}: another file has a ${name} too`);
    all.push([name, kind]);
  }
}

export const kinds = Object.fromEntries(all);
