/** The objects that the processes of a run share, and what a process is told when it starts. */
import { READERS } from '../src/session/shared-object.js';

/** How the processes use an object. */
export interface Plan {
  readonly name: string;
  readonly kind: 'semaphore' | 'mutex' | 'rwlock';
  readonly max: number;
  /** The option `bypass` of a mutex; 0 for other objects. */
  readonly bypass: number;
  /** Whether requests have time-outs and are aborted. */
  readonly givesUp: boolean;
  /** Whether holders of all permits write to the register of this name. */
  readonly isFenced: boolean;
}

export const PLANS: readonly Plan[] = [
  { name: 'one', kind: 'semaphore', max: 1, bypass: 0, givesUp: true, isFenced: true },
  { name: 'three', kind: 'semaphore', max: 3, bypass: 0, givesUp: true, isFenced: false },
  // No request for this semaphore gives up. A request that gives up may hold up others invisibly for a while, which
  // would make the history less certain.
  { name: 'patient', kind: 'semaphore', max: 2, bypass: 0, givesUp: false, isFenced: false },
  { name: 'passed', kind: 'mutex', max: 1, bypass: 8, givesUp: true, isFenced: true },
  { name: 'strict', kind: 'mutex', max: 1, bypass: 0, givesUp: true, isFenced: true },
  { name: 'readers', kind: 'rwlock', max: READERS, bypass: 0, givesUp: true, isFenced: true },
];

/** How a process reaches a server of Redis or Valkey. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly port: number }
  | { readonly kind: 'sentinel'; readonly ports: readonly number[] }
  | { readonly kind: 'cluster'; readonly ports: readonly number[] };

/** How a process reaches the server. durable: whether each call waits for the disk. */
export type ServerAddress =
  | RedisAddress
  | { readonly kind: 'postgresql'; readonly port: number; readonly durable: boolean };

/** How a process reaches the server; or the folder that the processes share without a server. */
export type Address = ServerAddress | { readonly kind: 'local'; readonly directory: string };

export interface Order {
  readonly address: Address;
  readonly space: string;
  readonly lease: number;
  readonly tasks: number;
  /** The file for the history of the process. */
  readonly file: string;
  readonly label: string;
  /** Whether the processes note the time of day, because not all of them are of Node. */
  readonly isRough: boolean;
}

/** A message from a process to its parent. */
export type Report =
  | { readonly is: 'loaded' }
  | { readonly is: 'joined' }
  | { readonly is: 'drained' }
  | { readonly is: 'trouble'; readonly text: string }
  | {
      readonly is: 'register';
      readonly id: number;
      readonly name: string;
      readonly token: string;
      readonly base?: number;
    };

/** A message from the parent to a process. */
export type Command =
  | { readonly is: 'begin' }
  | { readonly is: 'drain' }
  | { readonly is: 'leave' }
  /** version: undefined if the token is refused. */
  | { readonly is: 'register'; readonly id: number; readonly version: number | undefined };
