/** Defines a contender, which is a lock or semaphore to simulate: its objects, and the calls to enter and to leave. */
import type { ProgramName } from '../programs.js';
import { constant } from '../scene/layout.js';

/** A thread that enters and leaves for ever. */
export interface Visitor {
  /** The thread's attachment to the first object, if this object is robust; otherwise 0. */
  readonly attachment: number;
  /** The addresses of the contender's objects. */
  readonly objects: readonly number[];
  /** Returns a number from 0 to below 1. */
  readonly dice: () => number;
  /** Whether the thread has gone past the capacitor. */
  past: boolean;
  /** The lane in which the thread has arrived. It is chosen at random. */
  lane: number;
}

/** A call of an export on one of the contender's objects. */
export interface Call {
  readonly name: string;
  /** The index of the object, 0 by default; park takes no object. */
  readonly on?: number | 'nothing';
  /** Returns the arguments after the object's address. */
  readonly args?: (visitor: Visitor) => readonly number[];
  /** Returns the calls that must follow this answer. */
  readonly next?: (answer: number, visitor: Visitor) => readonly Call[];
}

export interface Made {
  /** The name of a constant of the core. */
  readonly kind: string;
  readonly spin: number;
  readonly threshold?: number;
  /** O_WAKE and O_LAZY. */
  readonly wake?: number;
  readonly lazy?: number;
  /** O_DELAY: how many pauses a waiter makes for each ticket before its own. Each pause takes a turn. */
  readonly delay?: number;
  readonly permits?: number;
  readonly most?: number;
  readonly robust?: boolean;
}

export const GROUPS = ['semaphores', 'chains', 'thresholds', 'locks', 'capacitors', 'reading'] as const;
/** Each group has a table of its own. */
export type Group = (typeof GROUPS)[number];

type Calls = (visitor: Visitor) => readonly Call[];

export interface Contender {
  readonly name: string;
  /** The module; the core by default. */
  readonly program?: ProgramName;
  readonly objects: readonly Made[];
  readonly enter: Calls;
  readonly leave: Calls;
  readonly of: Group;
}

/** Waiters poll for ever, as in the listings of the papers. */
export const WITHOUT_END = constant('FOR_EVER');
/** As many permits as a semaphore may have. */
export const UNLIMITED = 0x7fffffff;
/** Each waiter decides for itself how long it polls (core/queue/polling.ts). */
export const ADAPTIVE = -1;
/** The default threshold of the library. */
export const TWA_THRESHOLD = 1;

export const MORE = constant('MORE');

/** A lock around which a capacitor can be put, by the names of its exports. */
export interface Inner {
  readonly name: string;
  readonly made: Made;
  readonly lock: string;
  readonly tryLock: string;
  readonly unlock: string;
}
