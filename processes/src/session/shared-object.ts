/**
 * What this process knows of one object of a space: the settings of the object, and the waiting requests of this
 * process in their order. Also the options of objects, and the errors that name an object.
 */
import { CancelledError, checkBoolean, checkInteger, checkOptions, DisposedError } from '../errors.js';
import { CANCELLED, type Fate, type Kind, NONE, type Settings, TOO_MANY } from '../script/wire.js';
import { Queue } from './queue.js';

export const KINDS: Record<Kind, 'semaphore' | 'mutex' | 'rwlock'> = { s: 'semaphore', m: 'mutex', w: 'rwlock' };

/** The method of `Space` that opens each kind of object. */
const OPENED_BY: Record<Kind, string> = { s: 'semaphore', m: 'mutex', w: 'rwLock' };

/** Describes settings to users, for example as `a semaphore (max 4, robust)`. */
export function describe({ kind, max, robust, ephemeral, bypass }: Settings): string {
  const more = [
    kind === 's' && `max ${max}`,
    kind === 'm' && `bypass ${bypass}`,
    robust && 'robust',
    ephemeral && 'ephemeral',
  ].filter(Boolean);
  return `a ${KINDS[kind]}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}

/** An object of a space in this process. All its handles in the process share it, unless it is ephemeral. */
export class SharedObject {
  readonly name: string;
  settings: Settings;
  /**
   * The ticket with which the object was made. It is `NONE` before the server has told it, and always for an ephemeral
   * object.
   */
  born: string = NONE;
  /**
   * `Sender.place` at the time when the object was opened last: the session and the history of the data. In another
   * session or history the object is opened again before it is used.
   */
  openedIn = '';
  /** Why the object cannot be used any more. */
  broken: Error | undefined;
  /** The requests of this process that wait for the object, in order. */
  readonly waiting = new Queue();
  /** How many of these requests are in the server's queue, as far as this process knows. */
  queued = 0;
  /** When this process must give the mutex back if others wait. Until then the process passes it on within itself. */
  turnEnds = 0;
  /** Whether another process is known to wait. */
  othersWait = false;

  constructor(name: string, settings: Settings) {
    this.name = name;
    this.settings = settings;
  }

  /** Notes that somebody has resized the semaphore to `max` permits. */
  resize(max: number): void {
    const { settings } = this;
    if (!settings.resized || settings.max !== max) this.settings = { ...settings, max, resized: true };
  }
}

/** The options of every object. */
export interface ObjectOptions {
  /** Whether the next holder learns that a holder has died. Default false. */
  readonly robust?: boolean;
  /**
   * Whether the server forgets the object while nobody holds it or waits for it. Use this option if the number of names
   * has no limit, as with one mutex for each customer. Default false.
   */
  readonly ephemeral?: boolean;
}

/** The options of a mutex. */
export interface MutexOptions extends ObjectOptions {
  /**
   * How often a waiter may be overtaken, 0 to 1,000,000. A process that holds the mutex may pass it on to its own
   * waiters, which costs no message, but overtakes the waiters of other processes. With 0 the mutex is first come,
   * first served. Default 4,096.
   */
  readonly bypass?: number;
}

export const MOST_PERMITS = 2 ** 31 - 1;

/** A reader takes one permit of a read-write lock, and a writer takes all permits. */
export const READERS = 2 ** 20;

/** Checks the options of an object, and returns its settings. */
export function settingsOf(what: string, kind: Kind, max: unknown, options: MutexOptions): Settings {
  checkOptions(what, options, kind === 'm' ? ['robust', 'ephemeral', 'bypass'] : ['robust', 'ephemeral']);
  const { robust = false, ephemeral = false, bypass = 4096 } = options;
  return {
    kind,
    max: checkInteger(`${what}: permits`, max, 1, MOST_PERMITS),
    robust: checkBoolean(`${what}: robust`, robust),
    ephemeral: checkBoolean(`${what}: ephemeral`, ephemeral),
    bypass: kind === 'm' ? checkInteger(`${what}: bypass`, bypass, 0, 1_000_000) : 0,
  };
}

/** The error of an object that exists with settings other than those asked for. */
export function differs(name: string, asked: Settings, found: Settings): Error {
  const exists = `${JSON.stringify(name)} exists already, as ${describe(found)}, not ${describe(asked)}`;
  return new RangeError(`Space.${OPENED_BY[asked.kind]}: ${exists}`);
}

/** The error of an object that has been disposed of. */
export function disposed({ name }: SharedObject): DisposedError {
  return new DisposedError(`${JSON.stringify(name)} has been disposed of`);
}

/**
 * The error of a request that the server will not serve. If the semaphore was resized, the object learns its new size.
 */
export function whyNot(object: SharedObject, permits: number, fate: Fate): Error {
  if (fate.is === CANCELLED) return new CancelledError();
  if (fate.is !== TOO_MANY) return disposed(object);
  object.resize(fate.max);
  return new RangeError(`${JSON.stringify(object.name)} has ${fate.max} permits, and ${permits} are asked for`);
}
