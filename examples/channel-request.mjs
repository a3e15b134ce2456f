// Requests and replies: two threads ask, and one answers. A request carries the handle of the channel for its reply, so the
// thread that answers need not know who asks. A thread that asks waits for a second at most; if it gives up, it disposes of
// its channel, and the reply is dropped.
// Run: node node_modules/taketurns/examples/channel-request.mjs
// In a clone of the repository: node examples/channel-request.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { DisposedError } from 'taketurns';
import { Channel, value } from 'taketurns/channel';

const CLIENTS = 2;
const prices = { apple: 3, pear: 4 };

function ask(requests, question) {
  const reply = new Channel({ codec: value, capacity: 1, bytes: 200 });
  try {
    requests.send({ question, reply: reply.handle });
    return reply.receive({ timeout: 1000 });
  } finally {
    reply.dispose();
  }
}

function answer({ question, reply }) {
  try {
    const price = prices[question];
    Channel.from(reply, value).send(price === undefined ? { error: `no ${question}` } : { price });
  } catch (error) {
    if (!(error instanceof DisposedError)) throw error; // the other thread has given up
  }
}

if (isMainThread) {
  const requests = new Channel({ codec: value, capacity: 8, bytes: 400 });
  const sums = new Channel({ codec: value });
  const data = { requests: requests.handle, sums: sums.handle };
  for (let i = 0; i < CLIENTS; i++) new Worker(new URL(import.meta.url), { workerData: data });
  const answering = (async () => {
    for await (const request of requests) answer(request);
  })();
  for (let i = 0; i < CLIENTS; i++) console.log(await sums.receiveAsync());
  requests.close();
  await answering;
} else {
  const requests = Channel.from(workerData.requests, value);
  let total = 0;
  for (let i = 0; i < 100; i++) total += ask(requests, i % 2 ? 'apple' : 'pear').price;
  const { error } = ask(requests, 'plum');
  Channel.from(workerData.sums, value).send(`100 prices add up to ${total}; ${error}`);
}
