/** Workers that end: their requests are cancelled, and what they held of robust objects goes back. */
import { Arena, Mutex, type MutexHandle, Semaphore } from 'taketurns';
import { newBoard } from '../board.js';
import { equal, ok, sleep, until } from '../check.js';
import { threads } from '../globals.js';
import { test } from '../run.js';
import type { Member, WorkerKind } from '../team.js';

const watch = ({ worker, thread }: Member): void => Arena.default.watch(worker, thread);
/**
 * A page notices the end of a worker only after it has requested the lock of the worker, which takes a while
 * (docs/runtimes.md).
 */
const requested = (): Promise<void> => sleep(typeof document === 'undefined' ? 0 : 500);

test('dying: a worker that is terminated while it waits leaves the queue', async ({ team }) => {
  const semaphore = new Semaphore(1, { max: 3 });
  const worker = await team.member();
  watch(worker);
  worker.call('acquire', semaphore.handle, newBoard(), 1, 3);
  await until('it waits', () => semaphore.waiting === 1);
  const behind = semaphore.acquireAsync();
  await requested();
  worker.terminate();
  await behind;
  equal([semaphore.available, semaphore.waiting], [0, 0], 'at the end');
});

test('dying: terminated workers that wait reach nothing any more, and Deno gets their memory back', async ({
  team,
}) => {
  const deno = (globalThis as { Deno?: { memoryUsage(): { rss: number } } }).Deno;
  const megabytes = () => (deno?.memoryUsage().rss ?? 0) / 2 ** 20;
  const [semaphore, mutex, permits] = [new Semaphore(0), new Mutex(), new Semaphore(0)];
  mutex.lock();
  let first = 0;
  for (let i = 0; i < 12; i++) {
    const worker = await team.member();
    watch(worker);
    // Every other worker sleeps as the head of a mutex, and the others sleep in a queue. Each sleeps on its own word.
    if (i % 2) worker.call('lockFinally', mutex.handle, permits.handle);
    else worker.call('acquireFinally', semaphore.handle, permits.handle);
    await until('it waits', () => semaphore.waiting + mutex.waiting === 1);
    await requested();
    worker.terminate();
    await until('it has left', () => semaphore.waiting + mutex.waiting === 0);
    await sleep(50);
    if (i === 1) first = megabytes();
  }
  equal(permits.available, 0, 'permits that they have given');
  // Each worker that sleeps on for ever keeps 5 to 14 MB.
  ok(megabytes() - first < 15, `memory grew from ${first} to ${megabytes()} MB`);
});

test('dying: the permits of a robust semaphore come back', async ({ team }) => {
  const semaphore = new Semaphore(2, { robust: true });
  const worker = await team.member();
  watch(worker);
  await worker.call('acquire', semaphore.handle, newBoard(), 1, 2);
  let deaths = 0;
  semaphore.onOwnerDied = (count) => {
    deaths += count;
  };
  const behind = semaphore.holdAsync();
  await requested();
  worker.terminate();
  const held = await behind;
  equal([held.ownerDied, deaths, semaphore.inspect().ownerDeaths], [true, 1, 1], 'told');
  held.release();
  equal(semaphore.available, 2, 'at the end');
});

test('dying: the next owner of a mutex learns that the last one died', async ({ team }) => {
  const mutex = new Mutex();
  const [owner, waiter] = await team.members(2);
  for (const member of [owner, waiter]) watch(member as Member);
  await owner?.call('lock', mutex.handle);
  waiter?.call('lock', mutex.handle);
  await until('a worker waits', () => mutex.waiting === 1);
  const behind = mutex.holdAsync();
  await requested();
  waiter?.terminate();
  owner?.terminate();
  const held = await behind;
  ok(held.ownerDied, 'reported');
  held.unlock();
  const again = await mutex.holdAsync();
  ok(!again.ownerDied, 'reported once');
  again.unlock();
});

test('dying: a terminated worker that computes on is not passed by', async ({ team }) => {
  const mutex = new Mutex();
  const words = new Int32Array(new SharedArrayBuffer(4));
  const worker = await team.member();
  watch(worker);
  // Chromium lets a terminated worker run on for up to 2 s, Deno for as long as it computes.
  worker.call('computeOn', mutex.handle, words, 4000);
  await until('it computes', () => Atomics.load(words, 0) > 0);
  await requested();
  worker.terminate();
  const held = await mutex.holdAsync();
  const count = Atomics.load(words, 0);
  await sleep(50);
  equal(Atomics.load(words, 0), count, 'steps of the dead owner beside the next');
  ok(held.ownerDied, 'reported');
  held.unlock();
});

