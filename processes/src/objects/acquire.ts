/**
 * How a caller waits for permits: until they are granted, a time-out has passed or a signal is aborted.
 *
 * After the time-out the server has the last word: the request is cancelled there, and if it was granted before, the
 * caller gets its guard after all. If no session is open, the server is asked as soon as there is one. The caller waits
 * for this answer for a second at most. The time-out and the signal end with the grant: what handle.ts does then
 * (replicas confirm, `onOwnerDied` repairs) takes time of its own.
 */

import { checkWait as checkWaitOptions, TimeoutError } from '../errors.js';
import type { Timer } from '../runtime/clock.js';
import type { Request } from '../session/request.js';
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
  const { around } = session;
  const { clock } = around;
  return new Promise((resolve, reject) => {
    const { timeout, signal } = checkWait(what, options);
    if (signal?.aborted) throw aborted(signal);
    let timer: Timer;
    let untimed: (() => void) | undefined;
    let unlisten: (() => void) | undefined;
    const stop = (): void => {
      clock.stop(timer);
      untimed?.();
      unlisten?.();
    };
    const fail = (error: unknown): void => {
      stop();
      reject(error);
    };
    const expired = (): void => {
      if (timeout > 0) around.measure('timeout', object, permits, stamp);
      const wanted = permits === 1 || object.settings.kind !== 's' ? '' : `${permits} permits of `;
      const name = `${KINDS[object.settings.kind]} ${JSON.stringify(object.name)}`;
      const error = new TimeoutError(`${wanted}${name} not available within ${timeout} ms${around.lastWords()}`);
      timeouts.set(error, options);
      fail(error);
    };
    let request: Request | undefined;
    const giveUp = (error: unknown): void => {
      if (request) session.requests.giveUp(request, false);
      fail(error);
    };
    if (signal) {
      unlisten = whenAborted(signal, () => giveUp(aborted(signal)));
      // The signal's own code may have aborted it just now. It may also throw. So nothing is asked before.
      if (signal.aborted) return giveUp(aborted(signal));
    }
    const stamp = around.stamp();
    const asked = session.requests.ask(object, permits, timeout > 0, {
      granted(base, left, pass, deaths) {
        stop();
        const guard = new Guard(session.requests.grants, base, left, pass, deaths);
        resolve(guard);
        return guard;
      },
      failed: (error) => (error === undefined ? expired() : fail(error)),
    });
    if (asked.state === 'over') return;
    request = asked;
    if (timeout === 0) untimed = session.calls.unanswered(giveUp);
    if (timeout === 0 || timeout === Infinity) return;
    timer = clock.after(
      timeout,
      () => {
        if (!session.requests.giveUp(asked, true)) return expired();
        timer = clock.after(
          GRACE,
          () => {
            session.requests.giveUp(asked, false);
            expired();
          },
          true,
        );
      },
      true,
    );
  });
}
