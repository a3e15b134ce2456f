/**
 * Events of slow moments, for `node:diagnostics_channel`.
 *
 *     this thread      a wait ends ──► the event is kept ──► the running code ends ──► published
 *     all threads      a timer of this thread looks once a second: new deadlocks, and deaths of owners
 *
 * An event is published only when the running code has ended. A subscriber that ran in the middle of a wait could call
 * this library there, and a thread has one request at a time that blocks. So there is no event for the begin of a wait:
 * `waited` says when it began.
 */
import { host } from '#host';
import { Arena } from '../arena/arena.js';
import { O_DEATHS, O_LIFE } from '../border/numbers.js';
import { View } from '../look/view.js';
import { deadlocks } from '../report/ask.js';
import { type Ended, measureWaits } from '../report/measure.js';
import { type ObjectRef, objectRefIn } from '../report/refs.js';
import { measureHere, membershipIn } from '../report/this-thread.js';
import { epoch } from '../runtime/epoch.js';
import { badType } from '../runtime/errors.js';
import type { Membership } from '../runtime/membership.js';

/** The message of the channels `taketurns:woken` and `taketurns:gave-up`. */
export interface WaitEvent extends ObjectRef {
  /** The number of the thread in the arena, as in `ThreadHandle`. */
  readonly thread: number;
  /** Whether the thread has blocked. Otherwise promises of the thread have waited. */
  readonly blocked: boolean;
  /** How many requests have ended. */
  readonly requests: number;
  /** How long the first of them has waited, in milliseconds. */
  readonly waited: number;
  /** When the wait ended: milliseconds since 1970. */
  readonly at: number;
}

/** The message of the channel `taketurns:owner-died`. */
export interface OwnerDeathEvent extends ObjectRef {
  /** How many threads have died as owners of the object since the last such event. */
  readonly deaths: number;
}

/** What `publishEvents` needs of `node:diagnostics_channel`. */
export interface Channels {
  /** Returns the channel of this name. Never blocks, throws nothing. */
  channel(name: string): {
    /** Whether somebody listens. Nothing is published otherwise. */
    readonly hasSubscribers: boolean;
    /** Hands the message to all who listen. */
    publish(message: unknown): void;
  };
}

/** How often the thread looks for deadlocks and deaths, in milliseconds. */
const PERIOD = 1000;
/** A thread keeps at most so many events until its running code has ended, and drops the others. */
const MOST_KEPT = 1000;

/** What is to be published of each arena. A thread that leaves an arena may attach to it again. */
const publishers = new Map<
  WebAssembly.Memory,
  { readonly membership: Membership; readonly publish: (thread: number, ended: Ended) => void }
>();

/**
 * Makes the calling thread publish what is slow, on these channels of `node:diagnostics_channel`:
 *
 * | channel | when | message |
 * | --- | --- | --- |
 * | `taketurns:woken` | a wait of this thread has ended, and it got what it waited for | `WaitEvent` |
 * | `taketurns:gave-up` | a wait of this thread has ended by a time-out, a signal, `cancelAll`, `dispose` or a deadlock | `WaitEvent` |
 * | `taketurns:owner-died` | a thread has died as the owner of an object of the arena | `OwnerDeathEvent` |
 * | `taketurns:deadlock` | threads of the arena wait for one another, for about a second | `Deadlock` |
 *
 * Events of waits are those of the calling thread, as `node:diagnostics_channel` has subscribers in each thread. They are
 * published when the running code has ended, so a subscriber may use this library. Of more than 1,000 that are due
 * then, the later ones are dropped. For the other two channels the thread looks once a second, which needs turns of its
 * event loop, and does not keep the process alive. Never blocks. A second call for the same arena changes nothing.
 * @param channels the module `node:diagnostics_channel`, or something like it.
 * @param arena default `Arena.default`.
 * @throws {TypeError} for a bad argument.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import diagnostics_channel from 'node:diagnostics_channel';
 * import { publishEvents, type WaitEvent } from 'taketurns/metrics';
 *
 * publishEvents(diagnostics_channel);
 * diagnostics_channel.subscribe('taketurns:woken', (message) => {
 *   const { kind, name, waited } = message as WaitEvent;
 *   if (waited > 500) console.warn(`${kind} ${name}: waited for ${waited} ms`);
 * });
 * ```
 * @since 0.3.0
 */
