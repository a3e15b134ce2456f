/**
 * What Event, Latch and WaitGroup have in common: all who wait go on when a phase ends, and a wait answers false if its time
 * has passed first. Calls of several threads are under way at a time, so their order is not always known.
 */
import type { Call } from '../call.js';
import { type Caller, Ghost, type Request } from '../ghosts.js';
import type { Realm } from '../realm.js';
import { dispose, type OperationKind, patience } from './kind.js';

export abstract class PhaseGhost extends Ghost {
  /** Those that a phase has met whose end has begun: they may go on. */
  readonly #may = new WeakSet<Request>();
  /** Those that waited before a call began that has ended their phase: they must go on, and since when. */
  readonly #must = new WeakMap<Request, number>();
  /** The calls that are under way. */
  readonly #underWay = new Map<Realm, number>();

  /** Whether nobody need wait, as far as is known. */
  protected abstract get mayBeOpen(): boolean;
  /** Whether nobody need wait, for certain. */
  protected abstract get isOpen(): boolean;
  /** Lets all go on, in the end. */
  protected abstract open(thread: Realm): void;
  /** Compares the object with the model, in the end. Returns what is wrong. */
  protected abstract wrong(thread: Realm): string | undefined;

  /**
   * Makes a call that changes the object. `begins` and `ends` change the model. Returns whether the object has not refused.
   * @param mayRefuse whether the object may throw a RangeError, after the call.
   */
  changes(
    thread: Realm,
    change: () => void,
    { begins, ends, mayRefuse }: { begins(): void; ends(isDone: boolean): void; mayRefuse?: () => boolean },
  ): boolean {
    const waiting = [...this.pending].filter(({ queued }) => queued < Infinity);
    begins();
    this.#meet();
    this.#count(thread, 1);
    let isDone = true;
    try {
      change();
    } catch (error) {
      const { name, message } = error as Error;
      isDone = false;
      if (name === 'DisposedError' && this.isDisposed) this.isUnsure = true;
      else if (name !== 'RangeError' || !mayRefuse?.()) throw error;
      else if (!message) this.fail('a RangeError without words');
    }
    this.#count(thread, -1);
    ends(isDone);
    this.#meet();
    if (!this.isOpen) return isDone;
    for (const request of waiting) if (!this.#must.has(request)) this.#must.set(request, this.stage.scheduler.clock);
    return isDone;
  }

  #count(thread: Realm, more: number): void {
    this.#underWay.set(thread, (this.#underWay.get(thread) ?? 0) + more);
  }

  /** All who wait now may go on, if the phase may be over. */
  #meet(): void {
    if (this.mayBeOpen) for (const request of this.pending) this.#may.add(request);
  }

  override begin(call: Caller, n?: number): Request {
    const request = super.begin(call, n);
    this.#meet();
    return request;
  }

  /** A wait has ended with an answer. */
  answered(request: Request, isOver: unknown): void {
    if (isOver === true) {
      if (!this.#may.has(request) && !this.isUnsure) this.fail(`${request.call} goes on, and the phase is not over`);
      return;
    }
    const { timeout = Infinity } = request.call.operation;
    if (isOver !== false) this.fail(`${request.call} answers ${isOver}`);
    if (this.stage.scheduler.clock - request.began < timeout) this.fail(`${request.call} gives up before its time`);
    const must = this.#must.get(request) ?? Infinity;
    if (must - request.began < timeout) this.fail(`${request.call} gives up, and its phase was over before its time`);
  }

  protected due(): Request | undefined {
    return [...this.pending].find((request) => this.isOpen || this.#must.has(request));
  }

  override callsBack(thread: Realm): void {
    if (!this.isDisposed) this.open(thread);
  }

  override died(thread: Realm): void {
    super.died(thread);
    // A call of it may have changed the object, or not.
    if ((this.#underWay.get(thread) ?? 0) > 0) this.isUnsure = true;
  }

  override finish(thread: Realm): void {
    if (!this.isDisposed) this.open(thread);
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.isUnsure || this.stage.isUnreaped) return;
    const wrong = this.wrong(thread);
    if (wrong !== undefined) this.fail(`in the end ${wrong}`);
    const { waiters } = this.objectOf(thread).inspect();
    if (waiters.length > 0) this.fail(`${waiters.length} wait in the end`);
  }
}

const ghostOf = ({ ghost }: Call): PhaseGhost => ghost as PhaseGhost;

/** The operations that all of them have. */
export const phaseOperations: Readonly<Record<string, OperationKind>> = {
  waitAsync: {
    weight: 8,
    draw: patience,
    run(call) {
      call.waits(
        (options) => call.object.waitAsync(options),
        (isOver, request) => ghostOf(call).answered(request, isOver),
      );
    },
  },
  wait: {
    weight: 3,
    blocks: true,
    // Nobody else may ever end the phase.
    draw: (random) => ({ timeout: random.below(4), ...(random.once(4) ? { cut: true } : {}) }),
    run(call) {
      let begun: Request | undefined;
      const stands = (request: Request): void => {
        begun = request;
      };
      call.blocks(
        (options) => call.object.wait(options),
        (isOver) => ghostOf(call).answered(begun as Request, isOver),
        1,
        stands,
      );
    },
  },
  dispose,
};
