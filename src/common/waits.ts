/** How long a request may take. */
import { checkWait } from './errors.js';
import { reasonOf, type Signal } from './signals.js';

/**
 * How long a request may take.
 *
 * Here as in all options, an option with an unknown name is a `TypeError`, which says what is allowed. An undefined
 * option is absent. Inherited options count, such as those of `Object.create(defaults)`.
 */
export interface WaitOptions {
  /**
   * Milliseconds, 0 to 2,147,483,647, or `Infinity` (the default), with fractions. The time is never cut short. With 0
   * the request succeeds at once or not at all. When the time has passed, the request is cancelled with a
   * `TimeoutError`.
   */
  readonly timeout?: number;
  /**
   * A signal that cancels the request with its reason when it is aborted. If the signal is aborted already, the request
   * never queues. The signals of a thread cannot fire while the thread blocks. So `acquire`, `lock` and `hold` look at
   * the signal once, before they begin. The signal needs `aborted`, `addEventListener` and `removeEventListener`. If it
   * has no `reason`, the request is cancelled with an `AbortError`.
   */
  readonly signal?: Signal;
}

/**
 * @internal
 * Checks the options of a request, and returns its time-out. Throws the reason of a signal that is aborted already.
 * @param names all options that the call has. Default: `timeout` and `signal`.
 */
export function checkWaitOptions(what: string, options: WaitOptions, names?: readonly string[]): number {
  const timeout = checkWait(what, options, names);
  const { signal } = options;
  if (signal?.aborted) throw reasonOf(signal);
  return timeout;
}

/** @internal Whether the first argument of a request is its options. A number of permits may stand there instead. */
export function isOptions(permits: number | WaitOptions, options: WaitOptions | undefined): permits is WaitOptions {
  return typeof permits === 'object' && permits !== null && options === undefined;
}

/** How many permits a request is for, and its options. Each may be left out. */
export type PermitsRequest<Options = WaitOptions> =
  | [permits?: number | undefined, options?: Options | undefined]
  | [options: Options];

/** @internal Returns the number of permits and the options of a request, also where the options come first. */
export function requestOf<Options>([permits = 1, options]: readonly [
  permits?: number | Options | undefined,
  options?: Options | undefined,
]): [permits: number, options: Options | undefined] {
  return typeof permits === 'object' && permits !== null && options === undefined
    ? [1, permits]
    : [permits as number, options];
}

/** @internal Returns the number of permits of a request whose arguments have been checked. */
export function permitsOf(permits: number | WaitOptions): number {
  return typeof permits === 'number' ? permits : 1;
}
