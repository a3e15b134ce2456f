// Metrics for OpenTelemetry: `observe` makes an instrument of `@opentelemetry/api` for each metric. The API has no
// histogram that is observed, so the histogram becomes three counters: .count, .sum, and .bucket with the attribute le.
// Run: node node_modules/taketurns/examples/metrics-opentelemetry.mjs, with @opentelemetry/api and, to see something,
// @opentelemetry/sdk-metrics
// In a clone of the repository: node examples/metrics-opentelemetry.mjs
import { once } from 'node:events';
import { isMainThread, Worker } from 'node:worker_threads';
import { metrics as api } from '@opentelemetry/api';
import { Mutex } from 'taketurns';
import { metrics, startMetrics } from 'taketurns/metrics';

const MAKE = {
  counter: 'createObservableCounter',
  updowncounter: 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
};

/** Makes a meter of OpenTelemetry observe the metrics of the default arena. */
export function observe(meter = api.getMeter('taketurns')) {
  const instruments = new Map();
  const add = (name, type, options) => instruments.set(name, meter[MAKE[type]](name, options));
  for (const { name, type, unit, description } of metrics()) {
    if (type === 'histogram') {
      add(`${name}.count`, 'counter', { description });
      add(`${name}.sum`, 'counter', { unit, description });
      add(`${name}.bucket`, 'counter', { description });
    } else add(name, type, { unit, description });
  }
  meter.addBatchObservableCallback(
    (result) => {
      const tell = (name, value, attributes) => result.observe(instruments.get(name), value, attributes);
      for (const { name, type, points } of metrics())
        for (const { attributes, value } of points) {
          if (type === 'histogram') {
            tell(`${name}.count`, value.count, attributes);
            tell(`${name}.sum`, value.sum, attributes);
            let count = 0;
            value.counts.forEach((more, i) => {
              count += more;
              tell(`${name}.bucket`, count, { ...attributes, le: String(value.bounds[i] ?? '+Inf') });
            });
          } else tell(name, value, attributes);
        }
    },
    [...instruments.values()],
  );
}

// A program that has something to measure: a worker waits for a mutex that this thread holds.
const accounts = Mutex.open('accounts');
if (isMainThread) {
  const { MeterProvider, MetricReader } = await import('@opentelemetry/sdk-metrics');
  /** Stands for the reader of your exporter. */
  class Reader extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
  }
  const reader = new Reader();
  api.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  startMetrics();
  observe();

  accounts.lock();
  const worker = new Worker(new URL(import.meta.url));
  while (accounts.inspect().longestWait < 20) await new Promise((later) => setTimeout(later, 1));
  accounts.unlock();
  await once(worker, 'exit');
  const { resourceMetrics } = await reader.collect();
  for (const { descriptor, dataPoints } of resourceMetrics.scopeMetrics[0].metrics)
    for (const { attributes, value } of dataPoints) console.log(descriptor.name, JSON.stringify(attributes), value);
} else {
  accounts.lock();
  accounts.unlock();
}
