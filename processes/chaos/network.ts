/**
 * A proxy between the processes and the server. It does to connections what networks do: it picks a connection at
 * random and cuts it, stalls it, cuts it in the middle of a piece of data, or delays all that it carries.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Line {
  readonly client: Socket;
  readonly server: Socket;
  halves: boolean;
  delay: number;
}

export class Network {
  readonly #listener: Server;
  readonly #lines = new Set<Line>();
  /** The port of the server for new connections. Existing connections keep their server. */
  target: number;
  readonly port: number;

  private constructor(listener: Server, target: number) {
    this.#listener = listener;
    this.target = target;
    this.port = (listener.address() as { port: number }).port;
    listener.on('connection', (client) => this.#join(client));
  }

  static async start(target: number): Promise<Network> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return new Network(listener, target);
  }

  #join(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const line: Line = { client, server, halves: false, delay: 0 };
    this.#lines.add(line);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#cut(line));
    }
    this.#carry(line, client, server);
    this.#carry(line, server, client);
  }

  #carry(line: Line, from: Socket, to: Socket): void {
    let order = Promise.resolve();
    let waiting = 0;
    let hasEnded = false;
    from.on('data', (data: Buffer) => {
      if (hasEnded) return;
      hasEnded = line.halves;
      const write = hasEnded
        ? () => to.write(data.subarray(0, data.length >> 1), () => this.#cut(line))
        : () => to.write(data);
      if (line.delay === 0 && waiting === 0) {
        write();
        return;
      }
      waiting++;
      const ready = sleep(line.delay);
      order = order.then(async () => {
        await ready;
        waiting--;
        write();
      });
    });
  }

  #cut(line: Line): void {
    this.#lines.delete(line);
    line.client.destroy();
    line.server.destroy();
  }

  #any(): Line | undefined {
    const lines = [...this.#lines];
    return lines[Math.floor(Math.random() * lines.length)];
  }

  cut(): void {
    const line = this.#any();
    if (line) this.#cut(line);
  }

  cutAll(): void {
    for (const line of [...this.#lines]) this.#cut(line);
  }

  halve(): void {
    const line = this.#any();
    if (line) line.halves = true;
  }

  /** A random connection stays open, but carries nothing for `ms` milliseconds. */
  stall(ms: number): void {
    const line = this.#any();
    if (!line) return;
    line.client.pause();
    line.server.pause();
    setTimeout(() => {
      line.client.resume();
      line.server.resume();
    }, ms);
  }

  /** For `ms` milliseconds, a random connection delivers everything later by `by` milliseconds. */
  delay(by: number, ms: number): void {
    const line = this.#any();
    if (!line) return;
    line.delay = by;
    setTimeout(() => {
      line.delay = 0;
    }, ms);
  }

  stop(): void {
    this.cutAll();
    this.#listener.close();
  }
}
