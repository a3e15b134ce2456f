/** A worker of unwatched.mjs: locks, acquires and computes, with a worker of its own, until it is killed or stops. */
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

/** What the lock guards: no thread enters before the last one has left, or has died. */
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

/** Waits within the lock, and has others go on. */
async function conditioned() {
  // The next who enters may be another, who does not learn of this death.
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

/** Who writes is alone. A reader that is told that a writer has died finds the number of that one. */
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

/** Parties of a barrier. They may be more threads than that, and then some meet in the next round. */
const PARTIES = 2;

/**
 * Opens the object of this moment by its name. Whoever has come to its end disposes of it, and the next has another name.
 */
function current(what, open) {
  while (true) {
    const number = get(words, what);
    const object = open(`${what} ${number}`);
    if (get(words, what) === number) return { number, object };
    // It has come to its end meanwhile, and this may be another of the same name.
    object.dispose();
  }
}

function renew(what, { number, object }) {
  if (swap(words, what, number, number + 1) === number) object.dispose();
}

/** Meets another at a barrier. One that gives up or dies breaks it, and then there is a new one. */
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

/** Counts down, and waits for the others. Those that die before they count are not known, so there is a limit. */
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

/** Has something done once: by one thread at a time, unless one has died of it, and before anybody goes on. */
async function ranOnce() {
  const found = current('once', (name) => Once.open(name, { arena }));
  const { number, object: once } = found;
  const fn = () => {
    if (put(words, 'runner', id) !== 0 && once.inspect().deaths === 0) add(words, 'two threads do it at a time');
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

/** Sees to the worker that this one has started. */
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
    // Barriers, latches and what is done once are disposed of by others.
    if (!(error instanceof TimeoutError || error instanceof DisposedError)) throw error;
  }
  if (depth === 0) raise();
  if (draw() < 0.001) {
    // It ends itself, with a promise in the queue.
    mutex.lockAsync();
    if (draw() < 0.5) process.exit(0);
    setImmediate(() => {
      throw new Error(ON_PURPOSE);
    });
  }
  await new Promise((resolve) => setImmediate(resolve));
}

// It is not at the top level: Node 20 crashes when a worker is terminated as it begins a module that awaits.
(async () => {
  while (get(words, 'stop') === 0) await act();
  process.exit(0);
})();
