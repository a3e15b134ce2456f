// What a row is, and what all kinds of rows share. The rows themselves are declared in semaphores.ts and locks.ts.
//
// Packages are imported only when a row is used, so a package that is missing or broken costs its own rows alone.

import type { Arena } from 'taketurns';
import type { Trace } from './platoon.js';

export type Family = 'taketurns' | 'JavaScript' | 'npm' | 'native';

/** One thread's hold on what is measured. */
export interface Joined<Subject> {
  subject: Subject;
  /** The ticket that this thread's latest admission had; only where the algorithm has tickets. */
  ticket?: () => bigint;
  /** Called once, after this thread's last call of what is measured, where others may still wait for this thread. */
  finish?: () => void;
  /** Lets go of it, when all threads have done with it; where there is so much of it that this must not wait. */
  leave?: () => void;
}

/** What is measured, as the process that makes it has it. */
export interface Shared {
  shared: unknown;
  dispose?: () => void;
  /** What has been counted of it so far. */
  wakes?: () => Wakes;
  /** Where it keeps a log: the last of it before a time, in milliseconds of `clock`. */
  trace?: (end: number) => Trace;
}

/** Counts of waiters that disturb one another. */
export interface Wakes {
  /** A waiter came to a slot where another stood. */
  collisions: number;
  /** A waiter was woken whose turn had not come. */
  futile: number;
}

/** Those of all objects of an arena. */
export function wakesOf(arena: Arena): Wakes {
  const { collisions, futileWakes } = arena.stats();
  return { collisions, futile: futileWakes };
}

/** A row that runs in worker threads. */
export interface ScriptRow<Subject = unknown> {
  kind: 'script';
  name: string;
  family: Family;
  /** Where the row stands in the figures of locks. */
  lock?: LockPlace;
  /** The only thread counts it is measured at; it is in no other table then. */
  only?: Counts;
  /** Where the row stands in the table of hashes. */
  hash?: HashPlace;
  /**
   * It lets everybody in at once. In the section each thread steps a generator of its own, not the common one; there is
   * no order to look at, no pair to time, and no line in a figure, whose other lines it would squeeze.
   */
  apart?: true;
  /** A semaphore whose `release` takes a number of permits. */
  releasesMany?: true;
  /** What it shares tells collisions and futile wake-ups. */
  countsWakes?: true;
  /** Makes one that nobody holds, for one holder at a time; `shared` travels to the workers by structured clone. */
  share(): Promise<Shared>;
  /** The same, for a thread that goes through the loop alone at first; where it need not be as much. */
  alone?(): Promise<Shared>;
  join(shared: unknown): Promise<Joined<Subject>>;
}

/** A row of the native binary. */
export interface NativeRow {
  kind: 'native';
  name: string;
  family: 'native';
  lock?: LockPlace;
  only?: Counts;
  hash?: undefined;
  apart?: true;
  /** Its name on the binary's command line. */
  algorithm: string;
}

export type Row = ScriptRow | NativeRow;

/** A row of the table on promises in one thread. */
export interface AsyncRow {
  name: string;
  family: Family;
  make(): Promise<{ acquire(): Promise<unknown>; release(): void }>;
}

/** Which lock a row is of, and in which form. */
export interface LockPlace {
  of: string;
  form: 'bare' | 'wrapped' | 'fractional' | 'native';
  /** The capacitor's bypass limit, where there is a capacitor. */
  bypass?: number;
}

/** Thread counts; or the largest of the run; or all from two threads on. */
export type Counts = readonly number[] | 'most' | 'several';

/** Whether a row that is measured at `only` these counts is measured at so many threads, of which `most` are the most. */
export function measuredAt(only: Counts | undefined, threads: number, most: number | undefined): boolean {
  if (only === undefined) return true;
  if (only === 'several') return threads > 1;
  return only === 'most' ? threads === most : only.includes(threads);
}

/** Which hash a row is of, of which class, over how many slots, and how many semaphores its threads go round. */
export interface HashPlace {
  of: string;
  hash: string;
  slots: number;
  semaphores: number;
}

/** The floor of the pair table: two locked instructions in a wasm loop. */
export const FLOOR = 'floor: two locked instructions (wasm)';

/** The same two, each in a call of its own, by the loop of all rows. */
export const CALLS_FLOOR = 'floor: two calls, each one locked instruction (wasm)';

/** The two in a loop of native code. */
export const NATIVE_FLOOR = 'floor: two locked instructions (native)';

export function native(name: string, algorithm = name): NativeRow {
  return { kind: 'native', name, family: 'native', algorithm };
}

/** A class of `taketurns`: its objects are joined by their handle. */
export interface LibraryClass<Subject> {
  from(handle: never): Subject;
}

/** A row on one class of `taketurns`; `make` gives the first object of it. */
export function library<Subject, Class extends LibraryClass<Subject>>(
  name: string,
  load: () => Promise<Class>,
  make: (of: Class) => { readonly handle: unknown; dispose(): void },
  hasTickets: boolean,
): ScriptRow<Subject> {
  return {
    kind: 'script',
    name,
    family: 'taketurns',
    share: async () => {
      const made = make(await load());
      return { shared: made.handle, dispose: () => made.dispose() };
    },
    join: async (handle) => {
      const subject = (await load()).from(handle as never);
      if (!hasTickets) return { subject };
      const { lastTicket } = await import('taketurns/algorithms');
      return { subject, ticket: () => lastTicket() };
    },
  };
}
