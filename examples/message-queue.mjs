// Three senders and two receivers share a queue of messages of any length: a ring with a limited number of bytes.
// `room` counts the free bytes. A sender acquires all bytes that its message needs in one request, so short messages
// cannot keep a long message waiting. `messages` counts the messages that may be received. A mutex at each end of the
// ring keeps the bytes of a message together. The last sender that closes releases one more permit than there are
// messages. A receiver that then finds the ring empty has come to the end, and releases this permit for the next
// receiver.
// Run: node node_modules/taketurns/examples/message-queue.mjs
// In a clone of the repository: node examples/message-queue.mjs
import { once } from 'node:events';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Mutex, Semaphore } from 'taketurns';

const BYTES = 256; // a power of two
const LENGTH = 2; // the bytes before each message that say how long it is
const SENDERS = 3;
const RECEIVERS = 2;
const EACH = 200;

const room = Semaphore.open('room', BYTES);
const messages = Semaphore.open('messages', 0);
const head = Mutex.open('head');
const tail = Mutex.open('tail');

if (isMainThread) {
  const shared = {
    ring: new Uint8Array(new SharedArrayBuffer(BYTES)),
    ends: new Uint32Array(new SharedArrayBuffer(8)), // bytes ever taken out, bytes ever put in
    open: new Int32Array(new SharedArrayBuffer(4)).fill(SENDERS), // senders that have not closed
    received: new Int32Array(new SharedArrayBuffer(4 * SENDERS * EACH)), // how often each message was received
    wrong: new Int32Array(new SharedArrayBuffer(8)), // messages whose text is not whole; messages out of order
  };
  const start = (role, me) => new Worker(new URL(import.meta.url), { workerData: { role, me, ...shared } });
  const workers = [
    ...Array.from({ length: SENDERS }, (_, i) => start('sender', i)),
    ...Array.from({ length: RECEIVERS }, (_, i) => start('receiver', i)),
  ];
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  const { received, wrong } = shared;
  console.log(`${received.length} messages sent, ${received.filter((times) => times === 1).length} received once`);
  console.log(`${wrong[0]} torn, ${wrong[1]} out of order, ${room.available} of ${BYTES} bytes free`);
} else if (workerData.role === 'sender') {
  for (let i = 0; i < EACH; i++) send(new TextEncoder().encode(textOf(workerData.me, i)));
  close();
} else {
  const last = Array(SENDERS).fill(-1);
  for (let bytes = receive(); bytes !== undefined; bytes = receive()) {
    const text = new TextDecoder().decode(bytes);
    const [sender, i] = text.split(' ').map(Number);
    if (text !== textOf(sender, i)) Atomics.add(workerData.wrong, 0, 1);
    if (i <= last[sender]) Atomics.add(workerData.wrong, 1, 1);
    last[sender] = i;
    Atomics.add(workerData.received, sender * EACH + i, 1);
  }
}

/** Blocks until there is room. A message that is longer than the ring is a RangeError. */
function send(bytes) {
  const { ring, ends } = workerData;
  room.acquire(LENGTH + bytes.length);
  const held = tail.hold();
  try {
    put(ring, ends[1], [bytes.length >> 8, bytes.length & 255]);
    put(ring, ends[1] + LENGTH, bytes);
    ends[1] += LENGTH + bytes.length;
  } finally {
    held.unlock();
  }
  messages.release();
}

/** Blocks until there is a message. Returns its bytes, or undefined when all senders have closed and none is left. */
function receive() {
  const { ring, ends } = workerData;
  messages.acquire();
  const held = head.hold();
  let bytes;
  try {
    if (ends[0] !== Atomics.load(ends, 1)) {
      const [high, low] = take(ring, ends[0], LENGTH);
      bytes = take(ring, ends[0] + LENGTH, (high << 8) + low);
      ends[0] += LENGTH + bytes.length;
    }
  } finally {
    held.unlock();
  }
  if (bytes === undefined) messages.release();
  else room.release(LENGTH + bytes.length);
  return bytes;
}

/** Is called once by each sender, after its last message. */
function close() {
  if (Atomics.sub(workerData.open, 0, 1) === 1) messages.release();
}

function put(ring, at, bytes) {
  for (let i = 0; i < bytes.length; i++) ring[(at + i) % BYTES] = bytes[i];
}

function take(ring, at, length) {
  return Uint8Array.from({ length }, (_, i) => ring[(at + i) % BYTES]);
}

function textOf(sender, i) {
  return `${sender} ${i} ${'.'.repeat((i * 37) % 150)}`;
}
