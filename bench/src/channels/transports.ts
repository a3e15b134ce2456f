// The ways by which messages go from thread to thread in `bench channels`. Each has a maker of connections, and says what a
// thread does at its end of one.

import { MessageChannel, type MessagePort, receiveMessageOnPort, type Transferable } from 'node:worker_threads';
import { bytes, Channel, type Codec, number, record, value } from 'taketurns/channel';
import { LARGE, type Load, read, sink, write } from './loads.js';

/** What a thread gets of a connection. */
export interface Part {
  readonly shared: unknown;
  readonly transfer?: readonly Transferable[];
}

export interface Connection {
  readonly senders: readonly Part[];
  readonly receivers: readonly Part[];
}

/** Gives the next message; undefined after the last one. */
export type Next = () => unknown;

export interface Sender {
  /** Sends one message. A transport without back-pressure never waits here. */
  send(message: unknown): void;
  /** Sends what `next` gives. If too many messages are under way, it waits. */
  run(next: Next): void | Promise<void>;
}

export interface Receiver {
  /** Calls `use` for each message, until `use` returns true. */
  each(use: (message: unknown) => boolean): void | Promise<void>;
}

export interface Transport {
  connect(senders: number, receivers: number, load: Load): Connection | Promise<Connection>;
  sender(shared: unknown, load: Load): Sender | Promise<Sender>;
  receiver(shared: unknown, load: Load): Receiver | Promise<Receiver>;
}

/** At most so many messages of a sender are under way, where the benchmark itself must see to it. */
const WINDOW = 1024;
const LARGE_WINDOW = 16;
export const CAPACITY = 256;
/** How many messages a receiver takes at once, at most, in the rows of batches. */
const BATCH = 64;

export const windowOf = ({ bytes }: Load): number => (bytes >= LARGE ? LARGE_WINDOW : WINDOW);

function forEver(send: (message: unknown) => void): Sender {
  return {
    send,
    run(next) {
      for (let message = next(); message !== undefined; message = next()) send(message);
    },
  };
}

function everyOne(receive: () => unknown): Receiver {
  return {
    each(use) {
      while (!use(receive()));
    },
  };
}

function same(senders: number, receivers: number, shared: unknown): Connection {
  const parts = (count: number): Part[] => Array.from({ length: count }, () => ({ shared }));
  return { senders: parts(senders), receivers: parts(receivers) };
}

const item = record({ id: 'u32', name: 'text8', price: 'f64', on: 'bool', by: 'text8' });
const CODECS = { number, bytes, value, record: item } as unknown as Record<string, Codec<unknown>>;

/** Keeps the channels of this process alive. */
const kept: unknown[] = [];

/** `taketurns/channel`, by a codec. */
export function channelBy(
  codec: 'number' | 'bytes' | 'value' | 'record',
  how: 'receive' | 'for' | 'batches' = 'receive',
): Transport {
  const attach = (shared: unknown): Channel<unknown> => Channel.from(shared as never, CODECS[codec] as Codec<unknown>);
  return {
    connect(senders, receivers, { bytes }) {
      const capacity = bytes >= LARGE ? LARGE_WINDOW : CAPACITY;
      const channel = new Channel<unknown>({ codec: CODECS[codec] as Codec<unknown>, bytes, capacity });
      kept.push(channel);
      return same(senders, receivers, channel.handle);
    },
    sender(shared) {
      const channel = attach(shared);
      return forEver((message) => channel.send(message));
    },
    receiver(shared) {
      const channel = attach(shared);
      if (how === 'receive') return everyOne(() => channel.receive());
      if (how === 'for')
        return {
          each(use) {
            for (const message of channel) if (use(message)) return;
          },
        };
      return {
        each(use) {
          for (const batch of channel.batches(BATCH)) for (const message of batch) if (use(message)) return;
        },
      };
    },
  };
}

/** The same without copies: both sides touch each line where the message lies. */
export const channelInPlace: Transport = {
  ...channelBy('bytes'),
  sender(shared) {
    const channel = Channel.from(shared as never);
    const send = (): void => {
      const place = channel.reserve();
      write(place.bytes.subarray(0, LARGE), 1);
      place.commit(LARGE);
    };
    return { send, run: (next) => forEver(send).run(next) };
  },
  receiver(shared) {
    const channel = Channel.from(shared as never);
    return everyOne(() => {
      const message = channel.take();
      sink.value += read(message.bytes);
      message[Symbol.dispose]();
      return undefined;
    });
  },
};

