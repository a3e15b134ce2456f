/**
 * What the senders' half and the receivers' half of a channel have in common: the two ends, the counts, and how it closes.
 */
import type { Arena } from '../arena.js';
import {
  KIND_CHANNEL,
  KIND_RECEIVING_END,
  O_INITIAL,
  P_DONE,
  P_NEXT,
  P_SENDERS,
  P_TOLD,
  P_UNTOLD,
} from '../border/numbers.js';
import { bad, checkInteger, checkOptions, described, refuseName } from '../errors.js';
import { budget, PARKING, type ParkingOptions, type Properties, USUAL } from '../options.js';
import { differing, type Handle, make, Reference } from '../reference.js';
import { ADAPTIVE } from '../runtime/numbers.js';
import { closed } from '../runtime/promises.js';
import { close, detach, disposedError, forget, isOver, named, reference, SharedObject } from '../shared-object.js';
import { type ConditionStats, conditionStats } from '../stats.js';
import {
  type Codec,
  checkBytes,
  checkCodec,
  hashOf,
  otherCodec,
  roomFor,
  roomIn,
  sizeOfPlace,
  type Wire,
  wireOf,
} from './codec.js';
import { bytes } from './codecs.js';
import type { Endpoint } from './endpoint.js';
import { type Endpoints, endpointsOf, type Form } from './endpoints.js';

export const KIND = 'Channel';
const FORM: Form = {
  kind: 'ReceivingEnd',
  kindNumber: KIND_RECEIVING_END,
  robust: 1,
  sending: {
    isSending: true,
    thing: 'channel',
    wanted: 'a free place in',
    instead: 'sendAsync or trySend',
    closed: '',
  },
  receiving: {
    isSending: false,
    thing: 'channel',
    wanted: 'a message of',
    instead: 'receiveAsync or tryReceive',
    closed: ', and every message has been received',
  },
};
/** Says that a receiver has met a hole. */
export const NOTHING = Symbol();

/** A plain, structured-cloneable value to send to another thread, for `Channel.from` there. */
export type ChannelHandle = Handle<'Channel'>;

/** The options of a new `Channel`. */
export interface ChannelOptions<T> extends ParkingOptions {
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

// The hooks of the classes, as in SharedObject.
/** @internal */
export const endsOf = Symbol();
/** @internal */
export const sendingEnd = Symbol();
/** @internal */
export const receivingEnd = Symbol();
/** @internal */
export const wireTo = Symbol();
/** @internal */
export const isNumber = Symbol();
/** @internal */
export const roomOf = Symbol();
/** @internal */
export const places = Symbol();
/** @internal */
export const keeper = Symbol();
/** @internal */
export const tellSender = Symbol();
/** @internal */
export const tellReceiver = Symbol();
/** @internal */
export const isClosed = Symbol();

/** The ends of a channel, as one library object sees them. */
export abstract class ChannelBase<T> extends SharedObject<typeof KIND> {
  /** @internal */
  protected readonly [endsOf]: Endpoints;
  /** @internal */
  protected readonly [sendingEnd]: Endpoint;
  /** @internal */
  protected readonly [receivingEnd]: Endpoint;
  /** @internal */
  protected readonly [wireTo]: Wire<T>;
  /** @internal */
  protected readonly [isNumber]: boolean;
  /** @internal The bytes of a place, without its head. */
  protected readonly [roomOf]: number;
  /** @internal */
  protected readonly [places]: number;
  /** @internal Keeps this object while its promises wait. */
  protected readonly [keeper]: { readonly channel: object; [closed](): void } = { channel: this, [closed]() {} };

  /**
   * A callback for a thread that receives, if senders have died in the middle of a `send`. It gets the number of holes
   * that they have left, of which no thread was told before. The library calls it before `receive` returns. If it
   * throws, the error becomes that of a rejected promise that nobody handles, and the message is received.
   */
  onSenderDied: ((holes: number) => void) | undefined;

  /**
   * A callback for a thread that sends, if receivers have died with messages that they had taken. It gets the number of
   * these messages of which no thread was told before. The library calls it before `send` returns. Errors are handled as
   * those of `onSenderDied`.
   */
  onReceiverDied: ((lost: number) => void) | undefined;

  /** @internal */
  protected constructor(
    options: ChannelOptions<T> | Reference,
    codec: Codec<T> | undefined,
    what: string,
    senders: number | undefined,
  ) {
    const isNew = !(options instanceof Reference);
    const chosen = (isNew ? options?.codec : codec) ?? (bytes as Codec<unknown> as Codec<T>);
    super(KIND, isNew ? make(KIND, KIND_CHANNEL, properties(KIND, options), options.arena) : options);
    const { address, membership } = this[reference];
    try {
      this[endsOf] = endpointsOf(this[reference], FORM, what, (words, m) => {
        words[(m + P_SENDERS) / 4] = (isNew ? options.senders : senders) ?? 0;
      });
      const hash = hashOf(chosen as Codec<never>);
      const agreed = this[endsOf].module.agree(address, hash);
      if (agreed !== hash) throw otherCodec(what, this[described](), agreed, chosen);
    } catch (error) {
      this[closed]();
      throw error;
    }
    this[sendingEnd] = this[endsOf].sending;
    this[receivingEnd] = this[endsOf].receiving;
    this[roomOf] = roomIn(this[sendingEnd].words.subarray(address / 4));
    this[places] = membership.core.initial(address);
    this[wireTo] = wireOf(chosen, this[endsOf].views, this[roomOf], membership);
    this[isNumber] = this[wireTo].isNumber;
  }

