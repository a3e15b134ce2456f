/** What a watch is made with, and what it tells. watch.ts has the class. */
import type { Arena } from '../arena/arena.js';
import { KIND_WATCHING_END, PLACES } from '../border/numbers.js';
import type { Properties } from '../objects/options.js';
import { differing, type Handle } from '../objects/reference.js';
import { checkOptions } from '../runtime/errors.js';
import type { EndStats } from './channel-options.js';
import { type Codec, checkBytes, checkCodec, roomFor, roomIn, sizeOfPlace } from './codec.js';
import type { Form } from './endpoints.js';

export const KIND = 'Watch';
/** @internal */
export const FROM = `${KIND}.from`;
/** @internal */
export const FORM: Form = {
  kind: 'WatchingEnd',
  kindNumber: KIND_WATCHING_END,
  sending: {
    isSending: true,
    thing: 'watch',
    wanted: 'the turn to set',
    instead: 'setAsync',
    closed: '',
  },
  receiving: {
    isSending: false,
    thing: 'watch',
    wanted: 'a newer value of',
    instead: 'changedAsync',
    closed: ', and its newest value has been seen',
  },
};

/** A plain, structured-cloneable value to send to another thread, for `Watch.from` there. */
export type WatchHandle = Handle<'Watch'>;

/** The options of a new `Watch`. */
export interface WatchOptions<T> {
  /**
   * The bytes of the largest value, 8 to 16,777,216. Default 48. As for a channel, the watch rounds the number up to 48,
   * 112, 176 and so on. A watch has room for four values.
   */
  readonly bytes?: number;
  /** How values travel. All threads of the watch use codecs of one name. Default `bytes`. */
  readonly codec?: Codec<T>;
  /** The arena of the watch. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** A value of a watch, and which one it is. */
export interface Snapshot<T> {
  /** The value. */
  readonly value: T;
  /** How many values have been set until then. The first value, with which the watch was made, has the version 0. */
  readonly version: number;
}

/** @internal A copy of a value, before its codec has read it. */
export interface Copied {
  readonly got: unknown;
  readonly version: number;
}

/** The answer of `Watch.inspect`. */
export interface WatchStats {
  /** The version of the newest value. */
  readonly version: number;
  /** The bytes of the largest value. */
  readonly bytes: number;
  /** Whether the watch is closed. */
  readonly closed: boolean;
  /** How many threads died in the middle of `set`. Their values were not set. */
  readonly writersDied: number;
  /** The requests that wait for their turn to set a value. */
  readonly writers: EndStats;
  /** The requests that wait for a newer value. */
  readonly watchers: EndStats;
}

/** @internal Checks the options of a new watch. Returns its properties. */
export function properties(what: string, options: WatchOptions<never>): Properties {
  checkOptions(what, options, ['bytes', 'codec', 'arena']);
  const { bytes: most = 48, codec } = options;
  checkBytes(what, most);
  if (codec !== undefined) checkCodec(what, codec);
  return {
    permits: 1,
    max: PLACES - 1,
    threshold: sizeOfPlace(most),
    differences: (words) => differing(['bytes', roomIn(words), roomFor(most)]),
  };
}
