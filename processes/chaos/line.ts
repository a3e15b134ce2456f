/**
 * A proxy that makes a server far away: each round trip takes `roundTrip` milliseconds more. It can also stop to carry
 * anything, as when a network fails or a server stands still, or refuse connections, as when a server has ended.
 *
 *     carries --- mute ---> keeps all data, and accepts connections --- carry ---> delivers what it has kept, in order
 *        |                                                                 ^
 *        +------- refuse ---> cuts all connections, and accepts none ------+
 *
 * TCP loses nothing in an outage: it sends again. So what was kept is delivered when the outage is over.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type State = 'carries' | 'mute' | 'refuses';

/** One direction of a connection. */
interface Flow {
  readonly to: Socket;
  /** What is under way, and when it arrives. */
  readonly pieces: { readonly data: Buffer; readonly due: number }[];
  timer: NodeJS.Timeout | undefined;
}

/** A connection through the proxy. */
export interface Through {
  readonly client: Socket;
  readonly server: Socket;
  readonly flows: readonly [Flow, Flow];
  /** Whether the client, and not the proxy, has closed it. */
  isLeft: boolean;
}

export class Line {
  readonly port: number;
  readonly roundTrip: number;
  /** All connections since the beginning, in the order in which they came. */
  readonly all: Through[] = [];
  readonly #listener: Server;
  readonly #target: number;
  #state: State = 'carries';

  private constructor(listener: Server, target: number, roundTrip: number) {
    this.#listener = listener;
    this.#target = target;
    this.roundTrip = roundTrip;
    this.port = (listener.address() as AddressInfo).port;
    listener.on('connection', (client) => this.#join(client));
  }

  static async start(target: number, roundTrip = 0): Promise<Line> {
    const listener = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new Line(listener, target, roundTrip);
  }

  #join(client: Socket): void {
    if (this.#state === 'refuses') {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: this.#target, host: '127.0.0.1', noDelay: true });
    const flows: [Flow, Flow] = [
      { to: server, pieces: [], timer: undefined },
      { to: client, pieces: [], timer: undefined },
    ];
    const through: Through = { client, server, flows, isLeft: false };
    this.all.push(through);
    // The proxy accepts at once. To open a connection takes a round trip, so the first data come later by that.
    const opened = performance.now() + this.roundTrip;
    for (const [from, flow] of [
      [client, flows[0]],
      [server, flows[1]],
    ] as const) {
      from.on('data', (data) => {
        flow.pieces.push({ data, due: Math.max(opened, performance.now()) + this.roundTrip / 2 });
        this.#deliver(flow);
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (from === client && !server.destroyed) through.isLeft = true;
        this.#end(through);
      });
    }
  }

  #deliver(flow: Flow): void {
    if (flow.timer !== undefined || this.#state !== 'carries') return;
    const [next] = flow.pieces;
    if (!next) return;
    flow.timer = setTimeout(
      () => {
        flow.timer = undefined;
        if (this.#state !== 'carries') return;
        while ((flow.pieces[0]?.due ?? Infinity) <= performance.now()) {
          const piece = flow.pieces.shift();
          if (piece && !flow.to.destroyed) flow.to.write(piece.data);
        }
        this.#deliver(flow);
      },
      Math.max(0, next.due - performance.now()),
    );
  }

  #end({ client, server, flows }: Through): void {
    for (const { timer } of flows) clearTimeout(timer);
    client.destroy();
    server.destroy();
  }

  /** Carries nothing until `carry`. */
  mute(): void {
    this.#state = 'mute';
  }

  /** Cuts all connections, and refuses new ones until `carry`. */
  refuse(): void {
    this.#state = 'refuses';
    this.cut();
  }

  carry(): void {
    this.#state = 'carries';
    for (const { flows } of this.all) for (const flow of flows) this.#deliver(flow);
  }

  cut(): void {
    for (const through of this.all) this.#end(through);
  }

  stop(): void {
    this.#listener.close();
    this.cut();
  }
}
