/**
 * Eight threads that set a watch and eight that see its changes, of which one is killed every 50 ms:
 *
 *     node test/programs/watch-chaos.mjs [seconds [seed [sets]]]
 *
 * The program runs for so many seconds, and goes on until so many calls of `set` have returned.
 * `npm run chaos -w runtimes -- --watch` runs it in other runtimes.
 *
 * Each life of a thread that sets counts its values from 0 on. A value has several numbers, which are all the same. The
 * thread says in shared memory how many of its calls have returned. A thread that reads looks at each value, and notes
 * the value of each version in shared memory. Then:
 *
 *     no value is torn, each version has one value, and nobody sees an older version than before
 *     the version counts the calls of `set` that have returned. A thread may die after its call and before it notes this,
 *     so the version may be higher by 1 for each such thread that was killed
 *     when nobody sets any more, every thread that reads comes to see the last version
 *     nobody waits in the end, and all pages are free again
 */
import process from 'node:process';
import { isMainThread, workerData } from 'node:worker_threads';
import { Arena, Semaphore } from 'taketurns';
import { acquiring, changing, numbers, select, selectAsync, Watch } from 'taketurns/channel';
import { comes, OFTEN, randomOf, Team, turn } from './workers/chaos-team.mjs';

/** The lives of threads that set, and the values that each of them sets at most. */
const LIVES = 4096;
const MOST = 2 ** 18;
/** The versions whose values are noted. */
const NOTED = 2 ** 22;
/** How many threads set, and how many read. */
const SIDE = 8;
const codec = numbers(16);

const SETS = ['set', 'setAsync', 'timed'];
const READS = ['read', 'changed', 'changedAsync', 'for', 'for await', 'timed', 'select', 'selectAsync'];

if (isMainThread) await supervise();
else if (workerData.role === 'set') await set(workerData);
else await read(workerData);

function viewsOf({ stop, set, value, seen, wrong }) {
  return {
    stop: new Int32Array(stop),
    set: new Int32Array(set),
    /** The value of each version, plus 1. */
    value: new Int32Array(value),
    /** The version that the thread at each place has seen last. */
    seen: new Int32Array(seen),
    wrong: new Int32Array(wrong),
  };
}

async function supervise() {
  const begun = Date.now();
  const [seconds = 3, seed = Date.now() % 1e6, sets = 0] = process.argv.slice(2).map(Number);
  const random = randomOf(seed);
  const arena = new Arena({ objects: 8, threads: 64, waiters: 256, slots: random(2) ? 64 : 2, bytes: 65536 });
  const watch = new Watch(new Float64Array(16).fill(-1), { codec, bytes: 128, arena });
  const never = new Semaphore(0, { arena });
  const buffers = {
    handle: watch.handle,
    never: never.handle,
    stop: new SharedArrayBuffer(4),
    set: new SharedArrayBuffer(4 * LIVES),
    value: new SharedArrayBuffer(4 * NOTED),
    seen: new SharedArrayBuffer(4 * 2 * SIDE),
    wrong: new SharedArrayBuffer(4 * 3),
  };
  const shared = viewsOf(buffers);
  let life = 0;
  const team = new Team(new URL(import.meta.url), arena, random, { set: SIDE, read: SIDE }, (role, place) => {
    if (role === 'set' && life === LIVES) return undefined;
    const ways = role === 'set' ? SETS : READS;
    Atomics.store(shared.seen, place, -1);
    return { ...buffers, way: ways[random(ways.length)], life: role === 'set' ? life++ : 0 };
  });
  const { killed, failures } = team;
  const returned = () => shared.set.reduce((sum, count) => sum + count, 0);
  const end = Date.now() + seconds * 1000;
  await team.killUntil(() => Date.now() >= end && returned() >= sets);
  Atomics.store(shared.stop, 0, 1);
  await team.end('set');
  const { version } = watch;
  const readers = Array.from({ length: SIDE }, (_, i) => SIDE + i);
  const late = () => readers.filter((place) => Atomics.load(shared.seen, place) !== version);
  if (failures.length === 0 && !(await comes(() => late().length === 0)))
    failures.push(`${late().length} threads do not see version ${version}`);
  watch.close();
  await team.end('read');
  const { writers, watchers } = watch.inspect();
  const [torn, older, other] = shared.wrong;
  if (torn + older + other > 0) failures.push(`${torn} torn values, ${older} older ones, ${other} of a known version`);
  if (version < returned() || version > returned() + killed.set)
    failures.push(`version ${version}, and ${returned()} calls have returned; ${killed.set} threads were killed`);
  if (writers.waiting + watchers.waiting !== 0) failures.push(`${writers.waiting} and ${watchers.waiting} wait`);
  watch.dispose();
  never.dispose();
  // As many watches as there is room for, again and again.
  for (let i = 0; i < 40; i++) new Watch(new Uint8Array(), { bytes: 10_000, arena }).dispose();
  const took = (Date.now() - begun) / 1000;
  console.log(JSON.stringify({ seed, seconds: took, killed, returned: returned(), version, failures }));
  process.exit(failures.length > 0 ? 1 : 0);
}

