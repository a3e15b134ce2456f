/**
 * A worker of unwatched.mjs. It starts a worker of its own, and uses the shared objects until it is killed or the
 * program stops.
 */
import process from 'node:process';
import { setImmediate } from 'node:timers';
import { Worker, workerData } from 'node:worker_threads';
import { Arena, DisposedError, Mutex, Semaphore, TimeoutError } from 'taketurns';
import { Barrier, BrokenBarrierError, Condition, Event, Latch, Once, RwLock, WaitGroup } from 'taketurns/sync';
import { add, get, ON_PURPOSE, put, random, swap } from './unwatched-board.mjs';

const { slot, depth, seed, words, handles } = workerData;
const draw = random(seed);
const mutex = Mutex.from(handles.mutex);
const semaphores = handles.semaphores.map((handle) => Semaphore.from(handle));
const group = WaitGroup.from(handles.group);
const event = Event.from(handles.event);
const condition = Condition.from(handles.condition);
const lock = RwLock.from(handles.lock);
const arena = Arena.from(handles.arena);
const id = add(words, 'ids') + 1;
const never = new Int32Array(new SharedArrayBuffer(4));
if (depth === 0) put(words, 'up', 1, slot);

function work() {
  if (draw() < 0.2) Atomics.wait(never, 0, 0, draw());
  for (let left = draw() * 3000; left > 0; left--) Atomics.add(never, 0, 0);
}

/** The section that the mutex guards: no thread enters it before the last thread has left it or has died. */
function section(ownerDied) {
  const before = put(words, 'inside', id);
  if (before !== 0 && !ownerDied) add(words, 'two threads in one section');
  work();
  if (swap(words, 'inside', id, 0) !== id) add(words, 'two threads in one section');
  add(words, 'sections');
}

async function locked() {
  const options = draw() < 0.3 ? { timeout: draw() * 5 } : undefined;
  const held = draw() < 0.5 ? mutex.hold(options) : await mutex.holdAsync(options);
  section(held.ownerDied);
  held.unlock();
}

async function acquired(semaphore, n) {
  const options = draw() < 0.3 ? { timeout: draw() * 5 } : undefined;
  if (draw() < 0.5) semaphore.acquire(n, options);
  else await semaphore.acquireAsync(n, options);
  work();
  semaphore.release(n);
}

async function worked() {
  if (draw() < 0.5) {
    const task = group.hold();
    work();
    task.done();
  } else await group.run(async () => work());
}

async function signalled() {
  if (draw() < 0.5) event.set();
  else event.reset();
  const options = { timeout: draw() * 5 };
  if (draw() < 0.5) event.wait(options);
  else await event.waitAsync(options);
}

/** Waits on the condition, and lets others go on. */
async function conditioned() {
  // The thread that is told of a death may not be the next thread that enters the section. So it clears the word here.
  condition.mutex.onOwnerDied = () => put(words, 'inside', 0);
  condition.mutex.lock();
  const options = { timeout: draw() * 5 };
  if (draw() < 0.5) condition.wait(options);
  else await condition.waitAsync(options);
  section(false);
  condition.notify(1 + Math.floor(draw() * 3));
  condition.mutex.unlock();
  if (draw() < 0.5) condition.notifyAll();
}

/** Writes. A writer must be alone. If a writer dies, its number stays in the word, and the next holder is told. */
async function wrote() {
  const options = draw() < 0.3 ? { timeout: draw() * 5 } : undefined;
  let held;
  if (draw() < 0.3) {
    const found = draw() < 0.5 ? lock.update(options) : await lock.updateAsync(options);
    try {
      held = draw() < 0.5 ? found.upgrade(options) : await found.upgradeAsync(options);
    } finally {
      found.unlock();
    }
  } else held = draw() < 0.5 ? lock.write(options) : await lock.writeAsync(options);
  const before = put(words, 'writes', id);
  if (before !== 0 && !held.ownerDied) add(words, 'a writer beside another');
  work();
  if (swap(words, 'writes', id, 0) !== id) add(words, 'a writer beside another');
  (draw() < 0.3 ? held.downgrade() : held).unlock();
}

async function looked() {
  const options = draw() < 0.3 ? { timeout: draw() * 5 } : undefined;
  const held = draw() < 0.5 ? lock.read(options) : await lock.readAsync(options);
  const before = get(words, 'writes');
  work();
  if (get(words, 'writes') !== before || (before !== 0 && !held.ownerDied)) add(words, 'a writer beside a reader');
  held.unlock();
}

/** The parties of a barrier. More threads than these may come. Then some meet in the next round. */
const PARTIES = 2;

/**
 * Opens the present object by its name. A thread that has come to the end of an object disposes of it. The next object
 * has another name.
 */
