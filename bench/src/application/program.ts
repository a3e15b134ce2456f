// Runs as a process of its own for one row and one run. Prints the result as a line of JSON.
//
//   program.js cache|pool ROW THREADS SECONDS

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { SharedCache } from './cache.js';
import { Histogram } from './histogram.js';
import { CACHE_ROWS, CONNECTIONS, NO_LIMIT, NO_LOCK, POOL_ROWS } from './rows.js';
import type { Answer, Request, Setting } from './thread.js';

/** The keys of the cache, its pages, and the pages of a request. */
const KEYS = 10_000;
const CAPACITY = 5000;
const PAGES = 40;
/** The queries of a request, and how many requests of the pool a thread has at a time. */
const QUERIES = 4;
const AT_A_TIME = 16;

export interface ApplicationRun {
  /** Requests a second. */
  rate: number;
  /** Milliseconds of processor time of a request. */
  cpu: number;
  /** Milliseconds from the call until the answer, of requests: the median and the 99.9th percentile. */
  median: number;
  slow: number;
  /** Milliseconds of the waits for the lock or for a connection: the 99.9th percentile. */
  wait: number;
  /** The share of the pages that were in the cache; 0 for the pool. */
  hits: number;
}

const [application = '', name = '', threadsText = '', secondsText = ''] = process.argv.slice(2);
const threads = Number(threadsText);
const seconds = Number(secondsText);

async function main(): Promise<ApplicationRun> {
  const isCache = application === 'cache';
  const row = (isCache ? [...CACHE_ROWS, NO_LOCK] : [...POOL_ROWS, NO_LIMIT]).find((one) => one.name === name);
  if (row === undefined) throw new Error(`no row of the application ${application} is called ${name}`);
  const shared = await row.share(threads as never);
  const server = isCache ? undefined : new Worker(new URL('./server.js', import.meta.url));
  const [port] = server ? ((await once(server, 'message')) as [number]) : [0];
  const cache = { memory: SharedCache.share(KEYS, CAPACITY), keys: KEYS, capacity: CAPACITY };
  const workerData: Setting = {
    application: isCache ? 'cache' : 'pool',
    row: name,
    shared: isCache ? (shared as { shared: unknown }).shared : shared,
    waits: Histogram.share(),
    cache,
    port,
  };
  const concurrentTasksPerWorker = isCache ? 1 : AT_A_TIME;
  const pool = new Piscina({
    filename: new URL('./thread.js', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker,
    // Otherwise a thread of piscina blocks between two tasks, and then it does not settle its promises.
    atomics: 'promises' in row || !isCache ? 'disabled' : 'sync',
    workerData,
  });
  const waits = new Histogram(workerData.waits);
  const requests = new Histogram(Histogram.share());
  const steps = isCache ? PAGES : QUERIES;
  let asked = 0;
  let hits = 0;

  /** So many clients ask again and again until the time is over. Returns how many requests were answered. */
  const load = async (clients: number, milliseconds: number): Promise<number> => {
    const end = performance.now() + milliseconds;
    let answered = 0;
    const client = async (): Promise<void> => {
      do {
        const begun = performance.now();
        const request: Request = { id: asked++, steps };
        const answer = (await pool.run(request)) as Answer;
        if (answer.done !== steps) throw new Error(`${name}: request ${request.id} has lost a step`);
        requests.add(performance.now() - begun);
        hits += answer.hits;
        answered++;
      } while (performance.now() < end);
    };
    await Promise.all(Array.from({ length: clients }, client));
    return answered;
  };

  // Twice as many clients as the threads serve at a time, so requests also wait in the queue of piscina.
  const clients = 2 * threads * concurrentTasksPerWorker;
  const warm = await load(clients, Math.max(300, seconds * 500));
  for (const histogram of [waits, requests]) histogram.clear();
  hits = 0;
  const used = process.cpuUsage();
  const begun = performance.now();
  const answered = await load(clients, seconds * 1000);
  const passed = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(used);

  if (warm + answered !== asked) throw new Error(`${name}: ${asked - warm - answered} requests are lost`);
  if (isCache) new SharedCache(cache.memory, KEYS, CAPACITY).check();
  else await checkServer(server as Worker, asked * steps);
  return {
    rate: answered / passed,
    cpu: (user + system) / 1000 / answered,
    median: requests.quantile(0.5),
    slow: requests.quantile(0.999),
    wait: waits.quantile(0.999),
    hits: hits / answered / steps,
  };
}

async function checkServer(server: Worker, queries: number): Promise<void> {
  server.postMessage('counts');
  const [counts] = (await once(server, 'message')) as [{ most: number; answered: number; open: number }];
  if (counts.most > CONNECTIONS) throw new Error(`${name}: the server had ${counts.most} queries at a time`);
  if (counts.answered !== queries || counts.open !== 0)
    throw new Error(`${name}: the server answered ${counts.answered} of ${queries} queries`);
}

main().then(
  (run) => {
    console.log(JSON.stringify(run));
    process.exit();
  },
  (error: Error) => {
    console.error(error.message);
    process.exit(1);
  },
);