/** Whether the runtime tells nobody of the end of its workers, unless they are watched. */
const isUnheard = (kind: WorkerKind): boolean => kind === 'web' && 'Bun' in globalThis;

test('dying: nobody watches, and a terminated worker computes on while it holds', async ({ team, note }) => {
  if (isUnheard(team.kind)) {
    note('its web workers must be watched');
    return;
  }
  const mutex = new Mutex();
  const words = new Int32Array(new SharedArrayBuffer(4));
  const worker = await team.member();
  worker.call('computeOn', mutex.handle, words, 4000);
  await until('it computes', () => Atomics.load(words, 0) > 0);
  const begun = performance.now();
  await requested();
  worker.terminate();
  const held = await mutex.holdAsync();
  const count = Atomics.load(words, 0);
  note(`it ends after ${Math.round((performance.now() - begun) / 100) / 10} s`);
  await sleep(50);
  equal(Atomics.load(words, 0), count, 'steps of the dead owner beside the next');
  ok(held.ownerDied, 'reported');
  held.unlock();
});

test('dying: a thread that has left an arena, and attached to it again, hears of a death', async ({ team }) => {
  if (isUnheard(team.kind)) return;
  const arena = new Arena({ objects: 16, threads: 8 });
  const { handle } = arena;
  arena.dispose();
  const mutex = new Mutex({ arena: Arena.from(handle) });
  const worker = await team.member();
  await worker.call('lock', mutex.handle);
  await requested();
  worker.terminate();
  const held = await mutex.holdAsync();
  ok(held.ownerDied, 'reported');
  held.unlock();
});

test('dying: a worker shares an arena first, ends, and another worker dies', async ({ team }) => {
  // In Deno and Bun no death is noticed then (docs/runtimes.md).
  if ('Deno' in globalThis || 'Bun' in globalThis) return;
  // On Node this worker then starts a thread of its own that notices deaths, and takes it along.
  const key = 'taketurns:keeper:5';
  Arena.default.handle;
  const inherited = threads?.getEnvironmentData(key);
  ok(!threads || inherited, 'this thread has a thread that notices deaths');
  threads?.setEnvironmentData(key, undefined as never);
  const first = team.stranger();
  const handle = await first.call<MutexHandle>('makeMutex');
  threads?.setEnvironmentData(key, inherited as never);
  first.terminate();
  await sleep(200);
  const mutex = Mutex.from(handle);
  const worker = await team.member();
  await worker.call('lock', handle);
  await requested();
  worker.terminate();
  const held = await mutex.holdAsync();
  ok(held.ownerDied, 'reported');
  held.unlock();
});

test('dying: nobody watches a worker of a worker that is terminated', async ({ team }) => {
  if (isUnheard(team.kind)) return;
  const mutex = new Mutex();
  const worker = await team.member();
  const threads = Arena.default.threads;
  await worker.call('nest', team.kind, mutex.handle);
  equal(Arena.default.threads, threads + 1, 'threads with it');
  await requested();
  worker.terminate();
  const held = await mutex.holdAsync();
  ok(held.ownerDied, 'reported');
  held.unlock();
  await until('both records come back', () => Arena.default.threads === threads - 1);
});

test('dying: a worker that ends by itself', async ({ team, note }) => {
  const semaphore = new Semaphore(1, { robust: true });
  const worker = await team.member();
  await worker.call('acquire', semaphore.handle, newBoard(), 1);
  const behind = semaphore.holdAsync();
  const thread = worker.thread as NonNullable<typeof worker.thread>;
  const how = await worker.call('endSoon');
  if (how === 'process.exit') {
    note('cancels everything itself at process.exit');
  } else {
    if (isUnheard(team.kind)) {
      // The runtime reports the end of this web worker to nobody. So this thread, which has ended the worker, reaps it.
      await sleep(1000);
      ok(Arena.default.reap(thread), 'reaped');
    }
    note('ends by close()');
  }
  const held = await behind;
  held.release();
  equal([semaphore.available, semaphore.waiting], [1, 0], 'at the end');
  await requested();
  worker.terminate();
});

test('dying: a worker exits in the task in which it attaches, and its exit handler releases', async ({ team }) => {
  if (team.kind === 'web') return;
  const [semaphore, done] = [new Semaphore(1), new Semaphore(0)];
  // The worker has not attached yet.
  team.stranger().call('exitAtOnce', semaphore.handle, done.handle);
  await done.acquireAsync(1, { timeout: 10_000 });
  equal(semaphore.available, 1, 'released');
});
