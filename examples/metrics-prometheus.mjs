// Metrics for Prometheus: a service answers at /metrics with the text that `prometheus` makes of them.
// Run: node node_modules/taketurns/examples/metrics-prometheus.mjs
// In a clone of the repository: node examples/metrics-prometheus.mjs
import { once } from 'node:events';
import { createServer } from 'node:http';
import { isMainThread, Worker } from 'node:worker_threads';
import { Mutex } from 'taketurns';
import { metrics, prometheus, startMetrics } from 'taketurns/metrics';

const accounts = Mutex.open('accounts');
if (isMainThread) {
  startMetrics();
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4');
    response.end(prometheus(metrics()));
  });
  await once(server.listen(0), 'listening');

  // Something to measure: a worker waits for a mutex that this thread holds.
  accounts.lock();
  const worker = new Worker(new URL(import.meta.url));
  while (accounts.inspect().longestWait < 200) await new Promise((later) => setTimeout(later, 1));
  accounts.unlock();
  await once(worker, 'exit');

  // What Prometheus does every few seconds.
  const answer = await fetch(`http://localhost:${server.address().port}/metrics`);
  process.stdout.write(await answer.text());
  server.close();
  server.closeAllConnections();
} else {
  accounts.lock();
  accounts.unlock();
}
