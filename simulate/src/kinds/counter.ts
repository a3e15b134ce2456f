/**
 * CountingSemaphore of P0514: any thread raises the value, and waits lower it. A BinarySemaphore differs only in its
 * highest value.
 */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Random } from '../random.js';
import type { Realm } from '../realm.js';
import type { Stage } from '../stage.js';
import { dispose, type Kind, type Kinds } from './parts/kind.js';

/** A signal of this many permits lets all calls go on that may wait at the end. */
const ENOUGH = 64;

class CounterGhost extends Ghost {
  /** The highest number that the value may be. */
  #most: number;
  /** The lowest number that the value may be, less what calls under way, or calls of dead threads, may have taken. */
  #least: number;

  /** Counts the signals and the requests, so that they have an order. */
  #last = 0;
  /** The number of the last signal of `one` or `none`, which may have left permits that waiters want; else Infinity. */
  #leftAt = Infinity;
  readonly #order = new Map<Request, number>();

  constructor(stage: Stage, on: number) {
    super(stage, on);
    this.#most = this.#least = this.spec.n as number;
  }

  /** Runs a `signal`. With `leaves`, its argument is 'one' or 'none'. */
  signals(n: number, signal: () => void, leaves = false): void {
    const began = ++this.#last;
    this.#most += n;
    signal();
    this.#least += n;
    if (leaves) this.#leftAt = ++this.#last;
    else if (began > this.#leftAt) this.#leftAt = Infinity;
  }

  override begin(call: Call, n?: number): Request {
    const request = super.begin(call, n);
    this.#order.set(request, ++this.#last);
    return request;
  }

  /** Runs a `tryWait`. */
  tries(n: number, tryWait: () => boolean): void {
    this.#least -= n;
    const isThrough = tryWait();
    this.#least += n;
    if (isThrough) this.took(n);
  }

  took(n: number): void {
    this.#most -= n;
    this.#least -= n;
    if (this.#most < 0) this.fail(`more is taken than was signalled: ${-this.#most}`);
  }

  /** A wait for a limited time has taken nothing. */
  gaveUp({ call, began }: Request): void {
    const { timeout = Infinity } = call.operation;
    if (this.stage.scheduler.clock - began < timeout) this.fail(`${call} has given up too early`);
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    const { clock } = this.stage.scheduler;
    // A request that gives up may have been handed permits, and looks for them a little later.
    for (const { call, began } of this.pending)
      if (clock - began >= (call.operation.timeout ?? Infinity)) return undefined;
    // When a request joins the queue, it hands on what the value has.
    const isLeft = [...this.pending].every((request) => (this.#order.get(request) as number) < this.#leftAt);
    if (this.#leftAt < Infinity && isLeft) return undefined;
    return this.#least >= Math.max(...[...this.pending].map(({ n }) => n)) ? first : undefined;
  }

  /** A request that gives up looks again and again for what a signal has handed on. The end checks whether it ends. */
  protected override mayEnd(): boolean {
    return false;
  }

  override callsBack(): void {}

  override finish(thread: Realm): void {
    const object = this.objectOf(thread);
    if (this.isDisposed) return;
    if (this.pending.size > 0) this.signals(ENOUGH, () => object.signal(ENOUGH));
  }

  /** The waits of a dead thread may have taken what they wanted, or a signal may still hand it to them. */
  override died(thread: Realm): void {
    for (const { call, n } of this.pending) if (call.thread === thread) this.#least -= n;
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.stage.isUnreaped) return;
    const { value } = this.objectOf(thread);
    if (value < this.#least || value > this.#most)
      this.fail(`the value is ${value} in the end, not ${this.#least} to ${this.#most}`);
  }
}

const ghostOf = ({ ghost }: Call): CounterGhost => ghost as CounterGhost;

const some = (random: Random): number => 1 + random.below(2);

function took(call: Call, value: unknown, request: Request): void {
  const ghost = ghostOf(call);
  if (value === false) ghost.gaveUp(request);
  else ghost.took(call.operation.n ?? 1);
}

const signal = (notify: 'one' | 'none'): Kind['operations'][string] => ({
  weight: 1,
  draw: (random) => ({ n: some(random) }),
  run(call) {
    const { n = 1 } = call.operation;
    ghostOf(call).signals(n, () => call.now(() => call.object.signal(n, notify)), true);
  },
});

const within = (random: Random) => ({ n: some(random), timeout: random.below(4) });

const countingSemaphore: Kind = {
  draw: (random) => ({ n: random.below(3) }),
  make: ({ CountingSemaphore }, { n }, arena) => new CountingSemaphore(n, { arena }),
  ghost: (stage, on) => new CounterGhost(stage, on),
  outlives: () => false,
  operations: {
    waitAsync: {
      weight: 6,
      draw: (random) => ({ n: some(random) }),
      run(call) {
        call.waits(
          () => call.object.waitAsync(call.operation.n),
          (value, request) => took(call, value, request),
          call.operation.n,
        );
      },
    },
    tryWaitForAsync: {
      weight: 6,
      draw: within,
      run(call) {
        call.waits(
          () => call.object.tryWaitForAsync(call.operation.timeout, call.operation.n),
          (value, request) => took(call, value, request),
          call.operation.n,
        );
      },
    },
    tryWaitFor: {
      weight: 3,
      blocks: true,
      draw: within,
      run(call) {
        let request!: Request;
        call.blocks(
          () => call.object.tryWaitFor(call.operation.timeout, call.operation.n),
          (value) => took(call, value, request),
          call.operation.n,
          (begun) => {
            request = begun;
          },
        );
      },
    },
    tryWait: {
      weight: 1,
      draw: (random) => ({ n: some(random) }),
      run(call) {
        ghostOf(call).tries(call.operation.n ?? 1, () => call.now(() => call.object.tryWait(call.operation.n)));
      },
    },
    signalOne: signal('one'),
    signalNone: signal('none'),
    signal: {
      weight: 8,
      draw: (random) => ({ n: some(random) }),
      run(call) {
        ghostOf(call).signals(call.operation.n ?? 1, () => call.now(() => call.object.signal(call.operation.n)));
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { CountingSemaphore: countingSemaphore };
