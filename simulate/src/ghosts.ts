/**
 * The ghosts: plain models of the objects, which run beside the library. A ghost knows which calls wait for its object,
 * and what each thread has of the object, as far as the library has told the program. This file has the rules that hold
 * for all classes:
 *
 * - A request ends with what it asked for, or with an error that something has caused.
 * - While the library has nothing left to do, no request waits that has been told to leave, whose time has passed, or
 *   that could go on.
 * - No thread gets what a dead owner may have left half-written, unless `onOwnerDied` was called before and has
 *   returned.
 * - At the end nobody waits, and the object agrees with its ghost.
 */
import { Failure } from './event.js';
import { nameOf, type Operation, type Spec } from './program.js';
import type { Library, Realm } from './realm.js';
import type { Signal } from './signal.js';
import type { Stage } from './stage.js';

/** Who makes a request. */
export interface Caller {
  readonly thread: Realm;
  readonly operation: Operation;
  toString(): string;
}

/** A call of the program that waits, until it is over. */
export interface Request {
  readonly call: Caller;
  /** How many permits the request asks for. */
  readonly n: number;
  readonly began: number;
  /** When the call that made the request returned. The time-out of the request begins between `began` and `queued`. */
  queued: number;
  signal: Signal | undefined;
  /** Why the request must end as soon as its thread has run; undefined if the request need not end. */
  mustEnd: string | undefined;
  /** Whether a `cancelAll` has ended the request, or may end it. */
  mayBeCancelled: boolean;
}

export abstract class Ghost {
  readonly stage: Stage;
  readonly spec: Spec;
  readonly name: string;
  readonly #on: number;
  readonly pending = new Set<Request>();
  isDisposed = false;
  /** Whether a thread has died in a call, so the ghost does not know what the call has done. */
  isUnsure = false;
  #cancelling = 0;
  /** The threads that are in a call of `dispose`. */
  readonly #disposing = new Set<Realm>();

  /** @param on the number of the object. */
  constructor(stage: Stage, on: number) {
    this.stage = stage;
    this.spec = stage.program.objects[on] as Spec;
    this.name = nameOf(stage.program, on);
    this.#on = on;
  }

  fail(message: string): never {
    throw new Failure(`${this.name}: ${message}`);
  }

  begin(call: Caller, n = 1): Request {
    const request: Request = {
      call,
      n,
      began: this.stage.scheduler.clock,
      queued: Infinity,
      signal: undefined,
      mustEnd: undefined,
      mayBeCancelled: this.#cancelling > 0,
    };
    this.pending.add(request);
    this.stage.busy(call.thread, 1);
    return request;
  }

  end(request: Request): void {
    if (!this.pending.delete(request)) this.fail(`${request.call} has ended twice`);
    this.stage.busy(request.call.thread, -1);
  }

  /** Runs a `cancelAll`. Each request that waits when `cancelAll` begins must leave, or must have been admitted. */
  cancels(cancelAll: () => void): void {
    const waiting = [...this.pending].filter(({ queued }) => queued < Infinity);
    for (const request of this.pending) request.mayBeCancelled = true;
    this.#cancelling++;
    cancelAll();
    this.#cancelling--;
    for (const request of waiting) request.mustEnd ??= 'cancelAll has been called';
  }

  /** Runs a `dispose`. */
  disposes(dispose: () => void): void {
    const thread = this.stage.scheduler.running as Realm;
    this.isDisposed = true;
    this.#disposing.add(thread);
    dispose();
    this.#disposing.delete(thread);
    for (const request of this.pending)
      if (request.queued < Infinity) request.mustEnd ??= 'the object has been disposed of';
  }

