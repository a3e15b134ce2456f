/**
 * taketurns/report says who waits for whom, and names deadlocks. It reads the memory of an arena and changes nothing
 * there, so it works while every other thread hangs.
 *
 * The entry is apart from `taketurns`, so that a program that never asks does not carry its code.
 * @since 0.3.0
 * @module
 */
export type { Used } from '../objects/stats.js';
export { deadlocks, report } from './ask.js';
export { DeadlockError } from './deadlock-error.js';
export type { Deadlock, DeadlockEdge, Deadlocks } from './deadlocks.js';
export type { ObjectRef, ThreadRef } from './refs.js';
export {
  type ArenaReport,
  formatReport,
  type HolderReport,
  type Holding,
  type ObjectReport,
  type ThreadReport,
  type WaiterReport,
  type Waiting,
} from './report.js';
export type { OnDeadlock } from './settings.js';
export { type DeadlockOptions, nameThread, watchDeadlocks } from './this-thread.js';
