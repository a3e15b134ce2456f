/** The metrics of an arena: what its threads have counted (report/series.ts), and what a report says. */
import { Arena } from '../arena/arena.js';
import type { Kind } from '../border/kinds.js';
import { BOUNDS, type Metric, type MetricPoint } from '../common/metric.js';
import { refusalsAt } from '../look/rate-page.js';
import { countsAt } from '../look/rate-regions.js';
import { View } from '../look/view.js';
import { reportIn } from '../report/ask.js';
import { measureWaits } from '../report/measure.js';
import { nameOfKind } from '../report/refs.js';
import type { ArenaReport, ObjectReport, ThreadReport } from '../report/report.js';
import { allSeries, type Series } from '../report/series.js';
import { measureAll } from '../report/settings.js';
import { measureHere, membershipIn } from '../report/this-thread.js';

/**
 * Makes threads measure how long they wait, in an arena. Without this call nothing is measured. A thread reads the clock
 * only where it must wait anyway, so a call that need not wait costs the same as before. Never blocks.
 *
 * On Node, in Deno and in Bun one call in one thread is enough for all threads that load this package as it is
 * installed: call it when the program starts. (A thread that was attached to the arena before counts from its second
 * sleep on, and its promises from then on too.) In a browser, and in a program that was bundled, each thread calls it.
 * @param arena default `Arena.default`.
 * @throws {TypeError} if `arena` is no `Arena`.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { startMetrics } from 'taketurns/metrics';
 *
 * startMetrics();
 * ```
 * @since 0.3.0
 */
export function startMetrics(arena: Arena = Arena.default): void {
  const { memory } = membershipIn('startMetrics', arena);
  measureAll(new Int32Array(memory.buffer));
  measureHere(measureWaits);
}

/**
 * Returns the metrics of an arena, over all its threads. The answer is a plain object, which may be cloned and sent.
 * Never blocks: the call reads memory alone, so it also works while all other threads hang. It costs as much as
 * `report`.
 *
 * Objects of one kind with the same name have one value, and so have all objects of a kind that have no name. So give
 * names to the objects that you want to tell apart. All keys of a `KeyedMutex` or a `KeyedSemaphore` have the value of
 * their table. The arena counts the waits of at most 511 names; all others count under `otel.metric.overflow`.
 *
 * | metric | type | |
 * | --- | --- | --- |
 * | `taketurns.wait.duration` | histogram | how long requests have waited, however the wait ended; after `startMetrics` |
 * | `taketurns.wait.failures` | counter | waits that ended by a time-out, a signal, `cancelAll`, `dispose` or a deadlock; after `startMetrics` |
 * | `taketurns.wait.pending` | updowncounter | requests that wait now |
 * | `taketurns.wait.longest` | gauge | for how long the first of them has waited |
 * | `taketurns.permit.count` | updowncounter | permits of semaphores, by `taketurns.permit.state`: `used` or `idle` |
 * | `taketurns.rate.refused` | counter | calls of `tryTake` that a `RateLimiter` or a `KeyedRateLimiter` has refused |
 * | `taketurns.rate.taken` | counter | permits that a `KeyedRateLimiter` has given, of all keys |
 * | `taketurns.thread.count` | updowncounter | attached threads, by `taketurns.thread.state`: `awake`, `asleep` or `dead` |
 * | `taketurns.deadlock.count` | gauge | deadlocks that are certain |
 * | `taketurns.arena.usage` | gauge | how many of its `threads`, `objects` and `elements` are in use, by `taketurns.arena.resource` |
 * | `taketurns.arena.limit` | gauge | how many there are |
 * | `taketurns.arena.memory` | gauge | how many bytes of the arena have been touched, at most |
 * @param arena default `Arena.default`.
 * @throws {TypeError} if `arena` is no `Arena`.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { metrics } from 'taketurns/metrics';
 *
 * for (const { name, points } of metrics()) console.log(name, points);
 * ```
 * @since 0.3.0
 */
export function metrics(arena: Arena = Arena.default): Metric[] {
  const membership = membershipIn('metrics', arena);
  const view = new View(membership.memory);
  const series = allSeries(view);
  const { objects, threads, deadlocks, used } = reportIn(membership, 1);
  const groups = byName(objects);
  return [
    ...ofWaits(series),
    ...ofObjects(groups),
    ...ofRates(view, groups),
    ofThreads(threads),
    {
      name: 'taketurns.deadlock.count',
      description: 'Deadlocks that are certain.',
      unit: '{deadlock}',
      type: 'gauge',
      points: [{ attributes: {}, value: deadlocks.length }],
    },
    ...ofArena(used),
  ];
}

type Attributes = MetricPoint['attributes'];

/** The attributes of all objects of a kind that have a name, or none. */
function named(kind: string, name: string | undefined): Attributes {
  return { 'taketurns.object.kind': kind, ...(name === undefined ? {} : { 'taketurns.object.name': name }) };
}

