/** What the calling thread does for reports: it looks for deadlocks when it blocks for long, and has a name. */
import { host } from '#host';
import { Arena } from '../arena/arena.js';
import type { Channel } from '../border/channel.js';
import type { Sync } from '../border/sync.js';
import { common } from '../runtime/common.js';
import { badType, checkChoice, checkInteger, checkOptions, checkType } from '../runtime/errors.js';
import type { Membership } from '../runtime/membership.js';
import { inside } from '../runtime/own-arenas.js';
import { lookInSleeps } from './long-sleeps.js';
import { type Looking, labelThread, looking } from './looking-host.js';
import type { measureWaits } from './measure.js';
import { memberships } from './memberships.js';
import { CHOICES, isMeasured, LONGEST, type OnDeadlock, set } from './settings.js';
import { likelyMistake, nameText, ownCircle } from './youngest.js';

/** @internal Returns the membership of the calling thread in an arena. */
export function membershipIn(what: string, arena: Arena): Membership {
  const membership = (arena as Arena | null)?.[inside];
  if (membership === undefined) {
    const isHandle = (arena as { readonly kind?: unknown } | null)?.kind === 'Arena';
    const instead = isHandle ? 'write Arena.from(handle)' : 'undefined is the default arena, and options come after it';
    throw badType(`${what}: arena`, 'an Arena', arena, instead);
  }
  return membership;
}

/** What happens in an arena when a thread waits in a deadlock. */
export interface DeadlockOptions {
  /**
   * `warn` (the default) prints the deadlock, once. `throw` makes the youngest waiter of the deadlock leave the queue
   * and throw a {@link DeadlockError}. If the youngest waiter must lock a mutex again after a wait on a `Condition`,
   * the next older one leaves. With `ignore` no thread looks.
   */
  readonly deadlocks?: OnDeadlock;
  /** How many milliseconds a thread blocks before it first looks, 0 to 536,870,910. Default 1000. */
  readonly after?: number;
}

/**
 * Makes the calling thread look for deadlocks when it blocks for long, and says what happens when it finds one. The
 * setting is that of the arena, for all threads. Without options it stays as it is. A thread that waits obeys it at its
 * next look; if no thread looked before, from its next wait on. Never blocks.
 *
 * On Node, in Deno and in Bun, threads that load this package as it is installed look without this call. In a browser,
 * and in a program that was bundled, each thread that shall look calls this first.
 *
 * A thread looks when it has blocked without a time-out for a second, and again and again as long as it waits. A
 * deadlock of promises alone is never certain, so no thread looks for it: `deadlocks` and `report` tell it as
 * `suspected`.
 * @param arena default `Arena.default`.
 * @throws {TypeError | RangeError} for a bad argument.
 * @throws {DisposedError} if this thread has left the arena.
 *
 * @example
 * ```ts
 * import { watchDeadlocks } from 'taketurns/report';
 *
 * watchDeadlocks(undefined, { deadlocks: 'throw', after: 500 });
 * ```
 * @since 0.3.0
 */
export function watchDeadlocks(arena: Arena = Arena.default, options: DeadlockOptions = {}): void {
  checkOptions('watchDeadlocks', options, ['deadlocks', 'after']);
  const { memory } = membershipIn('watchDeadlocks', arena);
  const { deadlocks, after } = options;
  if (deadlocks !== undefined) checkChoice('watchDeadlocks: deadlocks', deadlocks, CHOICES);
  if (after !== undefined) checkInteger('watchDeadlocks: after', after, 0, LONGEST);
  set(new Int32Array(memory.buffer), deadlocks, after);
  surroundings();
}

/**
 * Gives the calling thread a name, which reports and deadlocks show: at most 28 bytes of UTF-8, of a longer name the
 * first. An empty name takes the name away. The thread has the name in all its arenas, also in those to which it
 * attaches later. A runtime that tells a thread the `name` of its worker makes the call superfluous: web workers, Deno,
 * Bun, and Node from 22.20 and 24.6 on. Never blocks.
 * @throws {TypeError} if the name is no string.
 * @example nameThread('indexer');
 * @since 0.3.0
 */
export function nameThread(name: string): void {
  checkType('nameThread: name', name, 'string', 'a string');
  surroundings().threadLabel = name;
  for (const membership of memberships(host.anchor).values()) labelThread(membership, name);
}

/** The instances of this thread of the modules of taketurns/sync and taketurns/channel (their files compiled.ts). */
const instances = () => common('sync', () => new WeakMap<Membership, Sync>());
const channels = () => common('channel', () => new WeakMap<Membership, Channel>());

/**
 * @internal Makes the calling thread measure its waits, in all its arenas in which threads do (measure.ts).
 * @param onWait is told of each wait, also in arenas in which threads do not.
 */
export function measureHere(measure: typeof measureWaits, onWait?: Looking['onWait']): void {
  const own = surroundings();
  own.measure ??= measure;
  if (onWait) own.onWait = onWait;
  const { now } = host.clock;
  for (const membership of memberships(host.anchor).values()) {
    if (!onWait && !isMeasured(new Int32Array(membership.memory.buffer))) continue;
    own.measure(membership.core, membership, own, now);
    const sync = instances().get(membership);
    if (sync) own.measure(sync, membership, own, now);
  }
}

/**
 * Makes the host one that looks for deadlocks, if it is not, and returns what the host has besides. The thread may have
 * attached to arenas before, also by another copy of this package whose host does not look.
 */
function surroundings(): Looking {
  const known = (host as { looking?: Looking }).looking;
  const { name } = globalThis as { name?: unknown };
  const own = known ?? {
    say: (message) => host.warn(message),
    look: ownCircle,
    likelyMistake,
    nameText,
    isMain: host.isMainThread,
    threadLabel: typeof name === 'string' && typeof document === 'undefined' ? name : '',
  };
  if (!known) Object.assign(host, looking(host, own));
  for (const membership of memberships(host.anchor).values()) {
    lookInSleeps(membership.core, ['park', 'compete'], membership, own, host.clock.now);
    if (own.threadLabel) labelThread(membership, own.threadLabel);
    const sync = instances().get(membership);
    if (sync) lookInSleeps(sync, ['sleepInPhase', 'drainReaders'], membership, own, host.clock.now);
    const channel = channels().get(membership);
    if (channel) lookInSleeps(channel, ['sleepOn'], membership, own, host.clock.now);
  }
  return own;
}
