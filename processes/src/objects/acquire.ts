/**
 * How a caller waits for permits: until they are granted, a time-out has passed or a signal is aborted.
 *
 * After the time-out the server has the last word: the request is cancelled there, and if it was granted before, the
 * caller gets its guard after all. If no session is open, the server is asked as soon as there is one. The caller waits
 * for this answer for a second at most. The time-out and the signal end with the grant: what handle.ts does then
 * (replicas confirm, `onOwnerDied` repairs) takes time of its own.
 */

import { checkWait as checkWaitOptions, timedOut } from '../errors.js';
import type { Timer } from '../runtime/clock.js';
import type { Caller, Request } from '../session/request.js';
import type { Session } from '../session/session.js';
import { KINDS, type SharedObject } from '../session/shared-object.js';
import { whenAborted } from './abort.js';
import type { GuardClass, Held } from './hold.js';

/** How long a request may take. */
export interface WaitOptions {
  /**
   * Milliseconds, 0 to 2,147,483,647, or `Infinity` (the default). The server decides whether the permits came in time,
   * so the promise may be settled one round trip later, at most a second. With 0 the request succeeds at once or not at
   * all, and rejects with a `SpaceError` if no server answers within `connectTimeout`.
   *
   * The time-out says how long the request waits for the permits. What comes after the grant does not count: the option
   * `durability` of the space waits for replicas, and `onOwnerDied` runs as long as your function takes.
   */
  readonly timeout?: number | undefined;
  /** A signal that cancels the request with its reason when it is aborted. After the grant it does nothing more. */
  readonly signal?: AbortSignal | undefined;
}

/** How long a caller whose time-out has passed waits for the answer of the server, in milliseconds. */
const GRACE = 1000;

/** The options of the waits that have timed out, by their errors. */
const timeouts = new WeakMap<object, WaitOptions>();

/**
 * Whether the error says that the wait with these options has timed out. A signal, or a function of the user, may have
 * given another `TimeoutError`.
 */
export const isTimeoutOf = (options: WaitOptions, error: unknown): boolean => timeouts.get(error as object) === options;

/** Checks the options of a wait. */
export function checkWait(what: string, options: WaitOptions): { timeout: number; signal: AbortSignal | undefined } {
  return { timeout: checkWaitOptions(what, options), signal: options.signal };
}

/** The reason of an aborted signal. */
export const aborted = (signal: AbortSignal): unknown =>
  signal.reason ?? new DOMException('This operation was aborted', 'AbortError');

/**
 * Asks for permits. Resolves to a guard. Rejects with the error of a bad option, of the time-out, of the signal or of
 * the session. Never throws.
 */
export function acquire<G extends Held>(
  what: string,
  session: Session,
  object: SharedObject,
  permits: number,
  Guard: GuardClass<G>,
  options: WaitOptions,
): Promise<G> {
  return new Promise((resolve, reject) => {
    const { timeout, signal } = checkWait(what, options);
    if (signal?.aborted) throw aborted(signal);
    new Wait({ session, object, permits, Guard, timeout, options }, resolve, reject).begin(signal);
  });
}

/** What a caller asks for. */
interface Asked<G extends Held> {
  readonly session: Session;
  readonly object: SharedObject;
  readonly permits: number;
  readonly Guard: GuardClass<G>;
  readonly timeout: number;
  readonly options: WaitOptions;
}

/** A caller that waits for permits. */
class Wait<G extends Held> implements Caller {
  readonly #asked: Asked<G>;
  readonly #resolve: (guard: G) => void;
  readonly #reject: (error: unknown) => void;
  #stamp = 0;
  #request: Request | undefined;
  #timer: Timer;
  /** What else is to be stopped when the wait is over. */
  #untimed: (() => void) | undefined;
  #unlisten: (() => void) | undefined;

  constructor(asked: Asked<G>, resolve: (guard: G) => void, reject: (error: unknown) => void) {
    this.#asked = asked;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(signal: AbortSignal | undefined): void {
    const { session, object, permits, timeout } = this.#asked;
    const { around, calls, requests } = session;
    const giveUp = (error: unknown): void => this.#giveUp(error);
    if (signal) {
      this.#unlisten = whenAborted(signal, () => giveUp(aborted(signal)));
      // The signal's own code may have aborted it just now. It may also throw. So nothing is asked before.
      if (signal.aborted) {
        giveUp(aborted(signal));
        return;
      }
    }
    this.#stamp = around.stamp();
    const request = requests.ask(object, permits, timeout > 0, this);
    if (request.state === 'over') return;
    this.#request = request;
    if (timeout === 0) this.#untimed = calls.unanswered(giveUp);
    else if (timeout < Infinity) this.#timer = around.clock.after(timeout, () => this.#late(request), true);
  }

  granted(base: Request, left: number, pass: number, deaths: number): G {
    const { session, Guard } = this.#asked;
    this.#stop();
    const guard = new Guard(session.requests.grants, base, left, pass, deaths);
    this.#resolve(guard);
    return guard;
  }

  failed(error: unknown): void {
    if (error === undefined) this.#expired();
    else this.#fail(error);
  }

  /** The time-out has passed. The server has the last word, but not for ever. */
  #late(request: Request): void {
    const { around, requests } = this.#asked.session;
    if (!requests.giveUp(request, true)) {
      this.#expired();
      return;
    }
    const giveUp = (): void => {
      requests.giveUp(request, false);
      this.#expired();
    };
    this.#timer = around.clock.after(GRACE, giveUp, true);
  }

  #expired(): void {
    const { session, object, permits, timeout, options } = this.#asked;
    const { around } = session;
    const { name, settings } = object;
    if (timeout > 0) around.measure('timeout', object, permits, this.#stamp);
    const wanted = permits === 1 || settings.kind !== 's' ? '' : `${permits} permits of `;
    const what = `${wanted}the ${KINDS[settings.kind]} ${JSON.stringify(name)}`;
    const error = timedOut(`${what}${around.lastWords()}`, timeout);
    timeouts.set(error, options);
    this.#fail(error);
  }

  #giveUp(error: unknown): void {
    if (this.#request) this.#asked.session.requests.giveUp(this.#request, false);
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#stop();
    this.#reject(error);
  }

  #stop(): void {
    this.#asked.session.around.clock.stop(this.#timer);
    this.#untimed?.();
    this.#unlisten?.();
  }
}
