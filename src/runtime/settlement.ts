/**
 * A settlement is what the core has decided about promises of this thread on one object, and what these promises have
 * not been told yet.
 *
 * An exhausted stack, or the `timeout` of node:vm, may end a call of the thread wherever the code calls a function, goes
 * round a loop or returns: the call is cut, and the thread goes on with other calls. When the core has decided, the
 * request is in its queue no more, so only this record knows the promise. Therefore nothing is called between the answer
 * of the core and the note of this answer here.
 *
 *     state     run  count  outcome  promise
 *     nothing    -     0       -        -
 *       │  the core answers: the first `count` promises of `run` are over. The caller notes this in the three fields
 *     noted      +    > 0      +        -      the promises stand in `run` still, and the core may have ended the run
 *       │  Promises takes them out of the run, and a promise that has a run of its own becomes `promise`
 *     out        -    > 0      +        -      `count` promises are the first ones of the queue of functions
 *       │  Promises takes the first of them
 *     told       -   >= 0      +        +      its function is called: now, or when somebody goes on after a cut
 *       │  the function has returned: back to `out`, or to `nothing` if `count` is 0
 *
 * For a promise that is the head of a mutex (head-promise.ts), `promise` is set as long as the promise waits. `run` and
 * `count` are not used, and the core decides once: `outcome` is set.
 *
 * Why a cut loses nothing, wherever it comes: each step from one state to the next is a row of assignments, in which
 * nothing can be cut. So a cut finds the record in one of the states, and each state says all that is left to do. Who
 * comes next goes on from there: a later call of the thread on the object, or the rest (doorbell.ts), which is planned
 * before the core is asked.
 *
 * Why no grant goes to two: a promise that has been granted is told so, and nothing else happens to its grant. Only the
 * telling may be done twice, if a cut comes between the effect of a function and the note that it has returned. So a
 * second call of such a function must have no effect if the first one has had its effect, as with the function that
 * resolves a promise.
 */

/** Settles a promise. It gets nothing if the promise is fulfilled, and otherwise a promise that rejects. */
export type Resolve = (value?: Promise<never>) => void;

/** Consecutive tickets of promises of this thread on one object (core/queue/runs.ts). */
export interface Run {
  number: number;
  /** How many promises of the run wait in the core. */
  waiting: number;
  /** Settles a promise that may be cancelled, and so has a run of its own. */
  readonly alone: Resolve | undefined;
  previous: Run | undefined;
  next: Run | undefined;
}

/** How the waits of promises have ended: they are granted, or the function makes the reason for which they reject. */
export type Outcome = typeof GRANTED | (() => unknown);

export const GRANTED = Symbol();

export class Settlement {
  run: Run | undefined;
  count = 0;
  outcome: Outcome | undefined;
  promise: Resolve | undefined;
  /** What the function of `promise` gets, if that is a promise and it is made. */
  #value: Promise<never> | undefined;
  /**
   * Whether the function of a promise runs. It stays true if the `timeout` of node:vm has ended this function: that
   * exception runs no `finally`.
   */
  isTelling = false;

  /** What the function of `promise` gets. The outcome is decided. A reason tells the state at the first call. */
  get value(): Promise<never> | undefined {
    if (this.outcome !== GRANTED) this.#value ??= rejected(this.outcome as () => unknown);
    return this.#value;
  }

  /**
   * The function of this promise has returned. It may have called a method that has gone on here before it. Each class
   * calls the functions itself, because V8 makes a call fast that always calls the same function.
   */
  told(promise: Resolve): void {
    if (this.promise !== promise) return;
    this.promise = this.#value = undefined;
    if (this.count === 0) this.outcome = undefined;
  }

  /** Forgets `promise`, and returns its function. */
  drop(): Resolve | undefined {
    const { promise } = this;
    this.promise = this.#value = this.outcome = undefined;
    return promise;
  }
}

/**
 * Returns a promise that rejects for this reason. An exception may end the call that is to pass it on, so it is handled
 * from the beginning: the program has promises of its own, which reject as it does.
 */
export function rejected(reason: () => unknown): Promise<never> {
  const promise = new Promise<never>((_, reject) => {
    rejectNew = reject;
  });
  promise.catch(() => {});
  try {
    rejectNew(reason());
  } catch (error) {
    rejectNew(error);
  }
  return promise;
}
let rejectNew: (reason: unknown) => void;
