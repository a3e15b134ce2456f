/** The programs in examples/, from which people start. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

function run(file: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

describe('examples', () => {
  const says: Record<string, RegExp> = {
    'barrier.mjs': /^each thread has ended 50, 50, 50, 50 phases\nseen more than a phase apart: 0 times\n$/,
    'bounded-buffer.mjs': /^the items put in add up to 10100, and those taken out to 10100\n$/,
    'bounded-pool.mjs': /^40 queries, at most [1-3] connections open at once\n$/,
    'cache-upgrade.mjs': /^20 entries, each of which was computed 1 time\n$/,
    'cancel-pipeline.mjs': /^100 squares, and then 4 workers ended with 0 0 0 0\n$/,
    'channel-map.mjs': /^25 % done\n50 % done\n75 % done\n100 % done\n10000 roots, 10000 in their places\n$/,
    'channel-pipeline.mjs': /^1000 objects, whose squares add up to 83583500\n$/,
    'channel-pool.mjs': /^60 results, 60 in their places\n$/,
    'channel-request.mjs': /^(100 prices add up to 350; no plum\n){2}$/,
    'condition.mjs': /^0 left, never below 0\n$/,
    'error-group.mjs': /^1 begins\n2 begins\n3 begins\n3 is cancelled\n2 has failed\n$/,
    'error-group-threads.mjs': /^1 begins\n2 begins\n1 is stopped\n2 has failed\n2 slots are free\n$/,
    'from-async-mutex.mjs': /^async-mutex, one thread: 20\ntaketurns, one thread: 20\ntaketurns, three threads: 60\n$/,
    'main-thread.mjs': /^the worker has passed the turn on\n$/,
    'message-queue.mjs': /^600 messages sent, 600 received once\n0 torn, 0 out of order, 256 of 256 bytes free\n$/,
    'metrics-opentelemetry.mjs':
      /^taketurns\.wait\.duration\.count \{"taketurns\.object\.kind":"Mutex","taketurns\.object\.name":"accounts"\} 1$/m,
    'metrics-prometheus.mjs':
      /^taketurns_wait_duration_seconds_bucket\{taketurns_object_kind="Mutex",taketurns_object_name="accounts",le="\+Inf"\} 1$/m,
    'p0514-barrier.mjs': /^4 threads, 50 phases: the same as what one thread computes\n$/,
    'p0514-locks.mjs': /^(\w+lock: counted to 8000\n){3}$/,
    'piscina-channel.mjs': /^100 jobs done\n200 jobs done\n300 jobs done\nthe jobs add up to 45150\n$/,
    'piscina-memory.mjs': /^10 jobs of 3900 MB in all: never more than there is\n$/,
    'piscina-names.mjs': /^60 jobs, in all 1830\n$/,
    'progress-bar.mjs': /^(\[#*\.*\] \d+ %\n)+$/,
    'rate-429.mjs': /^10 pages, and 0 requests were refused after the pause\n$/,
    'rate-and-concurrency.mjs':
      /^the semaphore outside: 4 calls within 50 milliseconds\nthe limiter outside: 8 calls within 50 milliseconds\n$/,
    'rate-headers.mjs': /^(Ann 200 .*\n){3}Bob 200 .*\nAnn 429 .* RateLimit: "users";r=0;t=60\n$/,
    'rate-of-a-day.mjs': /^990 answered, 10 refused: again in 24 hours\n$/,
    'rate-tokens.mjs': /^10 answers used 1040 tokens of 3040 that they had taken\n$/,
    'readers-writer.mjs': /^50 writes, 0 torn reads\n$/,
    'readers-writer-in-order.mjs': /^50 writes, 0 torn reads\n$/,
    'refresh-token.mjs': /^(4 calls with token 1\n){3}refreshed 1 time\n$/,
    'ring-buffer.mjs': /^2000 items taken, 0 out of order\n$/,
    'service.mjs': /^0 calls were cut off, at most [1-4] ran at once, exit codes 0,0,0\n.* 0\n.* 4\n$/,
    'start-together.mjs': /^the table was filled 1 time, and 0 squares were missing\n$/,
    'stop-cleanly.mjs': /^exit codes 0 0 0\nevery job that was begun is finished\n0 waiting, 1 permit free\n$/,
  };
  // The browser example serves until it is ended; package-tests/test/browser-example.test.ts runs it.
  const servers = ['browser.mjs'];

  it('are all known here', () => {
    const files = readdirSync(`${root}examples`).filter((file) => file.endsWith('.mjs'));
    expect(files.sort()).toEqual([...Object.keys(says), ...servers].sort());
  });

  it.each(Object.entries(says))('%s runs', (file, expected) => {
    expect(run(`examples/${file}`)).toMatch(expected);
  });
});
