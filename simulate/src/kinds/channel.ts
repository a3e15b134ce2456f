/**
 * Channel: each message is a number of its own. It is received once, and no earlier than its `send` began. At rest, no
 * receiver waits while a message is there, and no sender waits while there is room.
 */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Realm } from '../realm.js';
import { dispose, type Kind, type Kinds, patience, plainly } from './parts/kind.js';

class ChannelGhost extends Ghost {
  #messages = 0;
  /** The messages whose `send` has begun, and of which no receiver has told yet. */
  readonly #under = new Set<number>();
  /** How many sends have returned, less the receives that have. */
  #inside = 0;
  /** The threads that are in a call of `close`. */
  #isClosed = false;

  /** Begins a message, and returns it. */
  begins(): number {
    this.#under.add(++this.#messages);
    return this.#messages;
  }

  sent(): void {
    this.#inside++;
  }

  notSent(message: number): void {
    if (!this.#under.delete(message)) this.fail(`message ${message} was received, though its send has failed`);
  }

  received(message: unknown): void {
    if (!this.#under.delete(message as number))
      this.fail(`message ${message} is received, and was not sent, or was received before`);
    this.#inside--;
  }

  closes(close: () => void): void {
    this.#isClosed = true;
    close();
    for (const request of this.pending)
      if (request.queued < Infinity && sends(request)) request.mustEnd ??= 'the channel has been closed';
  }

  override refused(request: Request, error: unknown): void {
    if ((error as Error).name === 'ClosedError' && this.#isClosed) return;
    super.refused(request, error);
  }

  override callsBack(thread: Realm): void {
    String(this.objectOf(thread));
  }

  protected due(): Request | undefined {
    for (const request of this.pending)
      if (sends(request) ? this.#inside < (this.spec.n as number) : this.#inside > 0) return request;
    return undefined;
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
    const { size, senders, receivers } = this.objectOf(thread).inspect();
    if (size !== this.#inside) this.fail(`${size} messages in the end, not ${this.#inside}`);
    if (senders.waiting + receivers.waiting !== 0) this.fail('somebody waits in the end');
  }
}

const sends = ({ call }: Request): boolean => call.operation.call.startsWith('send');
const ghostOf = ({ ghost }: Call): ChannelGhost => ghost as ChannelGhost;

const channel: Kind = {
  hasParts: true,
  draw: (random) => ({ n: 1 << random.below(3) }),
  make: ({ Channel, number }, { n }, arena) => new Channel({ codec: number, capacity: n, arena }),
  from: ({ Channel, number }, handle) => Channel.from(handle, number),
  ghost: (stage, on) => new ChannelGhost(stage, on),
  outlives: () => true,
  operations: {
    sendAsync: {
      weight: 8,
      draw: patience,
      run(call) {
        const ghost = ghostOf(call);
        const message = ghost.begins();
        call.waits(
          (options) => call.object.sendAsync(message, options),
          () => ghost.sent(),
          1,
          () => ghost.notSent(message),
        );
      },
    },
    send: {
      weight: 3,
      blocks: true,
      draw: (random) => ({ timeout: random.below(4) }),
      run(call) {
        const ghost = ghostOf(call);
        const message = ghost.begins();
        call.blocks(
          (options) => call.object.send(message, options),
          () => ghost.sent(),
          1,
          undefined,
          () => ghost.notSent(message),
        );
      },
    },
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
        if (!isSent) ghost.notSent(message);
        if (isSent) ghost.sent();
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
      blocks: true,
      draw: (random) => ({ timeout: random.below(4) }),
      run(call) {
        call.blocks(
          (options) => call.object.receive(options),
          (message) => ghostOf(call).received(message),
        );
      },
    },
    receiveMany: {
      weight: 1,
      blocks: true,
      draw: (random) => ({ timeout: random.below(4) }),
      run(call) {
        call.blocks(
          (options) => call.object.receiveMany(2, options),
          (messages) => {
            for (const message of messages as unknown[]) ghostOf(call).received(message);
          },
        );
      },
    },
    close: {
      weight: 0.3,
      draw: plainly,
      run(call) {
        ghostOf(call).closes(() => call.object.close());
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { Channel: channel };