interface Ports {
  readonly ports: readonly MessagePort[];
  /** Of a sender: how many of its messages were received. Of a receiver: the same, for each of its ports. */
  readonly received: readonly Int32Array[];
  /** For each port: how many messages were posted to its receiver; a receiver sleeps there. */
  readonly posted: readonly Int32Array[];
}

const word = (): Int32Array => new Int32Array(new SharedArrayBuffer(64));

/** Connects each sender with its receivers by a MessageChannel each. */
function connectPorts(senders: number, receivers: number): Connection {
  const empty = (): Ports & { ports: MessagePort[]; received: Int32Array[]; posted: Int32Array[] } => ({
    ports: [],
    received: [],
    posted: [],
  });
  const [from, to] = [Array.from({ length: senders }, empty), Array.from({ length: receivers }, empty)];
  const [received, posted] = [from.map(word), to.map(word)];
  for (let k = 0; k < Math.max(senders, receivers); k++) {
    const { port1, port2 } = new MessageChannel();
    const [s, r] = [k % senders, k % receivers];
    for (const [end, port] of [
      [from[s], port1],
      [to[r], port2],
    ] as const) {
      end?.ports.push(port);
      end?.received.push(received[s] as Int32Array);
      end?.posted.push(posted[r] as Int32Array);
    }
  }
  const parts = (ends: Ports[]): Part[] => ends.map((shared) => ({ shared, transfer: [...shared.ports] }));
  return { senders: parts(from), receivers: parts(to) };
}

type Post = (port: MessagePort, message: unknown) => void;

/** `postMessage` and events. Each sender has so many messages under way, and looks again in its event loop. */
function posting(post: Post, use: (message: unknown) => void = () => {}): Transport {
  return {
    connect: connectPorts,
    sender(shared, load) {
      const { ports, received } = shared as Ports;
      const most = windowOf(load);
      let sent = 0;
      const send = (message: unknown): void => post(ports[sent++ % ports.length] as MessagePort, message);
      return {
        send,
        run: (next) =>
          new Promise((resolve) => {
            const more = (): void => {
              while (sent - Atomics.load(received[0] as Int32Array, 0) < most) {
                const message = next();
                if (message === undefined) {
                  resolve();
                  return;
                }
                send(message);
              }
              setImmediate(more);
            };
            more();
          }),
      };
    },
    receiver(shared) {
      const { ports, received } = shared as Ports;
      return {
        each: (took) =>
          new Promise((resolve) => {
            for (const [k, port] of ports.entries())
              port.on('message', (message) => {
                Atomics.add(received[k] as Int32Array, 0, 1);
                use(message);
                if (!took(message)) return;
                for (const one of ports) one.close();
                resolve();
              });
          }),
      };
    },
  };
}

export const postMessage = posting((port, message) => port.postMessage(message));

const touch = (message: unknown): void => {
  sink.value += read(message as Uint8Array);
};
export const postTouched = posting((port, message) => port.postMessage(write(message as Uint8Array, 1)), touch);
export const postTransferred = posting((port) => {
  const bytes = write(new Uint8Array(LARGE), 1);
  port.postMessage(bytes, [bytes.buffer as ArrayBuffer]);
}, touch);

/** `receiveMessageOnPort`: a receiver that finds nothing sleeps by Atomics.wait, and so does a sender. */
export const receiveOnPort: Transport = {
  connect: connectPorts,
  sender(shared, load) {
    const { ports, received, posted } = shared as Ports;
    const most = windowOf(load);
    let sent = 0;
    return forEver((message) => {
      const own = received[0] as Int32Array;
      for (let done = Atomics.load(own, 0); sent - done >= most; done = Atomics.load(own, 0))
        Atomics.wait(own, 0, done);
      const k = sent++ % ports.length;
      ports[k]?.postMessage(message);
      Atomics.add(posted[k] as Int32Array, 0, 1);
      Atomics.notify(posted[k] as Int32Array, 0);
    });
  },
  receiver(shared) {
    const { ports, received, posted } = shared as Ports;
    const own = posted[0] as Int32Array;
    const OFTEN = 64;
    let taken = 0;
    return everyOne(() => {
      while (true) {
        const known = Atomics.load(own, 0);
        for (const [k, port] of ports.entries()) {
          const found = receiveMessageOnPort(port);
          if (found === undefined) continue;
          const sender = received[k] as Int32Array;
          Atomics.add(sender, 0, 1);
          if (++taken % OFTEN === 0) Atomics.notify(sender, 0);
          return found.message;
        }
        for (const sender of received) Atomics.notify(sender, 0);
        Atomics.wait(own, 0, known);
      }
    });
  },
};
