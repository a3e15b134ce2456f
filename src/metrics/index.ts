/**
 * taketurns/metrics counts how long threads wait, and for what, for a service that is watched while it runs. The names
 * and units are those of OpenTelemetry's conventions. `prometheus` and `openTelemetry` export them.
 *
 * The entry is apart from `taketurns`, so that a program that never asks does not carry its code.
 * @since 0.3.0
 * @module
 */
export {
  type InstrumentOptions,
  type Meter,
  type ObservableResult,
  openTelemetry,
  prometheus,
} from '../common/exporters.js';
export type { Histogram, Metric, MetricPoint } from '../common/metric.js';
export { type Channels, type OwnerDeathEvent, publishEvents, type WaitEvent } from './events.js';
export { metrics, startMetrics } from './metrics.js';
