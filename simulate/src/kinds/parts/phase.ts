/**
 * What Event, Latch and WaitGroup have in common. All requests that wait go on when a phase ends. A wait answers false
 * if its time has passed before the phase ends. Calls of several threads may be under way at the same time, so their
 * order is not always known.
 */
import type { Call } from '../../call.js';
import { type Caller, Ghost, type Request } from '../../ghosts.js';
import type { Realm } from '../../realm.js';
import { dispose, type OperationKind, patience } from './kind.js';

export abstract class PhaseGhost extends Ghost {
  /** The requests that may go on: they waited when their phase was over or may have been over. */
  readonly #may = new WeakSet<Request>();
  /** The requests that must go on, and since when. They waited before the call that has ended their phase began. */
  readonly #must = new WeakMap<Request, number>();
  /** How many calls of each thread are under way. */
  readonly #underWay = new Map<Realm, number>();

  /** Whether the phase may be over, so that a call perhaps need not wait. */
  protected abstract get mayBeOpen(): boolean;
  /** Whether the phase is over for certain, so that no call need wait. */
  protected abstract get isOpen(): boolean;
  /** Lets all requests go on, in the end. */
  protected abstract open(thread: Realm): void;
  /** Compares the object with the model, in the end. Returns what is wrong. */
  protected abstract wrong(thread: Realm): string | undefined;

  /**
   * Makes a call that changes the object. `begins` and `ends` make the same change to the model.
   *
   * @param mayRefuse says after the call whether the object may have thrown a RangeError
   * @returns whether the object has made the change
   */
  changes(
    thread: Realm,
    change: () => void,
    { begins, ends, mayRefuse }: { begins(): void; ends(isDone: boolean): void; mayRefuse?: () => boolean },
  ): boolean {
    const waiting = [...this.pending].filter(({ queued }) => queued < Infinity);
    begins();
    this.meet();
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
    this.meet();
    if (!this.isOpen) return isDone;
    for (const request of waiting) if (!this.#must.has(request)) this.#must.set(request, this.stage.scheduler.clock);
    return isDone;
  }

  #count(thread: Realm, more: number): void {
    this.#underWay.set(thread, (this.#underWay.get(thread) ?? 0) + more);
  }

  /** If the phase may be over, notes that all requests that wait now may go on. */
  protected meet(): void {
    if (this.mayBeOpen) for (const request of this.pending) this.#may.add(request);
  }

  override begin(call: Caller, n?: number): Request {
    const request = super.begin(call, n);
    this.meet();
    return request;
  }

  /** Checks the answer with which a wait has ended. */
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
    // The thread has died in a call. The ghost does not know whether this call has changed the object.
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

/** The operations that Event, Latch and WaitGroup have in common. */
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
    // Perhaps no other call ends the phase, so the call has a time-out.
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
