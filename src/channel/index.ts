/**
 * taketurns/channel has channels: bounded queues of messages between threads, with back-pressure. Threads share a channel
 * by handle or name, as they share a `Semaphore`. Blocked threads and promises wait together.
 *
 * @since 0.3.0
 * @module
 */

export { ClosedError, SelfDeadlockError } from '../runtime/errors.js';
export type { Case } from './case.js';
export { type Batches, Channel, type Received } from './channel.js';
export type { ChannelHandle, ChannelOptions, ChannelStats, EndStats } from './channel-options.js';
export type { Codec, From, Into } from './codec.js';
export { bytes, number, numbers } from './codecs.js';
export { Message, Place } from './place.js';
export { type Field, type Fields, type RecordOf, record } from './record.js';
export {
  acquiring,
  changing,
  receiving,
  type Selected,
  type SelectOptions,
  select,
  selectAsync,
  sending,
  trySelect,
  type ValueOf,
} from './select.js';
export { Sender } from './sender.js';
export { json, text } from './text.js';
export { value } from './value.js';
export { Watch } from './watch.js';
export type { Snapshot, WatchHandle, WatchOptions, WatchStats } from './watch-options.js';
