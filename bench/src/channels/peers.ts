// The packages of npm that `bench channels` measures beside the library.

/// <reference path="./ringbuf.d.ts" />
import { converted, load } from '../rows/multithreading.js';
import { CAPACITY, type Connection, type Transport } from './transports.js';

interface Ends {
  readonly sender: unknown;
  readonly receiver: unknown;
}

/** The channel of `multithreading`, by its calls that block. */
export const multithreading: Transport = {
  async connect(senders, receivers, { bytes }) {
    const { channel } = await load();
    // The channel keeps its messages as JSON in a buffer of this size.
    const [sender, receiver] = channel<unknown>(CAPACITY, { size: CAPACITY * (bytes + 100) });
    const part = (end: { clone(): object }): { shared: Ends } => ({
      shared: { sender: converted(sender.clone())[0], receiver: converted(end.clone())[0] },
    });
    const parts = (count: number) => Array.from({ length: count }, () => part(receiver));
    return { senders: parts(senders), receivers: parts(receivers) } as Connection;
  },
  async sender(shared) {
    const { Sender } = await load();
    const sender = opened<InstanceType<typeof Sender>>(Sender, (shared as Ends).sender);
    const send = (message: unknown): void => {
      const { ok } = sender.blockingSend(message);
      if (!ok) throw new Error('multithreading: the message was not sent');
    };
    return {
      send,
      run(next) {
        for (let message = next(); message !== undefined; message = next()) send(message);
      },
    };
  },
  async receiver(shared) {
    const { Receiver } = await load();
    const receiver = opened<InstanceType<typeof Receiver>>(Receiver, (shared as Ends).receiver);
    return {
      each(use) {
        while (true) {
          const received = receiver.blockingRecv();
          if (!received.ok) throw new Error(`multithreading: ${received.error.message}`);
          if (use(received.value)) return;
        }
      },
    };
  },
};

/** Undoes the conversion of an object of `multithreading`. */
function opened<T>(Class: object, data: unknown): T {
  const undo = Object.getOwnPropertySymbols(Class).find(({ description }) => description === 'Thread.Deserialize');
  if (undo === undefined) throw new Error('this version of multithreading converts its objects differently');
  return (Class as Record<symbol, (data: unknown) => T>)[undo]?.(data) as T;
}

/** `ringbuf.js`, between two threads. It never waits, so both sides call it again and again. */
export const ringbuf: Transport = {
  async connect(senders, receivers, { bytes }) {
    if (senders + receivers > 2) throw new Error('ringbuf.js connects two threads');
    const { RingBuffer } = await import('ringbuf.js');
    const shared = RingBuffer.getStorageForCapacity(CAPACITY * bytes, Uint8Array);
    return { senders: [{ shared }], receivers: [{ shared }] };
  },
  async sender(shared) {
    const { RingBuffer } = await import('ringbuf.js');
    const ring = new RingBuffer(shared as SharedArrayBuffer, Uint8Array);
    const send = (message: unknown): void => {
      const bytes = message as Uint8Array;
      while (ring.available_write() < bytes.length);
      ring.push(bytes);
    };
    return {
      send,
      run(next) {
        for (let message = next(); message !== undefined; message = next()) send(message);
      },
    };
  },
  async receiver(shared, { bytes }) {
    const { RingBuffer } = await import('ringbuf.js');
    const ring = new RingBuffer(shared as SharedArrayBuffer, Uint8Array);
    const message = new Uint8Array(bytes);
    return {
      each(use) {
        do while (ring.available_read() < bytes || ring.pop(message) === 0);
        while (!use(message));
      },
    };
  },
};
