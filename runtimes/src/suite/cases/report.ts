/** Reports, deadlocks and metrics. */
import { Mutex, Semaphore } from 'taketurns';
import { type Histogram, metrics, startMetrics } from 'taketurns/metrics';
import { deadlocks, formatReport, report, watchDeadlocks } from 'taketurns/report';
import { newBoard } from '../board.js';
import { equal, ok, until } from '../check.js';
import { test } from '../run.js';
import type { Team } from '../team.js';

/** Lets two workers lock two mutexes in opposite orders. Resolves when both wait. */
async function crossed(team: Team, mutexes: readonly Mutex[]): Promise<Promise<string>[]> {
  const gate = new Semaphore(0);
  const workers = await team.members(2);
  const done = workers.map((worker, i) => {
    const handles = [mutexes[i], mutexes[1 - i]].map((mutex) => mutex?.handle);
    return worker.call<string>('lockBoth', `worker ${i}`, gate.handle, ...handles);
  });
  await until('each has one mutex', () => gate.waiting === 2);
  gate.release(2);
  return done;
}

test('report: names a deadlock of two workers, which ends when one gives way', async ({ team }) => {
  watchDeadlocks(undefined, { deadlocks: 'ignore' });
  const mutexes = [Mutex.open('accounts'), Mutex.open('audit')];
  const done = await crossed(team, mutexes);
  await until('it is found', () => deadlocks().certain.length === 1);
  const told = report();
  const edges = told.deadlocks[0]?.edges.map(({ thread, holds, waitsFor }) => [
    thread.name,
    holds?.name,
    waitsFor.name,
  ]);
  equal(
    edges?.sort(),
    [
      ['worker 0', 'accounts', 'audit'],
      ['worker 1', 'audit', 'accounts'],
    ],
    'the circle',
  );
  const words = formatReport(told);
  for (const part of ['Deadlock: ', 'Mutex "accounts": locked, held by thread', '"worker 1"'])
    ok(words.includes(part), `${part} is in ${words}`);
  mutexes[0]?.cancelAll();
  equal((await Promise.all(done)).sort(), ['CancelledError', 'has both'], 'the ends');
  equal(deadlocks().certain, [], 'at the end');
  for (const mutex of mutexes) mutex.dispose();
  watchDeadlocks(undefined, { deadlocks: 'warn' });
});

test('report: deadlocks that throw end by themselves', async ({ team }) => {
  watchDeadlocks(undefined, { deadlocks: 'throw', after: 50 });
  const mutexes = [new Mutex(), new Mutex()];
  equal((await Promise.all(await crossed(team, mutexes))).sort(), ['DeadlockError', 'has both'], 'the ends');
  equal(
    mutexes.map(({ locked, waiting }) => [locked, waiting]),
    [
      [false, 0],
      [false, 0],
    ],
    'at the end',
  );
  watchDeadlocks(undefined, { deadlocks: 'warn', after: 1000 });
});

test('metrics: count the waits of all threads', async ({ team }) => {
  startMetrics();
  const pool = Semaphore.open('metrics', 0);
  const worker = await team.member();
  await worker.call('measure');
  const waits = [worker.call('acquire', pool.handle, newBoard(), 1), pool.acquireAsync()];
  await until('both wait', () => pool.waiting === 2);
  await until('the worker sleeps', () =>
    report().threads.some(({ state, waits }) => state === 'asleep' && waits.some(({ name }) => name === 'metrics')),
  );
  pool.release(2);
  await Promise.all(waits);
  const all = metrics().find(({ name }) => name === 'taketurns.wait.duration');
  const own = all?.points.find(({ attributes }) => attributes['taketurns.object.name'] === 'metrics');
  equal((own?.value as Histogram | undefined)?.count, 2, 'waits');
  pool.dispose();
});