export function publishEvents(channels: Channels, arena: Arena = Arena.default): void {
  if (typeof (channels as Channels | null)?.channel !== 'function')
    throw badType('publishEvents: channels', 'the module node:diagnostics_channel', channels);
  const membership = membershipIn('publishEvents', arena);
  const { memory } = membership;
  if (publishers.get(memory)?.membership === membership) return;
  publishers.set(memory, { membership, publish: waitPublisher(channels, memory) });
  measureHere(measureWaits, (memory, thread, ended) => publishers.get(memory)?.publish(thread, ended));
  listenIn(channels, arena, membership);
}

function waitPublisher(channels: Channels, memory: WebAssembly.Memory): (thread: number, ended: Ended) => void {
  const view = new View(memory);
  const [woken, gaveUp] = [channels.channel('taketurns:woken'), channels.channel('taketurns:gave-up')];
  const kept: [typeof woken, WaitEvent][] = [];
  return (thread, { object, blocked, requests, waited, failed }) => {
    const channel = failed ? gaveUp : woken;
    if (!isHeard(channel) || kept.length === MOST_KEPT) return;
    if (kept.length === 0)
      host.soon(() => {
        for (const [channel, message] of kept.splice(0)) channel.publish(message);
      });
    const event = { ...objectRefIn(view, object), thread, blocked, requests, waited: waited * 1000, at: epoch() };
    kept.push([channel, event]);
  };
}

/** Whether somebody listens. What a channel of the program throws must not come out of a call that waits. */
function isHeard(channel: ReturnType<Channels['channel']>): boolean {
  try {
    return channel.hasSubscribers;
  } catch (error) {
    host.soon(() => {
      throw error;
    });
    return false;
  }
}

/** Looks once a second, as long as somebody listens and the thread is in the arena. */
function listenIn(channels: Channels, arena: Arena, membership: Membership): void {
  const { memory } = membership;
  const view = new View(memory);
  const [died, deadlock] = [channels.channel('taketurns:owner-died'), channels.channel('taketurns:deadlock')];
  /** How many owners of an object had died, with the generation of the object, if any had. */
  const deaths = new Map<number, readonly [number, number]>();
  let told = new Set<string>();
  const look = (isFirst = false): void => {
    if (membership.isOver) {
      if (publishers.get(memory)?.membership === membership) publishers.delete(memory);
      return;
    }
    wait();
    const used = view.usedObjects();
    for (let number = 0; number < used; number++) {
      const object = view.objectAt(number);
      const [generation, count] = [view.load(object + O_LIFE + 4), view.load(object + O_DEATHS) >>> 0];
      if (count === 0 || !view.isLive(object)) continue;
      const [known, before] = deaths.get(object) ?? [generation, 0];
      deaths.set(object, [generation, count]);
      const more = count - (known === generation ? before : 0);
      if (more > 0 && !isFirst && died.hasSubscribers)
        died.publish({ ...objectRefIn(view, object), deaths: more } satisfies OwnerDeathEvent);
    }
    if (!deadlock.hasSubscribers) return;
    const still = new Set<string>();
    for (const one of deadlocks(arena).certain) {
      const key = String(one.edges.map(({ thread, waitsFor }) => [thread.thread, waitsFor.number]));
      still.add(key);
      if (!told.has(key)) deadlock.publish(one);
    }
    told = still;
  };
  const wait = (): void => {
    // It must not keep the process alive.
    (host.clock.setTimeout(look, PERIOD) as { unref?(): void }).unref?.();
  };
  look(true);
}
