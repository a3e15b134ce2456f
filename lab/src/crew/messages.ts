/** The messages between the page and its workers. */
import type { ArenaHandle, ThreadHandle } from 'taketurns';
import type { BenchOrder } from '../bench/thread.js';
import type { ChannelOrder } from '../channel/thread.js';
import type { HangOrder } from '../hang/thread.js';
import type { QueueOrder } from '../queue/thread.js';
import type { StarvationOrder } from '../starvation/thread.js';
import type { SyncOrder } from '../sync/thread.js';

export type Order =
  | ({ readonly job: 'starvation' } & StarvationOrder)
  | ({ readonly job: 'queue' } & QueueOrder)
  | ({ readonly job: 'sync' } & SyncOrder)
  | ({ readonly job: 'channel' } & ChannelOrder)
  | ({ readonly job: 'hang' } & HangOrder)
  | ({ readonly job: 'bench' } & BenchOrder);

/** The first message to a worker. */
export interface Welcome {
  readonly arena: ArenaHandle;
}

export type Reply =
  | { readonly hired: ThreadHandle }
  | { readonly ready: true }
  | { readonly done: true }
  | { readonly error: string };
