/** The options of `Space.connect`, and their checks. */
import { type Clock, clock as realClock } from './clock.js';
import { bad, badType, checkInteger, checkName, checkOptions } from './errors.js';

/** Confirmation by replicas of every grant. */
export interface Durability {
  /** The number of replicas that must have a grant before its promise is fulfilled, 1 to 100. */
  readonly replicas: number;
  /** How long the replicas may take, in milliseconds, 1 to 60,000. */
  readonly timeout: number;
}

/** The options of `Space.connect`. */
export interface SpaceOptions {
  /** The name of the space: 1 to 64 bytes without NUL and braces. Default `default`. */
  readonly space?: string;
  /**
   * How many milliseconds a process may be silent before the server takes back what it holds, 500 to 3,600,000. All
   * sessions of a space have the same lease. Default 10,000.
   */
  readonly lease?: number;
  /**
   * Into how many slots of a cluster the objects are spread, 1 to 1,024. The first session fixes the number. Default 1.
   */
  readonly partitions?: number;
  /** How long a process passes a mutex on within itself while others wait, in milliseconds, 0 to 10,000. Default 5. */
  readonly turn?: number;
  /** Names the process in `inspect`: 1 to 100 bytes without NUL. Default: its number and its host. */
  readonly label?: string;
  /** How long `connect` tries to reach the server, in milliseconds, 1 to 600,000. Default 5,000. */
  readonly connectTimeout?: number;
  /** Waits after each grant until replicas have the grant. This costs one more round trip. */
  readonly durability?: Durability;
  /**
   * A module whose default export is a function that makes a client. The space then beats from a worker thread with a
   * client of its own, so that a process which computes for longer than a lease loses nothing. Node, Deno and Bun.
   */
  readonly heartbeat?: URL | string;
  /** @internal */
  readonly clock?: Clock;
}

/** The options with their defaults. */
export interface Checked extends Required<Omit<SpaceOptions, 'durability' | 'heartbeat'>> {
  readonly durability: Durability | undefined;
  readonly heartbeat: URL | string | undefined;
}

const OPTIONS = ['space', 'lease', 'partitions', 'turn', 'label', 'connectTimeout', 'durability', 'heartbeat'];

/**
 * In containers many processes have the number 1, so the label names the host too. A bundle for browsers that runs on a
 * server must not import `node:os`. Node has another way since 20.16 and 22.3. A host name has 253 bytes at most.
 */
function ownLabel(): string {
  const { process } = globalThis;
  return `pid ${process?.pid} on ${process?.getBuiltinModule?.('node:os').hostname().slice(0, 80)}`;
}

export function checkSpaceOptions(options: SpaceOptions): Checked {
  const what = 'Space.connect';
  checkOptions(what, options, 'clock' in Object(options) ? [...OPTIONS, 'clock'] : OPTIONS);
  const { space = 'default', lease = 10_000, partitions = 1, turn = 5, connectTimeout = 5000 } = options;
  const { label = ownLabel(), durability, heartbeat, clock = realClock } = options;
  checkName(`${what}: space`, space, 64);
  if (/[{}]/.test(space)) throw bad('string', `${what}: space`, 'a string without braces', space);
  checkInteger(`${what}: lease`, lease, 500, 3_600_000);
  checkInteger(`${what}: partitions`, partitions, 1, 1024);
  checkInteger(`${what}: turn`, turn, 0, 10_000);
  checkInteger(`${what}: connectTimeout`, connectTimeout, 1, 600_000);
  checkName(`${what}: label`, label, 100);
  if (durability !== undefined) {
    checkOptions(`${what}: durability`, durability, ['replicas', 'timeout']);
    checkInteger(`${what}: durability.replicas`, durability.replicas, 1, 100);
    checkInteger(`${what}: durability.timeout`, durability.timeout, 1, 60_000);
  }
  if (heartbeat !== undefined && typeof heartbeat !== 'string' && !(heartbeat instanceof URL)) {
    throw badType(`${what}: heartbeat`, 'the URL of a module', heartbeat);
  }
  return { space, lease, partitions, turn, connectTimeout, label, durability, heartbeat, clock };
}