function current(what, open) {
  while (true) {
    const number = get(words, what);
    const object = open(`${what} ${number}`);
    if (get(words, what) === number) return { number, object };
    // Meanwhile the object has come to its end, and this may be a later object of the same name.
    object.dispose();
  }
}

function renew(what, { number, object }) {
  if (swap(words, what, number, number + 1) === number) object.dispose();
}

/** Meets another thread at a barrier. A thread that gives up or dies breaks the barrier. Then a new barrier is made. */
async function met() {
  const found = current('barrier', (name) => Barrier.open(name, PARTIES, { arena }));
  const barrier = found.object;
  const options = { timeout: 2 + draw() * 20 };
  try {
    if (draw() < 0.5) barrier.arriveAndWait(options);
    else await barrier.arriveAndWaitAsync(options);
    add(words, 'rounds');
    barrier.leave();
  } catch (error) {
    if (!(error instanceof BrokenBarrierError || error instanceof TimeoutError)) throw error;
    renew('barrier', found);
  }
}

/** Counts a latch down, and waits for the others. Nobody counts for a thread that has died, so the wait has a limit. */
async function counted() {
  const found = current('latch', (name) => Latch.open(name, 2, { arena }));
  const latch = found.object;
  try {
    latch.countDown();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    if (latch.count !== 0) add(words, 'a latch refuses a count that it has');
  }
  const options = { timeout: 2 + draw() * 20 };
  if (!(draw() < 0.5 ? latch.wait(options) : await latch.waitAsync(options))) return;
  if (latch.count !== 0) add(words, 'a latch is open and has a count');
  add(words, 'openings');
  renew('latch', found);
}

/**
 * Whether the last function ran for this object. The object of a name may be another object by now: it goes when the
 * last thread that has it open dies, and the deaths that it has counted go with it.
 */
function ranFor({ handle: { address, generation } }) {
  const isAddress = put(words, 'runner at', address) === address;
  return put(words, 'runner generation', generation) === generation && isAddress;
}

/**
 * Runs a function once. Checks that one thread at a time runs it, unless that thread has died, and that nobody goes on
 * before the function has ended.
 */
async function ranOnce() {
  const found = current('once', (name) => Once.open(name, { arena }));
  const { number, object: once } = found;
  const fn = () => {
    const isSame = ranFor(once);
    if (put(words, 'runner', id) !== 0 && isSame && once.inspect().deaths === 0)
      add(words, 'two threads do it at a time');
    if (get(words, 'last done') >= number) add(words, 'it is done again');
    work();
    if (swap(words, 'runner', id, 0) !== id) add(words, 'two threads do it at a time');
    if (draw() < 0.2) throw new Error(ON_PURPOSE);
    put(words, 'last done', number);
  };
  const options = { timeout: draw() * 5 };
  try {
    if (draw() < 0.5) once.run(fn, options);
    else await once.runAsync(fn, options);
  } catch (error) {
    if (error.message !== ON_PURPOSE) throw error;
    return;
  }
  if (get(words, 'last done') < number) add(words, 'one goes on, and it is not done');
  renew('once', found);
}

let child;

function startChild() {
  const started = new Worker(new URL(import.meta.url), {
    workerData: { ...workerData, depth: depth + 1, seed: seed * 100 + add(words, 'started') },
  });
  started.on('error', () => {});
  started.once('exit', () => {
    if (child === started) child = undefined;
  });
  return started;
}

/** Starts this worker's own worker if there is none, and kills it if the main thread says so. */
function raise() {
  child ??= startChild();
  if (put(words, 'killChild', 0, slot) === 0) return;
  add(words, 'killed');
  child.terminate();
  child = undefined;
}

async function act() {
  try {
    const what = draw();
    if (what < 0.3) await locked();
    else if (what < 0.4) await worked();
    else if (what < 0.45) await signalled();
    else if (what < 0.53) await conditioned();
    else if (what < 0.6) await wrote();
    else if (what < 0.64) await met();
    else if (what < 0.66) await counted();
    else if (what < 0.68) await ranOnce();
    else if (what < 0.75) await looked();
    else if (what < 0.83) await acquired(semaphores[0], 1);
    else await acquired(semaphores[1], 1 + Math.floor(draw() * 5));
  } catch (error) {
    // Other threads may have disposed of the barrier, the latch or the once.
    if (!(error instanceof TimeoutError || error instanceof DisposedError)) throw error;
  }
  if (depth === 0) raise();
  if (draw() < 0.001) {
    // The worker ends itself while a promise of it is in the queue.
    mutex.lockAsync();
    if (draw() < 0.5) process.exit(0);
    setImmediate(() => {
      throw new Error(ON_PURPOSE);
    });
  }
  await new Promise((resolve) => setImmediate(resolve));
}

// The loop is not at the top level: Node 20 crashes when a worker is terminated as it begins a module that awaits.
(async () => {
  while (get(words, 'stop') === 0) await act();
  process.exit(0);
})();