  /** As `handle` of every shared object. The channel of a handle lives until a thread disposes of it. */
  override get handle(): ChannelHandle {
    const given = super.handle;
    this[endsOf].keep();
    return given;
  }

  /** How many messages the channel holds at most. */
  get capacity(): number {
    return this[places];
  }

  /** The bytes of the largest message. */
  get bytes(): number {
    return this[roomOf];
  }

  /** How many messages are in the channel, ready to be received. It is racy, and meant for diagnostics. */
  get size(): number {
    return this.#size;
  }

  get #size(): number {
    if (this[isOver]) return 0;
    const { words, at } = this[receivingEnd];
    const next = Atomics.load(words, (at + P_NEXT) / 4);
    return Math.max((Atomics.load(words, (this[sendingEnd].at + P_DONE) / 4) - next) | 0, 0);
  }

  /**
   * The number of queued requests, of senders and receivers, blocked threads and promises alike. It looks at every waiter
   * of the arena and is racy, so it is meant for diagnostics.
   */
  get waiting(): number {
    const { core, at } = this[sendingEnd];
    return core.waiting(at) + core.waiting(this[receivingEnd].at);
  }

  /** Whether the channel is closed or disposed of. */
  get closed(): boolean {
    return this[isClosed];
  }

  /** @internal */
  get [isClosed](): boolean {
    const { core, words, at } = this[sendingEnd];
    return this[isOver] || core.isDisposed(at) !== 0 || Atomics.load(words, (at + P_NEXT) / 4 + 1) < 0;
  }

  /**
   * Closes the channel: nothing more can be sent. Senders that wait get a ClosedError. Receivers get the messages that
   * are there, and those whose senders have their places, and then the end. May be called again. Never blocks, throws
   * nothing. On a disposed channel it does nothing.
   * @example channel.close();
   */
  close(): void {
    if (this[isOver]) return;
    const { module } = this[endsOf];
    this[sendingEnd].expectCut();
    module.close(this[sendingEnd].at, this[receivingEnd].at);
    this[receivingEnd].finishClose();
  }

  /**
   * Describes the channel by a plain object, for diagnostics. It looks at every waiter of the arena and is racy. Never
   * blocks.
   * @throws {DisposedError} if the channel has been disposed of.
   * @example console.log(channel.inspect().receivers.waiting);
   */
  inspect(): ChannelStats {
    if (this[isOver]) throw this[disposedError]();
    const { core, words, at: f } = this[sendingEnd];
    const { at: m } = this[receivingEnd];
    const sum = (end: number): number =>
      (words[(end + P_TOLD) / 4] as number) + (words[(end + P_UNTOLD) / 4] as number);
    return {
      capacity: this[places],
      bytes: this[roomOf],
      size: this.#size,
      closed: this[isClosed],
      holes: sum(m),
      lost: sum(f),
      sendersLeft: Math.max(Atomics.load(words, (m + P_SENDERS) / 4), 0),
      senders: conditionStats(core, f, core.waiting(f)),
      receivers: conditionStats(core, m, core.waiting(m)),
    };
  }

  /** Returns, for example, `Channel("jobs", 3 of 256)`, for diagnostics. Never blocks, throws nothing. */
  override toString(): string {
    const what = this[isOver] ? 'disposed' : `${this.#size} of ${this[places]}${this[isClosed] ? ', closed' : ''}`;
    return `${KIND}(${this[named](', ')}${what})`;
  }

  /** @internal */
  protected [tellSender](): void {
    if (this.onReceiverDied !== undefined) tell(this[sendingEnd], this.onReceiverDied);
  }

  /** @internal */
  protected [tellReceiver](): void {
    if (this.onSenderDied !== undefined) tell(this[receivingEnd], this.onSenderDied);
  }

  /** @internal */
  protected override [close](): void {
    const { core, at } = this[sendingEnd];
    // If this thread dies midway, its reaper disposes of the other end.
    core.dispose(at);
    core.dispose(this[receivingEnd].at);
  }

  /** @internal */
  protected override [forget](): void {}

  /** @internal */
  protected override [detach](): void {
    this[endsOf]?.closeAlike();
    super[detach]();
    // Other library objects of the thread may go on with the channel.
    if (this[endsOf]?.sending.shared.heldBy.size === 0) this[endsOf].letGo();
  }
}

function tell(end: Endpoint, callback: (count: number) => void): void {
  if (!end.hasNews) return;
  const count = end.takeNews();
  if (count === 0) return;
  try {
    callback(count);
  } catch (error) {
    Promise.reject(error);
  }
}

/** @internal Returns the properties of a new channel. */
export function properties<T>(what: string, options: ChannelOptions<T>): Properties {
  refuseName(KIND, 'options', options, 'an object');
  checkOptions(what, options, ['capacity', 'bytes', 'codec', 'senders', ...USUAL]);
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
    spin: budget(what, options, ADAPTIVE, PARKING),
    robust: true,
    threshold: sizeOfPlace(most),
    differences: (words) =>
      differing(['capacity', words[O_INITIAL / 4], capacity], ['bytes', roomIn(words), roomFor(most)]),
  };
}
