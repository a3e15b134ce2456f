// Metrics for OpenTelemetry: `openTelemetry` lets a meter of `@opentelemetry/api` observe them.
// Run: node node_modules/taketurns/examples/metrics-opentelemetry.mjs, with @opentelemetry/api and, to see something,
// @opentelemetry/sdk-metrics
// In a clone of the repository: node examples/metrics-opentelemetry.mjs
import { once } from 'node:events';
import { isMainThread, Worker } from 'node:worker_threads';
import { Mutex } from 'taketurns';
import { metrics, openTelemetry, startMetrics } from 'taketurns/metrics';

const accounts = Mutex.open('accounts');
if (isMainThread) {
  const { metrics: api } = await import('@opentelemetry/api');
  const { MeterProvider, MetricReader } = await import('@opentelemetry/sdk-metrics');
  /** Stands for the reader of your exporter. */
  class Reader extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
  }
  const reader = new Reader();
  api.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  startMetrics();
  openTelemetry(api.getMeter('taketurns'), metrics);

  // Something to measure: a worker waits for a mutex that this thread holds.
  accounts.lock();
  const worker = new Worker(new URL(import.meta.url));
  while (accounts.inspect().longestWait < 200) await new Promise((later) => setTimeout(later, 1));
  accounts.unlock();
  await once(worker, 'exit');
  const { resourceMetrics } = await reader.collect();
  for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics[0].metrics)
    for (const { attributes, value } of dataPoints) console.log(descriptor.name, JSON.stringify(attributes), value);
} else {
  accounts.lock();
  accounts.unlock();
}