async function set({ handle, life, way, ...buffers }) {
  const { stop, set } = viewsOf(buffers);
  const watch = Watch.from(handle, codec);
  const value = new Float64Array(16);
  for (let [k, turns] = [0, 0]; k < MOST && Atomics.load(stop, 0) === 0; ) {
    if (++turns % OFTEN === 0) await turn();
    value.fill(life * MOST + k);
    try {
      if (way === 'set') watch.set(value);
      else if (way === 'setAsync') await watch.setAsync(value);
      else watch.set(value, { timeout: 1 });
      Atomics.store(set, life, ++k);
    } catch (error) {
      if (error.name !== 'TimeoutError') throw error;
    }
  }
}

async function read({ handle, never, way, place, ...buffers }) {
  const { value: known, seen, wrong } = viewsOf(buffers);
  const watch = Watch.from(handle, codec);
  // No permit ever comes, so the other case happens.
  const other = acquiring(Semaphore.from(never));
  let last = -1;
  let count = 0;
  const looks = (value) => {
    if (value.some((x) => x !== value[0])) Atomics.add(wrong, 0, 1);
    return value[0] + 2;
  };
  const got = ({ value, version }) => {
    const is = looks(value);
    if (version < last) Atomics.add(wrong, 1, 1);
    last = version;
    if (version < NOTED) {
      const before = Atomics.compareExchange(known, version, 0, is);
      if (before !== 0 && before !== is) Atomics.add(wrong, 2, 1);
    }
    Atomics.store(seen, place, version);
  };
  // A loop tells no versions. The last one that this thread sees is that of the watch, when it waits again.
  const gotBare = (value) => {
    looks(value);
    got(watch.read());
    return ++count % OFTEN === 0;
  };
  try {
    if (way === 'for')
      for (const value of watch) {
        if (gotBare(value)) await turn();
      }
    else if (way === 'for await') for await (const value of watch) gotBare(value);
    else {
      got(watch.read());
      while (true) {
        if (++count % OFTEN === 0) await turn();
        if (way === 'read') {
          got(watch.read());
          await turn();
          if (watch.closed) break;
        } else if (way === 'changed') got(watch.changed(last));
        else if (way === 'changedAsync') got(await watch.changedAsync(last));
        else if (way.startsWith('select')) {
          const cases = [other, changing(watch, last)];
          const { value, closed } = way === 'select' ? select(cases) : await selectAsync(cases);
          if (closed) break;
          got(value);
        } else {
          try {
            got(watch.changed(last, { timeout: 1 }));
          } catch (error) {
            if (error.name !== 'TimeoutError') throw error;
          }
        }
      }
    }
  } catch (error) {
    if (error.name !== 'ClosedError') throw error;
  }
}
