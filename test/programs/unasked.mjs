/**
 * A program that hangs, also in its main thread, and never asks for a report. The first argument says how:
 *
 *     deadlock    main and a worker each wait for what the other has
 *     long        a worker waits for what main has, and main sleeps
 *     idle        the same, and main waits for events
 *     until told  main waits for what a worker has until the standard input ends, and then prints `went on`
 *     burst       three tasks take a mutex in turn, each for 1.3 seconds, and the program ends
 *     promises    two tasks of main each wait for what the other has
 *     rate        main blocks until its date of a rate
 *     select      main blocks in `select`, and nobody sends
 *     again       a promise waits until a line is told, then nobody does, one in another arena does until the next line,
 *                 and then the promise waits again
 */
import { readFileSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Arena, Mutex } from 'taketurns';
import { Channel, number, receiving, select } from 'taketurns/channel';
import { RateLimiter } from 'taketurns/keyed';

const [accounts, audit] = [Mutex.open('accounts'), Mutex.open('audit')];
const how = isMainThread ? process.argv[2] : workerData.how;
if (how === 'again') {
  const another = Mutex.open('another', { arena: new Arena() });
  for (const mutex of [accounts, another, accounts]) {
    mutex.lock();
    const waits = mutex.lockAsync();
    await new Promise((told) => process.stdin.once('data', told));
    mutex.unlock();
    await waits;
    mutex.unlock();
  }
} else if (how === 'burst') {
  const naps = [1, 2, 3].map(() => accounts.runExclusive(() => new Promise((later) => setTimeout(later, 1300))));
  await Promise.all(naps);
} else if (how === 'promises') {
  const transfer = (from, to) => from.runExclusive(() => Promise.resolve().then(() => to.runExclusive(() => {})));
  setInterval(() => {}, 1e6);
  await Promise.all([transfer(accounts, audit), transfer(audit, accounts)]);
} else if (how === 'rate') {
  const requests = RateLimiter.open('requests', 1, 60_000);
  requests.take();
  requests.take();
} else if (how === 'select') {
  const [jobs, urgent] = ['jobs', 'urgent'].map((name) => Channel.open(name, { codec: number }));
  select([receiving(jobs), receiving(urgent)]);
} else if (isMainThread) {
  accounts.lock();
  const gate = new Int32Array(new SharedArrayBuffer(4));
  new Worker(new URL(import.meta.url), { workerData: { gate, how } });
  Atomics.wait(gate, 0, 0);
  if (how === 'idle') setInterval(() => {}, 1e6);
  else if (how === 'long') Atomics.wait(gate, 0, 1);
  else audit.lock();
  if (how === 'until told') {
    console.log('went on');
    process.exit();
  }
} else {
  audit.lock();
  Atomics.store(workerData.gate, 0, 1);
  Atomics.notify(workerData.gate, 0);
  if (how === 'until told') {
    readFileSync(0);
    audit.unlock();
  } else accounts.lock();
}
