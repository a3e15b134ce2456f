/** What calls and ghosts know of the run to which they belong. */
import type { Program } from './program.js';
import type { Library, Realm } from './realm.js';
import type { Scheduler } from './schedule.js';
import type { Signal } from './signal.js';

export interface Stage {
  readonly scheduler: Scheduler;
  readonly program: Program;
  /** The library objects of each thread. */
  readonly objects: ReadonlyMap<Realm, readonly Library[]>;
  /** The ghosts of the objects, by number. */
  readonly ghosts: readonly unknown[];
  readonly signals: { readonly thread: Realm; readonly signal: Signal }[];
  /** Errors that code of the program throws, which the library may pass on. */
  readonly errors: ReadonlySet<unknown>;
  /** Whether a thread has died and not been reaped. */
  readonly isUnreaped: boolean;
  /**
   * Whether the object of this number has been disposed of. The running thread finds out by attaching to the object.
   */
  isClosed(on: number): boolean;
  /**
   * Lets the library object of a thread be collected, and attaches the thread again. If `attachesFirst`, the finalizer
   * runs only after the thread has attached. Does nothing if the thread still needs the library object.
   */
  renew(thread: Realm, on: number, attachesFirst: boolean): void;
  /** Makes an error that the program itself throws. */
  error(thread: Realm): Error;
  /** Notes that a thread has to do `more` further things that it cannot do while it sleeps. */
  busy(thread: Realm, more: number): void;
  /** The signal that requests of a thread have in common. */
  sharedSignal(thread: Realm): Signal;
}
