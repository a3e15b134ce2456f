/**
 * A proxy that delays what passes through it. `delayed.ts` starts it: its arguments are the port of the server and the
 * round trip in milliseconds. Each direction is delayed by half of the round trip.
 */
import { connect, createServer, type Socket } from 'node:net';
import { now } from './clock.js';

const port = Number(process.argv[2]);
const delay = Number(process.argv[3]) / 2;

interface Late {
  readonly at: number;
  act(): void;
}

const late: Late[] = [];
const cell = new Int32Array(new SharedArrayBuffer(4));
let isBusy = false;

/** Timers of Node are exact only to a millisecond. So if data are due soon, the thread sleeps for 0.1 ms at a time. */
function look(): void {
  while (late.length > 0 && (late[0] as Late).at <= now()) (late.shift() as Late).act();
  const [first] = late;
  isBusy = first !== undefined;
  if (!first) return;
  const ms = first.at - now();
  if (ms > 3) {
    setTimeout(look, ms - 2);
    return;
  }
  if (ms > 0) Atomics.wait(cell, 0, 0, Math.min(ms, 0.1));
  setImmediate(look);
}

function later(act: () => void): void {
  late.push({ at: now() + delay, act });
  if (!isBusy) look();
}

function pass(from: Socket, to: Socket): void {
  from.setNoDelay(true);
  from.on('data', (data) => later(() => to.writable && to.write(data)));
  from.on('close', () => later(() => to.destroy()));
  from.on('error', () => from.destroy());
}

const server = createServer((client) => {
  const upstream = connect(port, '127.0.0.1');
  pass(client, upstream);
  pass(upstream, client);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
process.on('message', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
