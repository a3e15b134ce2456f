/** Calls the library for an operation. A call answers at once, returns a promise, or blocks its thread. */
import { Failure, KILLED } from './event.js';
import type { Ghost, Request } from './ghosts.js';
import { lineOf, type Operation } from './program.js';
import type { Library, Realm } from './realm.js';
import { Signal } from './signal.js';
import type { Stage } from './stage.js';

/** One call of an operation. */
export class Call {
  readonly stage: Stage;
  readonly thread: Realm;
  readonly operation: Operation;
  readonly ghost: Ghost;

  constructor(stage: Stage, ghost: Ghost, thread: Realm, operation: Operation) {
    this.stage = stage;
    this.thread = thread;
    this.operation = operation;
    this.ghost = ghost;
  }

  /** The library object of the thread. */
  get object(): Library {
    return this.ghost.objectOf(this.thread);
  }

  toString(): string {
    return `${lineOf(this.stage.program, this.operation)} of thread ${this.thread.index}`;
  }

  /** Adds an event of the thread. */
  later(what: string, run: () => void): void {
    this.stage.busy(this.thread, 1);
    this.stage.scheduler.add(
      this.thread,
      () => `${what} (${this})`,
      () => {
        this.stage.busy(this.thread, -1);
        run();
      },
    );
  }

  /** The options of a request; undefined if it has none. */
  #options(request: Request): object | undefined {
    const { timeout, signal: how } = this.operation;
    if (timeout === undefined && how === undefined) return undefined;
    if (how === undefined) return { timeout };
    const signal = how === 'is shared' ? this.stage.sharedSignal(this.thread) : this.#signal(how);
    request.signal = signal;
    return timeout === undefined ? { signal } : { timeout, signal };
  }

  #signal(how: Operation['signal']): Signal {
    const reason = this.thread.tools.error('Aborted', 'the signal is aborted');
    const callsBack = (): void => {
      this.now(() => this.ghost.callsBack(this.thread));
      // Code of the program may look at any object within a call of the library.
      for (const object of this.stage.objects.get(this.thread) ?? []) String(object);
    };
    const signal = new Signal(reason, how === 'takes no listener', how === 'calls back' ? callsBack : () => {});
    this.stage.signals.push({ thread: this.thread, signal });
    if (how !== 'takes no listener')
      this.stage.scheduler.add(
        this.thread,
        () => `the signal is aborted (${this})`,
        () => signal.abort(),
      );
    return signal;
  }

  /**
   * Begins a request, and reacts to its promise.
   *
   * @param stands is called twice: when the request begins, and when the call has returned
   */
  waits(
    start: (options: object | undefined) => unknown,
    got: (value: unknown, request: Request) => void,
    n = 1,
    refused: (error: unknown) => void = () => {},
    stands: (request: Request) => void = () => {},
  ): void {
    const request = this.ghost.begin(this, n);
    stands(request);
    const promise = start(this.#options(request));
    // If the thread dies in an async function, KILLED does not leave the function, but rejects its promise.
    if (this.thread.isDead) return;
    request.queued = this.stage.scheduler.clock;
    stands(request);
    this.reacts(
      promise,
      (value) => {
        this.ghost.end(request);
        got(value, request);
      },
      (error) => {
        this.ghost.end(request);
        this.ghost.refused(request, error);
        refused(error);
      },
    );
  }

  /**
   * Begins a request with a function, as `runExclusive` does. The library calls the function when the request has what
   * it asks for, and settles the promise of the request when the function has ended. A later event ends the function.
   *
   * @param passed is called with the answer if the library has not called the function
   */
  runs(
    start: (run: () => unknown, options: object | undefined) => unknown,
    took: () => void,
    gives: () => void,
    n = 1,
    passed: (value: unknown) => void = () => {},
  ): void {
    const { ghost, thread, stage } = this;
    const request = ghost.begin(this, n);
    let isOver = false;
    const called = (): unknown => {
      isOver = true;
      ghost.end(request);
      took();
      const { promise, settle, refuse } = thread.tools.pending();
      this.later('the function ends', () => {
        gives();
        if (this.operation.callback === 'throws') refuse(stage.error(thread));
        else settle();
      });
      return promise;
    };
    const promise = start(called, this.#options(request));
    if (thread.isDead) return;
    request.queued = this.stage.scheduler.clock;
    const over = (error?: unknown): void => {
      if (!isOver) ghost.end(request);
      if (error === undefined || stage.errors.has(error)) return;
      ghost.refused(request, error);
    };
    this.reacts(
      promise,
      (value) => {
        if (!isOver) passed(value);
        over();
      },
      over,
    );
  }

  /** Reacts to a promise. If the reaction throws an error, the run ends with this error. */
  reacts(promise: unknown, got: (value: unknown) => void, refused: (error: unknown) => void): void {
    const guarded = (react: (value: unknown) => void) => (value: unknown) => {
      // When a thread dies in a call, KILLED rejects the promise of the call.
      if (this.thread.isDead) return;
      try {
        react(value);
      } catch (error) {
        if (error !== KILLED) this.stage.scheduler.failure ??= error;
      }
    };
    this.thread.tools.reacts(promise, guarded(got), guarded(refused));
  }

  /** Makes a request that blocks the thread. */
  blocks(
    start: (options: object | undefined) => unknown,
    got: (value: unknown) => void,
    n = 1,
    stands: (request: Request) => void = () => {},
    refused: (error: unknown) => void = () => {},
  ): void {
    const request = this.ghost.begin(this, n);
    stands(request);
    const { thread } = this;
    thread.mayBeCut = this.operation.cut === true;
    let value: unknown;
    try {
      const options = this.#options(request);
      value = start(options);
    } catch (error) {
      if (error === KILLED || error instanceof Failure) throw error;
      this.ghost.end(request);
      this.ghost.refused(request, error);
      refused(error);
      return;
    } finally {
      thread.mayBeCut = false;
    }
    this.ghost.end(request);
    got(value);
  }

  /** Notes that the thread is the owner of a mutex, and adds an event that unlocks the mutex. */
  owns(mutex: Ghost & { took(thread: Realm): void; gives(thread: Realm): void }, unlock?: () => void): void {
    const { thread } = this;
    mutex.took(thread);
    this.later('unlock', () => {
      mutex.gives(thread);
      this.now(unlock ?? (() => mutex.objectOf(thread).unlock()), mutex);
    });
  }

  /**
   * Calls the object. If the object has been disposed of, the call may throw a DisposedError. Returns undefined then.
   */
  now<T>(call: () => T, ghost = this.ghost): T | undefined {
    try {
      return call();
    } catch (error) {
      if (error === KILLED || error instanceof Failure) throw error;
      const { name, message } = error as Error;
      if (this.stage.errors.has(error)) return undefined;
      if (name === 'DisposedError' && ghost.isDisposed) return undefined;
      throw new Failure(`${this}: ${name}: ${message}`, { cause: error });
    }
  }
}
