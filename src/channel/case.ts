/** A case of a select (select.ts), and what the select does with it. */
import type { Membership, Shared } from '../runtime/membership.js';

/** Makes the work of a case. */
export const selecting = Symbol();
/** A method of a channel: makes the work of a case that receives, or sends a value. */
export const workOf = Symbol();
/** A method of a watch: makes the work of a case that waits for a newer value. */
export const changeOf = Symbol();

/** @internal What select does with a case. No method runs code of the user but `Done.read`. */
export interface Work<T> {
  readonly membership: Membership;
  readonly shared: Shared;
  /** The address of the queue, and how many permits the case asks for. */
  readonly at: number;
  readonly permits: number;
  /** Throws if the thread may not do this now. */
  check(): void;
  /** Does it if it can be done at once. Returns undefined if not. */
  try(): Done<T> | undefined;
  /** Does it with the permit that the queue has given. Returns undefined if there was nothing, as for a hole. */
  take(): Done<T> | undefined;
  /** Calls a function that takes, as soon as the thread may. */
  whenFree(run: () => void): void;
  /** Gives a permit back that came too late. */
  giveBack(): void;
  /** Whether there is something to have now that the case stands in its queue: nobody may give it a permit for that. */
  isDue?(): boolean;
  /** What happens if the queue is closed: the end of a channel or a watch is an outcome, and all else an error. */
  closed(): Done<T>;
}

/** @internal The outcome of a case. */
export interface Done<T> {
  /** Returns the value. It may run code of the user, so select calls it when it has left all queues. */
  read(): T | undefined;
  readonly closed: boolean;
  /** Where the message is unread until it is read. While a promise keeps the outcome, the message counts there. */
  readonly unreadAt?: { inTransit: number };
}

const none = (): undefined => undefined;
/** @internal A case without a value has happened. */
export const HAPPENED: Done<never> = { read: none, closed: false };
/** @internal A case has come to the end of its channel or watch. */
export const ENDED: Done<never> = { read: none, closed: true };

/** A case of a select: `receiving`, `sending`, `acquiring` or `changing` makes it. It may be used again and again. */
export interface Case<T = unknown> {
  /** @internal */
  [selecting](): Work<T>;
}
