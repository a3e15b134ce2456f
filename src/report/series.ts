/**
 * How long the threads of an arena have waited, by the kind and the name of the object: one series for each. All
 * objects of a kind that have no name share a series, and so do all series for which there is no room. The keys of a
 * table share the series of the table: there may be very many. The receiving end of a channel has the name of the
 * channel (src/look/names.ts).
 *
 * The series lie in the last 128 KiB of the arena's memory, which are touched only if threads count their waits
 * (measure.ts). A series outlives its objects, so its numbers only grow.
 *
 *     state       4 bytes   FREE ──► TAKEN by the thread that writes kind and name ──► READY
 *     kind        4 bytes
 *     length      4 bytes   of the name, in bytes, plus 1; 0: no name
 *     failures    8 bytes   waits that ended without what they waited for
 *     sum         8 bytes   of all waits, in microseconds
 *     counts     96 bytes   8 for each bucket: how many waits were at most as long as its bound, and longer than the last
 *     name      116 bytes   UTF-8
 *
 * A thread that dies while it writes a name leaves its series TAKEN for ever, and nobody uses it. Two threads may begin
 * a series for the same name at the same time. Who reads adds the two up.
 */
import { METRICS_SIZE, N_BYTES, N_LENGTH, O_LIFE, O_NAME } from '../border/numbers.js';
import { BOUNDS, bucketOf } from '../common/metric.js';
import { ownerOf } from '../look/key-reading.js';
import { endOfLabels } from '../look/labels.js';
import { namedBy } from '../look/names.js';
import { kindOf, type View } from '../look/view.js';

const SIZE = 256;
const MOST = METRICS_SIZE / SIZE;
/** The series of all objects for which there is no room. */
const OVERFLOW = 0;
/** A thread looks at so many series for a free one. */
const TRIES = 16;

const [KIND, LENGTH, FAILURES, SUM, COUNTS, NAME] = [4, 8, 16, 24, 32, 128] as const;
const [FREE, TAKEN, READY] = [0, 1, 2] as const;

/** What a series says. */
export interface Series {
  /** The number of the kind; undefined for the series of all objects for which there is no room. */
  readonly kind: number | undefined;
  readonly name: string | undefined;
  failures: number;
  /** Seconds. */
  sum: number;
  readonly counts: number[];
}

/** Returns where the series begin; 0 in an arena that has no room for them. */
function seriesIn(view: View): number {
  const at = view.byteLength - METRICS_SIZE;
  return at < endOfLabels(view.words) ? 0 : at;
}

/** Returns a function that counts waits of the calling thread. */
export function counter(view: View): (object: number, seconds: number, requests: number, failed: boolean) => void {
  const all = seriesIn(view);
  const words = new BigInt64Array(view.words.buffer);
  /** The series of each object, and which object it was. */
  const known = new Map<number, { readonly generation: number; readonly series: number }>();
  return (object, seconds, requests, failed) => {
    if (all === 0) return;
    const generation = view.load(object + O_LIFE + 4);
    let its = known.get(object);
    if (its?.generation !== generation) {
      its = { generation, series: all + SIZE * find(view, all, object) };
      known.set(object, its);
    }
    const { series } = its;
    const add = (offset: number, value: number): void => {
      Atomics.add(words, (series + offset) >>> 3, BigInt(value));
    };
    add(COUNTS + 8 * bucketOf(seconds), requests);
    add(SUM, Math.round(seconds * 1e6) * requests);
    if (failed) add(FAILURES, requests);
  };
}

/** Returns the number of the series of an object. Begins the series if there is none. */
function find(view: View, all: number, object: number): number {
  const { words } = view;
  const owner = ownerOf(view, object);
  const kind = kindOf(view, owner ?? object);
  const named = owner === undefined ? undefined : namedBy(view, owner);
  const entry = (named ?? object) - view.objects + view.names;
  const length = named === undefined || view.load(named + O_NAME) === 0 ? 0 : view.load(entry + N_LENGTH) + 1;
  const bytes = new Uint8Array(words.buffer);
  const name = bytes.slice(entry + N_BYTES, entry + N_BYTES + Math.max(length - 1, 0));
  const hash = name.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5 ^ kind) >>> 0;
  for (let i = 0; i < TRIES; i++) {
    // The overflow is no series of an object.
    const number = 1 + ((hash + i) % (MOST - 1));
    const at = all + SIZE * number;
    const state = Atomics.compareExchange(words, at >>> 2, FREE, TAKEN);
    if (state === FREE) {
      bytes.set(name, at + NAME);
      Atomics.store(words, (at + KIND) >>> 2, kind);
      Atomics.store(words, (at + LENGTH) >>> 2, length);
      Atomics.store(words, at >>> 2, READY);
      return number;
    }
    if (
      state === READY &&
      view.load(at + KIND) === kind &&
      view.load(at + LENGTH) === length &&
      name.every((byte, j) => byte === bytes[at + NAME + j])
    )
      return number;
  }
  Atomics.store(words, (all + SIZE * OVERFLOW) >>> 2, READY);
  return OVERFLOW;
}

/** Returns all series of an arena. Other threads go on counting meanwhile, so each number is right for one moment. */
export function allSeries(view: View): Series[] {
  const all = seriesIn(view);
  const words = new BigInt64Array(view.words.buffer);
  const found = new Map<string, Series>();
  if (all === 0) return [];
  for (let number = 0; number < MOST; number++) {
    const at = all + SIZE * number;
    if (view.load(at) !== READY) continue;
    const read = (offset: number): number => Number(Atomics.load(words, (at + offset) >>> 3));
    const kind = number === OVERFLOW ? undefined : view.load(at + KIND);
    const length = view.load(at + LENGTH);
    const name = length === 0 ? undefined : view.text(at + NAME, length - 1);
    const key = `${kind} ${length} ${name}`;
    const its = found.get(key) ?? { kind, name, failures: 0, sum: 0, counts: new Array(BOUNDS.length + 1).fill(0) };
    found.set(key, its);
    its.failures += read(FAILURES);
    its.sum += read(SUM) / 1e6;
    its.counts.forEach((_, i) => {
      its.counts[i] = (its.counts[i] as number) + read(COUNTS + 8 * i);
    });
  }
  return [...found.values()];
}