/** What threads have counted. */
function ofWaits(series: readonly Series[]): Metric[] {
  const all = series.map((one) => ({
    ...one,
    attributes: one.kind === undefined ? { 'otel.metric.overflow': true } : named(nameOfKind(one.kind), one.name),
  }));
  return [
    {
      name: 'taketurns.wait.duration',
      description: 'How long requests have waited.',
      unit: 's',
      type: 'histogram',
      points: all.map(({ attributes, counts, sum }) => ({
        attributes,
        value: { count: counts.reduce((total, count) => total + count, 0), sum, bounds: BOUNDS, counts },
      })),
    },
    {
      name: 'taketurns.wait.failures',
      description: 'Requests that have waited, and have not got what they waited for.',
      unit: '{request}',
      type: 'counter',
      points: all.map(({ attributes, failures }) => ({ attributes, value: failures })),
    },
  ];
}

/** The objects of one kind and name. */
interface Group {
  readonly attributes: Attributes;
  readonly group: readonly ObjectReport[];
}

function byName(objects: readonly ObjectReport[]): Group[] {
  const groups = new Map<string, ObjectReport[]>();
  for (const object of objects) {
    const key = JSON.stringify([object.kind, object.name]);
    const its = groups.get(key);
    if (its) its.push(object);
    else groups.set(key, [object]);
  }
  return [...groups.values()].map((group) => {
    const [{ kind, name }] = group as [ObjectReport];
    return { group, attributes: named(kind, name) };
  });
}

/** What the report says of the objects: a value for each kind and name. */
function ofObjects(groups: readonly Group[]): Metric[] {
  const of = (value: (group: readonly ObjectReport[]) => number): MetricPoint[] =>
    groups.map(({ group, attributes }) => ({ attributes, value: value(group) }));
  return [
    {
      name: 'taketurns.wait.pending',
      description: 'Requests that wait now.',
      unit: '{request}',
      type: 'updowncounter',
      points: of((group) => group.reduce((sum, { waiting }) => sum + waiting, 0)),
    },
    {
      name: 'taketurns.wait.longest',
      description: 'How long the first of the waiting requests has waited.',
      unit: 's',
      type: 'gauge',
      points: of((group) => group.reduce((most, { longestWait }) => Math.max(most, longestWait), 0) / 1000),
    },
    {
      name: 'taketurns.permit.count',
      description: 'Permits of semaphores.',
      unit: '{permit}',
      type: 'updowncounter',
      points: [...permits(groups, 'used', ({ out }) => out), ...permits(groups, 'idle', ({ available }) => available)],
    },
  ];
}

function permits(
  groups: readonly Group[],
  state: string,
  of: (object: ObjectReport) => number | undefined,
): MetricPoint[] {
  return (
    groups
      // The keys of a table that have an object at the moment say nothing of all its keys.
      .map(({ group, attributes }) => ({
        attributes,
        group: group.filter(({ available, key, part }) => available !== undefined && key === undefined && !part),
      }))
      .filter(({ group }) => group.length > 0)
      .map(({ group, attributes }) => ({
        attributes: { ...attributes, 'taketurns.permit.state': state },
        value: group.reduce((sum, object) => sum + (of(object) ?? 0), 0),
      }))
  );
}

/** What rates have counted, also without `startMetrics`. */
function ofRates(view: View, groups: readonly Group[]): Metric[] {
  const ofKind = (wanted: Kind, value: (object: number) => number): MetricPoint[] =>
    groups.flatMap(({ group, attributes }) => {
      const [{ kind }] = group as [ObjectReport];
      const add = (sum: number, { number }: ObjectReport): number => sum + value(view.objectAt(number));
      return kind === wanted ? [{ attributes, value: group.reduce(add, 0) }] : [];
    });
  return [
    {
      name: 'taketurns.rate.refused',
      description: 'Calls of tryTake that rates have refused.',
      unit: '{request}',
      type: 'counter',
      points: [
        ...ofKind('RateLimiter', (object) => refusalsAt(view, object)),
        ...ofKind('KeyedRateLimiter', (object) => countsAt(view, object).refused),
      ],
    },
    {
      name: 'taketurns.rate.taken',
      description: 'Permits that rates of keys have given.',
      unit: '{permit}',
      type: 'counter',
      points: ofKind('KeyedRateLimiter', (object) => countsAt(view, object).taken),
    },
  ];
}

function ofThreads(threads: readonly ThreadReport[]): Metric {
  return {
    name: 'taketurns.thread.count',
    description: 'Threads that are attached to the arena.',
    unit: '{thread}',
    type: 'updowncounter',
    points: ['awake', 'asleep', 'dead'].map((state) => ({
      attributes: { 'taketurns.thread.state': state },
      value: threads.filter((thread) => thread.state === state).length,
    })),
  };
}

function ofArena(used: ArenaReport['used']): Metric[] {
  const resources = (which: 'used' | 'capacity'): MetricPoint[] =>
    (['threads', 'objects', 'elements'] as const).map((resource) => ({
      attributes: { 'taketurns.arena.resource': resource },
      value: used[resource][which],
    }));
  return [
    {
      name: 'taketurns.arena.usage',
      description: 'How much of the arena is in use.',
      unit: '1',
      type: 'gauge',
      points: resources('used'),
    },
    {
      name: 'taketurns.arena.limit',
      description: 'How much the arena has room for.',
      unit: '1',
      type: 'gauge',
      points: resources('capacity'),
    },
    {
      name: 'taketurns.arena.memory',
      description: 'How many bytes of the arena have been touched, at most.',
      unit: 'By',
      type: 'gauge',
      points: [{ attributes: {}, value: used.bytes.used }],
    },
  ];
}
