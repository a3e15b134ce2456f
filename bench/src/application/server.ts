// The server of the connections, in a thread of its own. It answers a query of four bytes with the same bytes after a
// while, and counts how many queries it has at a time. A message asks for the counts.

import { createServer, type Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';

const QUERY_BYTES = 4;
/** Most queries take one to three milliseconds, and one of fifty takes twenty. */
const delayOf = (id: number): number => (id % 50 === 0 ? 20 : 1 + (id % 3));

let open = 0;
let most = 0;
let answered = 0;

const server = createServer({ noDelay: true }, (socket: Socket) => {
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    for (let at = 0; at + QUERY_BYTES <= bytes.length; at += QUERY_BYTES) {
      most = Math.max(most, ++open);
      const query = bytes.subarray(at, at + QUERY_BYTES);
      setTimeout(() => {
        open--;
        answered++;
        socket.write(query);
      }, delayOf(query.readUInt32LE()));
    }
  });
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as { port: number }).port));
parentPort?.on('message', () => parentPort?.postMessage({ most, answered, open }));
