/**
 * Barrier: a number of calls wait for one another, round by round. If one of these calls gives up, the barrier is
 * broken. A round is complete for all of its calls or for none.
 */
import type { Call } from '../call.js';
import { type Caller, Ghost, type Request } from '../ghosts.js';
import type { Realm } from '../realm.js';
import { dispose, type Kind, type Kinds, patience } from './parts/kind.js';

class BarrierGhost extends Ghost {
  /** All requests that have ever arrived, or may have. */
  readonly #all: Request[] = [];
  /** How many calls have returned each index. */
  readonly #passed: number[] = Array.from({ length: this.spec.n as number }, () => 0);
  /** Whether the barrier is broken for certain. */
  #isBroken = false;
  /** How often the action has run. */
  #actions = 0;
  #hasThrown = false;
  /** Whether a thread that has arrived has died. */
  #hasDied = false;

  override begin(call: Caller, n?: number): Request {
    const request = super.begin(call, n);
    this.#all.push(request);
    return request;
  }

  /** Whether a call may have given up. */
  get #mayBeBroken(): boolean {
    const { clock } = this.stage.scheduler;
    const gaveUp = ({ call, began, signal }: Request): boolean =>
      clock - began >= (call.operation.timeout ?? Infinity) || signal?.isAborted === true || signal?.isRefused === true;
    return this.#hasDied || this.#hasThrown || this.#all.some(gaveUp);
  }

  /** Notes that a call goes on. `index` says how many other calls of its round arrived before it. */
  passes(call: Call, index: unknown): void {
    const passed = this.#passed;
    if (typeof index !== 'number' || !(index in passed)) this.fail(`${call} answers ${index}`);
    passed[index] = (passed[index] as number) + 1;
    const rounds = Math.max(...passed);
    if (rounds * passed.length > this.#all.length) this.fail(`${call} goes on before all have arrived`);
    if (this.spec.callback && rounds > this.#actions) this.fail(`${call} goes on before the action has run`);
  }

  /** The options of a library object: its action, which runs once a round, when all have arrived. */
  get options(): object {
    if (this.spec.callback === undefined) return {};
    const action = (): void => {
      if (++this.#actions * this.#passed.length > this.#all.length)
        this.fail('the action runs before all have arrived');
      if (Math.max(...this.#passed) >= this.#actions) this.fail('the action runs when a call has gone on');
      // The first round is complete.
      this.#hasThrown = this.spec.callback === 'throws' && this.#actions > 1;
      if (this.spec.callback === 'calls back' || this.#hasThrown) this.callback();
    };
    return { action };
  }

  override refused(request: Request, error: unknown): void {
    const { name } = error as Error;
    // A call that comes while the action of a full round runs has not arrived yet, and breaks nothing.
    if ((name === 'TimeoutError' && !this.spec.callback) || this.stage.errors.has(error)) this.#isBroken = true;
    if (name !== 'BrokenBarrierError') super.refused(request, error);
    else if (!this.#mayBeBroken) this.fail(`${request.call} finds it broken, and nobody has given up`);
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    return this.#isBroken || this.pending.size >= this.#passed.length ? first : undefined;
  }

  override rested(): void {
    super.rested();
    const [first = 0, ...others] = this.#passed;
    if (!this.isDisposed && !this.#mayBeBroken && others.some((passed) => passed !== first))
      this.fail(`${this.#passed.join(', ')} calls have gone on with each index`);
  }

  override callsBack(thread: Realm): void {
    this.objectOf(thread).inspect();
  }

  override died(thread: Realm): void {
    super.died(thread);
    if (this.#all.some(({ call }) => call.thread === thread)) this.#hasDied = true;
  }

  /** Disposes of the barrier at the end, since the calls that wait may be too few for a round. */
  override finish(thread: Realm): void {
    if (this.isDisposed || this.stage.isUnreaped) return;
    const { broken } = this.objectOf(thread).inspect();
    if (this.#isBroken && !broken) this.fail('in the end it is not broken');
    if (broken && !this.#mayBeBroken) this.fail('in the end it is broken, and nobody has given up');
    this.disposes(() => this.objectOf(thread).dispose());
  }
}

const ghostOf = ({ ghost }: Call): BarrierGhost => ghost as BarrierGhost;

const barrier: Kind = {
  draw(random) {
    const n = 1 + random.below(3);
    return random.once(2) ? { n } : { n, callback: random.of(['throws', 'calls back']) };
  },
  make: ({ Barrier }, { n }, arena, _, ghost) => new Barrier(n, { arena, ...(ghost as BarrierGhost).options }),
  from: ({ Barrier }, handle, ghost) => Barrier.from(handle, (ghost as BarrierGhost).options),
  ghost: (stage, on) => new BarrierGhost(stage, on),
  outlives: () => false,
  operations: {
    arriveAndWaitAsync: {
      weight: 8,
      draw: (random) => (random.once(3) ? patience(random) : {}),
      run(call) {
        call.waits(
          (options) => call.object.arriveAndWaitAsync(options),
          (index) => ghostOf(call).passes(call, index),
        );
      },
    },
    arriveAndWait: {
      weight: 2,
      blocks: true,
      // Perhaps no other call comes, so the call has a time-out.
      draw: (random) => ({ timeout: random.below(4) }),
      run(call) {
        call.blocks(
          (options) => call.object.arriveAndWait(options),
          (index) => ghostOf(call).passes(call, index),
        );
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { Barrier: barrier };
