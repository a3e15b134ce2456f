/** What this process knows of one object of a space: its settings, and its own requests that wait, in order. */
import { checkBoolean, checkInteger, checkOptions, DisposedError } from './errors.js';
import type { Request } from './request.js';

/** Semaphore, mutex, read-write lock, as the script calls them. */
export type Kind = 's' | 'm' | 'w';

/** The settings on which all who open an object agree. */
export interface Settings {
  readonly kind: Kind;
  readonly max: number;
  /** The semaphore was resized: whoever opens it need not know the number. */
  readonly resized?: boolean;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly bypass: number;
}

export const KINDS: Record<Kind, 'semaphore' | 'mutex' | 'rwlock'> = { s: 'semaphore', m: 'mutex', w: 'rwlock' };

/** The method of `Space` that opens each. */
const OPENED_BY: Record<Kind, string> = { s: 'semaphore', m: 'mutex', w: 'rwLock' };

/** How the settings are written to somebody. */
export function describe({ kind, max, robust, ephemeral, bypass }: Settings): string {
  const more = [
    kind === 's' && `max ${max}`,
    kind === 'm' && `bypass ${bypass}`,
    robust && 'robust',
    ephemeral && 'ephemeral',
  ].filter(Boolean);
  return `a ${KINDS[kind]}${more.length > 0 ? ` (${more.join(', ')})` : ''}`;
}

/** Requests that wait, in order. Each step costs the same, however many wait. (A `Set` steps over all that have left.) */
export class Line {
  first: Request | undefined;
  size = 0;
  #last: Request | undefined;

  add(request: Request): void {
    request.before = this.#last;
    if (this.#last) this.#last.after = request;
    else this.first = request;
    this.#last = request;
    request.line = this;
    this.size++;
  }

  /** Does nothing if it is not in the line. */
  delete(request: Request): void {
    const { before, after } = request;
    if (request.line !== this) return;
    if (before) before.after = after;
    else this.first = after;
    if (after) after.before = before;
    else this.#last = before;
    request.line = undefined;
    request.before = undefined;
    request.after = undefined;
    this.size--;
  }
}

export class SharedObject {
  readonly name: string;
  settings: Settings;
  /** The ticket of its making, as the server told it. `-` before. */
  born = '-';
  /** The session and history in which the object was opened last. In another one it is opened again before it is used. */
  openedIn = '';
  /** Why it cannot be used any more. */
  broken: Error | undefined;
  /** The requests of this process that wait for it, in order. */
  readonly waiting = new Line();
  /** How many of them are in the server's queue, as far as is known. */
  queued = 0;
  /** When this process's turn at the mutex ends, if others wait. */
  turnEnds = 0;
  /** Whether another process is known to wait. */
  othersWait = false;

  constructor(name: string, settings: Settings) {
    this.name = name;
    this.settings = settings;
  }

  /** Somebody has resized the semaphore, and it has so many permits. */
  resize(max: number): void {
    const { settings } = this;
    if (!settings.resized || settings.max !== max) this.settings = { ...settings, max, resized: true };
  }

  /** The operation that opens it. */
  opening(): string[] {
    const { kind, max, resized, robust, ephemeral, bypass } = this.settings;
    return [
      'N',
      this.name,
      resized ? 'r' : kind,
      String(max),
      robust ? '1' : '0',
      ephemeral ? '1' : '0',
      String(bypass),
    ];
  }
}

/** The options of every object. */
export interface ObjectOptions {
  /** Whether the next holder learns that a holder has died. Default false. */
  readonly robust?: boolean;
  /**
   * Whether the server forgets the object while nobody holds it or waits for it. It is for names without number, such as
   * one mutex a customer. Default false.
   */
  readonly ephemeral?: boolean;
}

/** The options of a mutex. */
export interface MutexOptions extends ObjectOptions {
  /**
   * How often a waiter may be overtaken, 0 to 1,000,000, by waiters of the process that holds the mutex. Passing it on
   * within a process costs no message. With 0 it is first come, first served. Default 4,096.
   */
  readonly bypass?: number;
}

export const MOST_PERMITS = 2 ** 31 - 1;

/** A reader takes one permit of a read-write lock, a writer all. */
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

/** The settings in the script's answer: E kind max robust ephemeral bypass. */
export function foundIn(answer: string): Settings {
  const [, kind, max, robust, ephemeral, bypass] = answer.split(' ');
  return {
    kind: kind === 'r' ? 's' : (kind as Kind),
    max: Number(max),
    robust: robust === '1',
    ephemeral: ephemeral === '1',
    bypass: Number(bypass),
  };
}

/** The error of an object that exists with other settings than are asked for. */
export function differs(name: string, asked: Settings, found: Settings): Error {
  const exists = `${JSON.stringify(name)} exists already, as ${describe(found)}, not ${describe(asked)}`;
  return new RangeError(`Space.${OPENED_BY[asked.kind]}: ${exists}`);
}

/** The error of a request for more permits than there are since somebody has resized the semaphore. */
export function tooMany(object: SharedObject, permits: number, max: number): RangeError {
  object.resize(max);
  return new RangeError(`${JSON.stringify(object.name)} has ${max} permits, and ${permits} are asked for`);
}

/** The error of an object that has been disposed of. */
export function disposed({ name }: SharedObject): DisposedError {
  return new DisposedError(`${JSON.stringify(name)} has been disposed of`);
}
