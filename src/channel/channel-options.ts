/** The options of a channel, what `inspect` tells of one, and the properties of the shared object that it asks for. */
import type { Arena } from '../arena/arena.js';
import { O_INITIAL } from '../border/numbers.js';
import type { Properties } from '../objects/options.js';
import { differing, type Handle } from '../objects/reference.js';
import type { ConditionStats } from '../objects/stats.js';
import { bad, checkInteger, checkOptions, refuseName } from '../runtime/errors.js';
import { type Codec, checkBytes, checkCodec, roomFor, roomIn, sizeOfPlace } from './codec.js';

export const KIND = 'Channel';

/** A plain, structured-cloneable value to send to another thread, for `Channel.from` there. */
export type ChannelHandle = Handle<'Channel'>;

/** The options of a new `Channel`. */
export interface ChannelOptions<T> {
  /** How many messages the channel holds, a power of two from 1 to 65,536. Default 256. */
  readonly capacity?: number;
  /**
   * The bytes of the largest message, 8 to 16,777,216. Default 48. A message with its head of 16 bytes takes whole lines
   * of 64 bytes, so the channel rounds the number up: to 48, 112, 176 and so on.
   */
  readonly bytes?: number;
  /** How values travel. All threads of the channel use codecs of one name. Default `bytes`. */
  readonly codec?: Codec<T>;
  /**
   * How many senders there will be, 1 to 1,048,576. The channel closes itself when the last of them has left, ended or
   * died. A sender is a thread, or a task of a thread, that has called `sender`. Default: it does not close itself. For
   * `open`, the number counts only if the call makes the channel.
   */
  readonly senders?: number;
  /** The arena of the channel. Default: `Arena.default`. */
  readonly arena?: Arena;
}

/** The requests that wait at one end of a channel. */
export type EndStats = ConditionStats;

/** The answer of `Channel.inspect`. */
export interface ChannelStats {
  /** How many messages the channel holds at most. */
  readonly capacity: number;
  /** The bytes of the largest message. */
  readonly bytes: number;
  /** How many messages are in the channel, ready to be received. Holes count, too. */
  readonly size: number;
  /** Whether the channel is closed. */
  readonly closed: boolean;
  /**
   * Places that nobody has filled, since the channel was made: their senders died, dropped a `Place`, or had their
   * calls cut short by an exception.
   */
  readonly holes: number;
  /**
   * Messages that were lost with a receiver that had taken them and died, or whose call an exception has cut short,
   * since the channel was made.
   */
  readonly lost: number;
  /** How many senders are still to leave before the channel closes itself; 0 if it does not do so, or has. */
  readonly sendersLeft: number;
  /** The senders that wait for a free place. */
  readonly senders: EndStats;
  /** The receivers that wait for a message. */
  readonly receivers: EndStats;
}

/** @internal Returns the properties of a new channel. */
export function properties(what: string, options: ChannelOptions<never>): Properties {
  refuseName(what, KIND, 'options', options, 'an object');
  checkOptions(what, options, ['capacity', 'bytes', 'codec', 'senders', 'arena']);
  const { capacity = 256, bytes: most = 48, codec, senders = 1 } = options;
  const MOST_MESSAGES = 65536;
  const MOST_SENDERS = 2 ** 20;
  checkInteger(`${what}: capacity`, capacity, 1, MOST_MESSAGES);
  if (capacity & (capacity - 1))
    throw bad('number', `${what}: capacity`, `a power of two from 1 to ${MOST_MESSAGES}`, capacity);
  checkBytes(what, most);
  if (codec !== undefined) checkCodec(what, codec);
  checkInteger(`${what}: senders`, senders, 1, MOST_SENDERS);
  return {
    permits: capacity,
    max: capacity - 1,
    threshold: sizeOfPlace(most),
    differences: (words) =>
      differing(['capacity', words[O_INITIAL / 4], capacity], ['bytes', roomIn(words), roomFor(most)]),
  };
}
