/**
 * Channel: each message is a number of its own. It is received once, and no earlier than its `send` began. At rest, no
 * receiver waits while a message is there, and no sender waits while there is room. A select receives from one channel
 * or sends to another, or to the same one: exactly one of the two happens. A loop goes through some messages, or
 * through some batches, and then leaves: what its body was not given is there for others.
 */
import type { Call } from '../call.js';
import type { Request } from '../ghosts.js';
import type { Library, Realm } from '../realm.js';
import { blocking, brings, EndsGhost, ending } from './parts/ends.js';
import { type Kind, type Kinds, patience, plainly } from './parts/kind.js';

class ChannelGhost extends EndsGhost {
  #messages = 0;
  /** The messages whose `send` has begun, and of which no receiver has told yet. */
  readonly #under = new Set<number>();
  /** How many sends have returned, less the receives that have. */
  #inside = 0;
  /** Requests for other channels that may also send to this one. Each ends with this channel. */
  readonly #selects = new Set<Request>();

  /** Begins a message, and returns it. */
  begins(): number {
    this.#under.add(++this.#messages);
    return this.#messages;
  }

  brought(): void {
    this.#inside++;
  }

  notBrought(message: number): void {
    if (!this.#under.delete(message)) this.fail(`message ${message} was received, though its send has failed`);
  }

  received(message: unknown): void {
    if (!this.#under.delete(message as number))
      this.fail(`message ${message} is received, and was not sent, or was received before`);
    this.#inside--;
  }

  /** A request for another channel may also send to this one. Returns a function that ends this. */
  mayAlsoSend(request: Request): void {
    this.#selects.add(request);
  }

  endsSelect(request: Request | undefined): void {
    if (request !== undefined) this.#selects.delete(request);
  }

  /** Whether an error of a select may be due to this channel. */
  explains(error: unknown): boolean {
    const { name } = error as Error;
    return (name === 'ClosedError' && this.isClosed) || (name === 'DisposedError' && this.isDisposed);
  }

  protected override get waiting(): Iterable<Request> {
    return [...this.pending, ...this.#selects];
  }

  protected endsAtClose(request: Request): boolean {
    return sends(request) || this.#selects.has(request);
  }

  override disposes(dispose: () => void): void {
    super.disposes(dispose);
    for (const request of this.#selects)
      if (request.queued < Infinity) request.mustEnd ??= 'the other channel has been disposed of';
  }

  override refused(request: Request, error: unknown): void {
    if (selectsOf.get(request)?.explains(error) !== true) super.refused(request, error);
  }

  /** Whether no message is in the channel, or can come. */
  protected override get isAtEnd(): boolean {
    return this.#under.size === 0;
  }

  protected due(): Request | undefined {
    for (const request of this.pending)
      if (sends(request) ? this.#inside < (this.spec.n as number) : this.#inside > 0) return request;
    return undefined;
  }

  protected compare(thread: Realm): number {
    const { size, senders, receivers } = this.objectOf(thread).inspect();
    if (size !== this.#inside) this.fail(`${size} messages in the end, not ${this.#inside}`);
    return senders.waiting + receivers.waiting;
  }
}

/** The channel to which a select may send. */
const selectsOf = new WeakMap<Request, ChannelGhost>();

const sends = ({ call }: Request): boolean => call.operation.call.startsWith('send');
const ghostOf = ({ ghost }: Call): ChannelGhost => ghost as ChannelGhost;

/** Another channel of the program, or the same one. */
function otherOf({ stage, operation: { n = 0 } }: Call): ChannelGhost {
  const ghosts = stage.ghosts.filter((ghost) => ghost instanceof ChannelGhost) as ChannelGhost[];
  return ghosts[n % ghosts.length] as ChannelGhost;
}

/** Receives from this channel, or sends to another one. */
function selects(call: Call, isBlocking: boolean): void {
  const ghost = ghostOf(call);
  const other = otherOf(call);
  const { receiving, sending, select, selectAsync } = call.thread.library;
  const message = other.begins();
  let mine: Request | undefined;
  const stands = (request: Request): void => {
    mine = request;
    selectsOf.set(request, other);
    other.mayAlsoSend(request);
  };
  const cases = (): unknown[] => {
    const both = [receiving(call.object), sending(other.objectOf(call.thread), message)];
    return (call.operation.n ?? 0) > 1 ? both : both.reverse();
  };
  const got = (selected: unknown): void => {
    other.endsSelect(mine);
    const { index, value, closed } = selected as { index: number; value: unknown; closed: boolean };
    const isSent = index === ((call.operation.n ?? 0) > 1 ? 1 : 0);
    if (isSent) other.brought();
    else other.notBrought(message);
    if (!isSent && !closed) ghost.received(value);
  };
  const refused = (): void => {
    other.endsSelect(mine);
    other.notBrought(message);
  };
  if (isBlocking) call.blocks((options) => select(cases(), options), got, 1, stands, refused);
  else call.waits((options) => selectAsync(cases(), options), got, 1, refused, stands);
}

/** One step of a loop. */
interface Step {
  readonly done?: boolean;
  readonly value: unknown;
}

/** What a loop goes through: the messages of the channel, or batches of up to two. */
const loopsOver = ({ object, operation: { n = 0 } }: Call): Library => (n % 2 === 0 ? object : object.batches(2));
/** After how many messages, or batches, a loop is left by `break`, `return` or a throw: all of them call `return`. */
const roundsOf = ({ operation: { n = 0 } }: Call): number => 1 + (n >> 1);

/** Notes what a step has brought. Returns whether the loop goes on. */
function stepped(call: Call, { done, value }: Step): boolean {
  if (done) return false;
  for (const message of call.operation.n === undefined || call.operation.n % 2 === 0 ? [value] : (value as unknown[]))
    ghostOf(call).received(message);
  return true;
}

/** A loop of `for await`. */
function loopsAsync(call: Call): void {
  const iterator = loopsOver(call)[Symbol.asyncIterator]();
  let rounds = roundsOf(call);
  const next = (): void =>
    call.waits(
      () => iterator.next(),
      (step) => {
        if (!stepped(call, step as Step)) return;
        if (--rounds > 0) next();
        else iterator.return?.();
      },
    );
  next();
}

/**
 * A loop of `for`, which blocks without a time-out. So as long as the loop goes on, somebody outside may send another
 * message at any time.
 */
function loops(call: Call): void {
  const { stage, thread } = call;
  const ghost = ghostOf(call);
  let isOver = false;
  const sender = (): Realm | undefined =>
    [...stage.objects.keys()].find((other) => other !== thread && !other.isDead && !stage.scheduler.isOn(other));
  const feeds = (): void => {
    const other = sender();
    if (isOver || thread.isDead || other === undefined) return;
    const message = ghost.begins();
    const isSent = stage.scheduler.as(other, () => {
      try {
        return ghost.objectOf(other).trySend(message) as boolean;
      } catch (error) {
        if (!ghost.explains(error)) throw error;
        return false;
      }
    });
    if (isSent) ghost.brought();
    else ghost.notBrought(message);
    feed();
  };
  const feed = (): void => {
    stage.scheduler.add(undefined, () => `a message for the loop of thread ${thread.index}`, feeds, {
      isEnabled: () => !isOver && !thread.isDead && stage.scheduler.isAsleep && sender() !== undefined,
    });
  };
  feed();
  try {
    const iterator = loopsOver(call)[Symbol.iterator]();
    for (let rounds = roundsOf(call); rounds > 0; rounds--) {
      let goesOn = false;
      call.blocks(
        () => iterator.next(),
        (step) => {
          goesOn = stepped(call, step as Step);
        },
      );
      if (!goesOn) return;
    }
    iterator.return?.();
  } finally {
    isOver = true;
  }
}

const channel: Kind = {
  hasParts: true,
  draw: (random) => ({ n: 1 << random.below(3) }),
  make: ({ Channel, number }, { n }, arena) => new Channel({ codec: number, capacity: n, arena }),
  from: ({ Channel, number }, handle) => Channel.from(handle, number),
  ghost: (stage, on) => new ChannelGhost(stage, on),
  outlives: () => true,
  operations: {
    ...brings('send', [8, 3]),
    trySend: {
      weight: 2,
      draw: plainly,
      run(call) {
        const ghost = ghostOf(call);
        const message = ghost.begins();
        const isSent = call.now(() => {
          try {
            return call.object.trySend(message) as boolean;
          } catch (error) {
            if ((error as Error).name !== 'ClosedError') throw error;
            return false;
          }
        });
        if (!isSent) ghost.notBrought(message);
        if (isSent) ghost.brought();
      },
    },
    receiveAsync: {
      weight: 8,
      draw: patience,
      run(call) {
        call.waits(
          (options) => call.object.receiveAsync(options),
          (message) => ghostOf(call).received(message),
        );
      },
    },
    receive: {
      weight: 3,
      ...blocking,
      run(call) {
        call.blocks(
          (options) => call.object.receive(options),
          (message) => ghostOf(call).received(message),
        );
      },
    },
    receiveMany: {
      weight: 1,
      ...blocking,
      run(call) {
        call.blocks(
          (options) => call.object.receiveMany(2, options),
          (messages) => {
            for (const message of messages as unknown[]) ghostOf(call).received(message);
          },
        );
      },
    },
    loopAsync: {
      weight: 2,
      draw: (random) => ({ n: random.below(6) }),
      run: loopsAsync,
    },
    loop: {
      weight: 2,
      blocks: true,
      draw: (random) => ({ n: random.below(6) }),
      run: loops,
    },
    selectAsync: {
      weight: 4,
      draw: (random) => ({ ...patience(random), n: random.below(4) }),
      run: (call) => selects(call, false),
    },
    select: {
      weight: 2,
      blocks: true,
      draw: (random) => ({ timeout: random.below(4), n: random.below(4) }),
      run: (call) => selects(call, true),
    },
    ...ending,
  },
};

export const kinds: Kinds = { Channel: channel };
