// A thread that has one mutex of `async-mutex`. Others ask it through ports: 'lock', which it answers when the mutex is
// theirs, and 'unlock'.

import { type MessagePort, parentPort } from 'node:worker_threads';
import { Mutex } from 'async-mutex';

const mutex = new Mutex();
parentPort?.on('message', (port: MessagePort) => {
  port.on('message', async (wish: 'lock' | 'unlock') => {
    if (wish === 'unlock') return mutex.release();
    await mutex.acquire();
    port.postMessage('granted');
  });
});
