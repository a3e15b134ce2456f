/**
 * What Channel and Watch have in common: they are closed, after which calls that would change them fail; a death leaves
 * unsure how far the last call of the thread came; and a call that brings in something new either succeeds or fails.
 */
import type { Call } from '../../call.js';
import { Ghost, type Request } from '../../ghosts.js';
import type { Operation } from '../../program.js';
import type { Random } from '../../random.js';
import type { Realm } from '../../realm.js';
import { dispose, type OperationKind, patience, plainly } from './kind.js';

export abstract class EndsGhost extends Ghost {
  protected isClosed = false;
  /** The requests that `close` has ended, also if `dispose` follows. */
  readonly #endedByClose = new WeakSet<Request>();

  /** Whether a request that waits must end when the object is closed. */
  protected abstract endsAtClose(request: Request): boolean;
  /** Whether every request that waits now is at the end of the object, if it is closed. */
  protected get isAtEnd(): boolean {
    return false;
  }

  /** Compares the object with the ghost, in the end. Returns how many wait. */
  protected abstract compare(thread: Realm): number;

  /** All requests that wait for the object. */
  protected get waiting(): Iterable<Request> {
    return this.pending;
  }

  closes(close: () => void): void {
    this.isClosed = true;
    const waiting = [...this.pending].filter(({ queued }) => queued < Infinity);
    const isOpen = !this.isDisposed;
    close();
    for (const request of this.waiting)
      if (request.queued < Infinity && this.endsAtClose(request)) request.mustEnd ??= 'the object has been closed';
    if (isOpen && !this.isDisposed && !this.isUnsure && this.isAtEnd)
      for (const request of waiting) this.#endedByClose.add(request);
  }

  override refused(request: Request, error: unknown): void {
    const { name } = error as Error;
    if (name === 'ClosedError' && this.isClosed) return;
    if (name === 'DisposedError' && this.#endedByClose.has(request))
      this.fail(`${request.call} has ended with a DisposedError, though it waited when the object was closed`);
    super.refused(request, error);
  }

  override callsBack(thread: Realm): void {
    String(this.objectOf(thread));
  }

  override died(thread: Realm): void {
    // The ghost does not know how far the last call of the thread came.
    this.isUnsure = true;
    super.died(thread);
  }

  override finish(thread: Realm): void {
    this.closes(() => this.objectOf(thread).close());
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.isUnsure || this.stage.isUnreaped) return;
    if (this.compare(thread) !== 0) this.fail('somebody waits in the end');
  }
}

/** A call that brings in something new: its ghost begins the number, and is told how the call ends. */
interface Bringing {
  begins(): number;
  brought(): void;
  notBrought(number: number): void;
}

/** Draws the arguments of a call that blocks. It has a time-out, since perhaps no other call ends the wait. */
export const blocking = {
  blocks: true,
  draw: (random: Random): Pick<Operation, 'timeout'> => ({ timeout: random.below(4) }),
};

/** The operations that bring in something new, by the method of the object with this name, and by a promise. */
export function brings(name: string, weights: readonly [number, number]): Readonly<Record<string, OperationKind>> {
  const begin = ({ ghost }: Call) => {
    const bringing = ghost as unknown as Bringing;
    const number = bringing.begins();
    return { number, brought: () => bringing.brought(), not: () => bringing.notBrought(number) };
  };
  return {
    [`${name}Async`]: {
      weight: weights[0],
      draw: patience,
      run(call) {
        const { number, brought, not } = begin(call);
        call.waits((options) => call.object[`${name}Async`](number, options), brought, 1, not);
      },
    },
    [name]: {
      weight: weights[1],
      ...blocking,
      run(call) {
        const { number, brought, not } = begin(call);
        call.blocks((options) => call.object[name](number, options), brought, 1, undefined, not);
      },
    },
  };
}

/** The operations that end the object. */
export const ending: Readonly<Record<string, OperationKind>> = {
  close: {
    weight: 0.3,
    draw: plainly,
    run({ ghost, object }) {
      (ghost as EndsGhost).closes(() => object.close());
    },
  },
  dispose,
};
