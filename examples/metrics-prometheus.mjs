// Metrics for Prometheus: `text` returns them in its text format, which a service answers at /metrics.
// Run: node node_modules/taketurns/examples/metrics-prometheus.mjs
// In a clone of the repository: node examples/metrics-prometheus.mjs
import { once } from 'node:events';
import { isMainThread, Worker } from 'node:worker_threads';
import { Mutex } from 'taketurns';
import { metrics, startMetrics } from 'taketurns/metrics';

const UNITS = { s: '_seconds', By: '_bytes' };
const TYPES = { counter: 'counter', updowncounter: 'gauge', gauge: 'gauge', histogram: 'histogram' };

/** Returns metrics in the text format of Prometheus. */
export function text(all = metrics()) {
  const lines = [];
  for (const { name, unit, type, description, points } of all) {
    const its = name.replaceAll('.', '_') + (UNITS[unit] ?? '') + (type === 'counter' ? '_total' : '');
    lines.push(`# HELP ${its} ${description}`, `# TYPE ${its} ${TYPES[type]}`);
    for (const { attributes, value } of points) {
      if (type === 'histogram') {
        let count = 0;
        value.counts.forEach((more, i) => {
          count += more;
          lines.push(`${its}_bucket${labels({ ...attributes, le: value.bounds[i] ?? '+Inf' })} ${count}`);
        });
        lines.push(`${its}_sum${labels(attributes)} ${value.sum}`, `${its}_count${labels(attributes)} ${value.count}`);
      } else lines.push(`${its}${labels(attributes)} ${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function labels(attributes) {
  const escaped = (value) => String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const all = Object.entries(attributes).map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(value)}"`);
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

// A program that has something to measure: a worker waits for a mutex that this thread holds.
const accounts = Mutex.open('accounts');
if (isMainThread) {
  startMetrics();
  accounts.lock();
  const worker = new Worker(new URL(import.meta.url));
  while (accounts.inspect().longestWait < 20) await new Promise((later) => setTimeout(later, 1));
  accounts.unlock();
  await once(worker, 'exit');
  process.stdout.write(text());
} else {
  accounts.lock();
  accounts.unlock();
}