  /** Checks that a request could end with this error. */
  refused(request: Request, error: unknown): void {
    const { name, message } = error as Error;
    const { call, signal, began } = request;
    const { timeout, cut } = call.operation;
    const late = timeout !== undefined && this.stage.scheduler.clock - began >= timeout;
    if (error === signal?.reason && (signal?.isAborted || signal?.isRefused)) return;
    if (name === 'TimeoutError' && late) return;
    if (name === 'CancelledError' && request.mayBeCancelled) return;
    if (name === 'DisposedError' && this.isDisposed) return;
    if (cut && message === 'Maximum call stack size exceeded') return;
    if (this.stage.errors.has(error)) return;
    throw new Failure(`${this.name}: ${call} has ended with ${name}: ${message}`, { cause: error });
  }

  /** The library object of a thread. */
  objectOf(thread: Realm): Library {
    return this.stage.objects.get(thread)?.[this.#on];
  }

  /** Is called with each library object. */
  prepare(_thread: Realm, _object: Library): void {}

  /** Does what the program's callbacks do when the library calls them. */
  callback(callback = this.spec.callback): void {
    const thread = this.stage.scheduler.running as Realm;
    if (callback === 'gives back') {
      // A callback that gives the lock back has repaired what the dead owner left. So the next owner need not learn of
      // the death.
      this.learned(thread);
      this.givesBack(this.objectOf(thread));
    }
    if (callback === 'throws' || callback === 'gives back') throw this.stage.error(thread);
    if (callback === 'calls back') this.callsBack(thread);
  }

  /** Is called by the library as `onOwnerDied`. */
  ownerDied(): void {
    this.callback();
    this.learned(this.stage.scheduler.running as Realm);
  }

  /** Notes that a thread has been told of a death, and has repaired what the dead thread has left. */
  protected learned(_thread: Realm): void {}

  /** Calls the object from within a call of the library. */
  callsBack(thread: Realm): void {
    this.cancels(() => this.objectOf(thread).cancelAll());
  }

  /** Gives back what the thread has just got, or a part of it. */
  protected givesBack(_object: Library): void {}

  died(_thread: Realm): void {}

  /** Is called when a dead thread has been reaped. */
  reaped(thread: Realm): void {
    for (const request of this.pending) if (request.call.thread === thread) this.pending.delete(request);
    if (!this.#disposing.delete(thread)) return;
    // The thread has died in `dispose`. If it died before the first step, the object is open, and the reaper disposes
    // of the object here. Otherwise the library has finished what the dead thread had begun.
    const reaper = this.stage.scheduler.running as Realm;
    this.disposes(() => {
      if (!this.stage.isClosed(this.#on)) this.objectOf(reaper).dispose();
    });
  }

  /** Is called when a dead thread has been reaped, and other threads have got what it had. */
  wasReaped(_thread: Realm): void {}

  /** Checks the requests that wait. Is called while the library has nothing left to do, and no call runs. */
  rested(): void {
    for (const request of this.pending) {
      const { call, mustEnd, signal, queued } = request;
      const { timeout = Infinity } = call.operation;
      const isLate = this.stage.scheduler.clock - queued >= timeout && !call.thread.isLate(this.stage.scheduler.clock);
      const why = mustEnd ?? (signal?.isAborted ? 'its signal is aborted' : isLate ? 'its time has passed' : undefined);
      if (why !== undefined && !call.thread.isDead && this.mayEnd(request))
        this.fail(`${call} still waits, though ${why}`);
    }
    if (this.isDisposed || this.isUnsure || this.stage.isUnreaped || this.pending.size === 0) return;
    const due = this.due();
    if (due !== undefined) this.fail(`${due.call} still waits, though its turn has come`);
  }

  /** Whether a request that has been told to leave, or whose time has passed, can end at once. */
  protected mayEnd(_request: Request): boolean {
    return true;
  }

  /** Returns a request that waits although it should have been admitted by now, if there is one. */
  protected abstract due(): Request | undefined;

  /** Lets those who still wait in the end go on. Is called in a thread that lives. */
  finish(_thread: Realm): void {}

  /** Checks the object in the end. */
  ended(_thread: Realm): void {
    if (this.stage.isUnreaped) return;
    for (const { call } of this.pending) this.fail(`${call} has never ended`);
  }
}
