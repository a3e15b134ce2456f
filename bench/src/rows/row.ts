// A row, and the parts that all kinds of rows share. semaphores.ts, locks.ts and hashes.ts declare the rows.
//
// Packages are imported only when a row is used, so a missing or broken package affects only its own rows.

import type { MessagePort } from 'node:worker_threads';
import type { Arena } from 'taketurns';
import type { Trace } from './platoon.js';

export type Family = 'taketurns' | 'JavaScript' | 'npm' | 'native';

/** One thread's access to the subject of the row. */
export interface Joined<Subject> {
  subject: Subject;
  /** Returns the ticket of this thread's latest admission; absent if the algorithm has no tickets. */
  ticket?: () => bigint;
  /**
   * Is called once after this thread's last call of the subject. For subjects whose other threads may wait for this
   * one.
   */
  finish?: () => void;
  /** Lets go of the subject when all threads are done. For subjects that are too large to leave to the collector. */
  leave?: () => void;
}

/** The subject, in the process that makes it. */
export interface Shared {
  shared: unknown;
  dispose?: () => void;
  /** Opens a port to the subject for one more thread, if the subject lives in a thread of its own. */
  port?: () => MessagePort;
  /** Returns the counts so far. */
  wakes?: () => Wakes;
  /** Returns the last part of the log before a time, in milliseconds of `clock`, if the subject keeps one. */
  trace?: (end: number) => Trace;
}

/** Counts of waiters that disturb one another. */
export interface Wakes {
  /** A waiter came to a slot where another stood. */
  collisions: number;
  /** A waiter was woken whose turn had not come. */
  futile: number;
}

/** Returns the counts of all objects of an arena. */
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
  /** The only thread counts at which the row is measured; such a row is in no other table. */
  only?: Counts;
  /** Where the row stands in the table of hashes. */
  hash?: HashPlace;
  /**
   * The row admits all threads at once, so each thread steps its own generator instead of the common one. Such a row
   * has no order and no pair to time. It has no line in a figure, because the other lines would be squeezed together.
   */
  apart?: true;
  /** Whether the first call of an iteration returns a promise, which the loop awaits. */
  promises?: true;
  /** Whether the subject is a semaphore whose `release` takes a number of permits. */
  releasesMany?: true;
  /** Whether the shared subject counts collisions and futile wake-ups. */
  countsWakes?: true;
  /**
   * Makes a free subject for one holder at a time; `shared` travels to the workers by structured clone. With `probed`,
   * the last ticket of a thread is the one that orders the admissions, whatever locks the subject consists of.
   */
  share(probed?: boolean): Promise<Shared>;
  /** Makes a smaller subject, for a thread that warms the loop alone. */
  alone?(): Promise<Shared>;
  join(shared: unknown, port?: MessagePort): Promise<Joined<Subject>>;
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
  /** The name on the binary's command line. */
  algorithm: string;
  /**
   * The options of the algorithm in the binary, for runs under contention. An uncontended pair does not wait, and has
   * none.
   */
  knobs: readonly string[];
}

export type Row = ScriptRow | NativeRow;

/** A row of the table on promises in one thread. */
export interface AsyncRow {
  name: string;
  family: Family;
  make(): Promise<{ acquire(): Promise<unknown>; release(): void }>;
}

/** The lock that a row belongs to, and its form. */
export interface LockPlace {
  of: string;
  form:
    | 'bare'
    | 'wrapped'
    | 'fractional'
    | 'often'
    | 'contended'
    | 'lanes'
    | 'random'
    | 'listing1'
    | 'semaphore'
    | 'native';
  /** The capacitor's bypass limit, if there is a capacitor. */
  bypass?: number;
}

/** Thread counts; or the largest count of the run; or all counts from two threads on. */
export type Counts = readonly number[] | 'most' | 'several';

/** Whether a row with these counts is measured with `threads` threads, if `most` is the largest count of the run. */
export function measuredAt(only: Counts | undefined, threads: number, most: number | undefined): boolean {
  if (only === undefined) return true;
  if (only === 'several') return threads > 1;
  return only === 'most' ? threads === most : only.includes(threads);
}

/** The hash of a row, its class, its number of slots, and the number of semaphores that its threads take in turn. */
export interface HashPlace {
  of: string;
  hash: string;
  slots: number;
  semaphores: number;
}

/** The floor of the pair table: two locked instructions in a wasm loop. */
export const FLOOR = 'floor: two locked instructions (wasm)';

/** The same two instructions, each in a call of its own, in the loop of all rows. */
export const CALLS_FLOOR = 'floor: two calls, each one locked instruction (wasm)';

/** The two instructions in a loop of native code. */
export const NATIVE_FLOOR = 'floor: two locked instructions (native)';

export function native(name: string, algorithm = name, knobs: readonly string[] = []): NativeRow {
  return { kind: 'native', name, family: 'native', algorithm, knobs };
}

/** With this number of polls a native waiter spins for ever, as in the papers (native/pause.hpp). */
export const SPINNING = '2000000000';

/** A class of `taketurns`, whose objects are joined by their handle. */
export interface LibraryClass<Subject> {
  from(handle: never): Subject;
}

/**
 * Makes a row of one class of `taketurns`; `make` creates the object, for a probe or not. With `hasTickets`, each of its
 * admissions has a ticket of the default arena.
 */
export function library<Subject, Class extends LibraryClass<Subject>>(
  name: string,
  load: () => Promise<Class>,
  make: (of: Class, probed: boolean) => { readonly handle: unknown; dispose(): void },
  hasTickets: boolean,
): ScriptRow<Subject> {
  return {
    kind: 'script',
    name,
    family: 'taketurns',
    share: async (probed = false) => {
      const made = make(await load(), probed);
      return { shared: made.handle, dispose: () => made.dispose() };
    },
    join: async (handle) => {
      const subject = (await load()).from(handle as never);
      return hasTickets ? withTickets(subject) : { subject };
    },
  };
}

/** A subject whose admissions have tickets of the default arena. */
export async function withTickets<Subject>(subject: Subject): Promise<Joined<Subject>> {
  const { lastTicket } = await import('taketurns/algorithms');
  return { subject, ticket: () => lastTicket() };
}
