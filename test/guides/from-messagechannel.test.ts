/** The rows of docs/guides/from-messagechannel.md. */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { bytes, Channel, type ChannelHandle, number, value } from 'taketurns/channel';
import { elsewhere, guide, type Inside, later, outcome } from './rows.js';

interface Request {
  readonly n: number;
  readonly reply: ChannelHandle;
}

guide(
  'from-messagechannel.md',
  {
    'the queue': [
      () => {
        const { port1, port2 } = new MessageChannel();
        let sent = 0;
        while (sent < 1000) port1.postMessage(sent++);
        port2.close();
        return sent;
      },
      async () => {
        const jobs = new Channel({ codec: number, capacity: 4 });
        let sent = 0;
        while (jobs.trySend(sent)) sent++;
        const waits = await Promise.race([jobs.sendAsync(0), later('waits')]);
        return waits === 'waits' && sent;
      },
      1000,
      4,
    ],
    'to wait for a message': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        port1.postMessage(1);
        const [message] = await once(port2, 'message');
        port2.close();
        return [message];
      },
      async () => {
        const jobs = new Channel({ codec: number });
        jobs.sendMany([1, 2, 3, 4]);
        jobs.close();
        const got = [jobs.receive(), await jobs.receiveAsync()];
        for (const job of jobs) {
          got.push(job);
          break;
        }
        for await (const job of jobs) got.push(job);
        return got;
      },
      [1],
      [1, 2, 3, 4],
    ],
    'between how many threads': [
      () => {
        const { port1, port2 } = new MessageChannel();
        port1.postMessage(1);
        // One thread has the port. Another one gets it only if this one gives it away.
        const refused = outcome(() => new MessageChannel().port1.postMessage(port2));
        port2.close();
        return refused.then((end) => `${end}`.split(':')[0]);
      },
      async () => {
        const [jobs, sums] = [new Channel({ codec: number }), new Channel({ codec: number })];
        const both = { jobs: jobs.handle, sums: sums.handle };
        const square = ({ Channel, number, data }: Inside<Record<'jobs' | 'sums', ChannelHandle>>) => {
          const out = Channel.from(data.sums, number);
          for (const n of Channel.from(data.jobs, number)) out.send(n * n);
        };
        const workers = [elsewhere(square, both), elsewhere(square, both)];
        const send = ({ Channel, number, data }: Inside<Record<'jobs' | 'sums', ChannelHandle>>) =>
          Channel.from(data.jobs, number).sendMany([1, 2, 3]);
        await Promise.all([elsewhere(send, both).answer, elsewhere(send, both).answer]);
        jobs.close();
        await Promise.all(workers.map(({ answer }) => answer));
        sums.close();
        return [...sums].sort();
      },
      'refused',
      [1, 1, 4, 4, 9, 9],
    ],
    order: [
      () => {
        const { port1, port2 } = new MessageChannel();
        for (const n of [1, 2, 3]) port1.postMessage(n);
        const got = [1, 2, 3].map(() => receiveMessageOnPort(port2)?.message);
        port2.close();
        return got;
      },
      async () => {
        const jobs = new Channel({ codec: number });
        for (const n of [1, 2]) await jobs.sendAsync(n);
        await elsewhere(({ Channel, number, data }) => Channel.from(data, number).send(3), jobs.handle).answer;
        return jobs.receiveMany(3);
      },
      [1, 2, 3],
    ],
    'who gets the next message': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        // Two listeners of the thread that has the port: each message goes to both.
        const both = Promise.all([once(port2, 'message'), once(port2, 'message')]);
        port1.postMessage(1);
        const got = await both;
        port2.close();
        return got.flat();
      },
      async () => {
        const jobs = new Channel({ codec: number });
        const got = Promise.all([jobs.receiveAsync(), jobs.receiveAsync()]);
        await jobs.sendAsync(1);
        await jobs.sendAsync(2);
        return got;
      },
      [1, 1],
      [1, 2],
    ],
    'what travels': [
      () => structuredClone({ text: 'a', map: new Map([[1, 2]]) }),
      async () => {
        const things = new Channel({ codec: value, bytes: 1000 });
        const thing = { text: 'a', map: new Map([[1, 2]]) };
        things.send(thing);
        const numbers = new Channel({ codec: number });
        things.send(numbers.handle);
        const got = things.receive();
        numbers.send(1);
        return Channel.from(things.receive() as typeof numbers.handle, number).receive() === 1 && got;
      },
      { text: 'a', map: new Map([[1, 2]]) },
    ],
    'without a copy': [
      () => {
        const { port1, port2 } = new MessageChannel();
        const buffer = new ArrayBuffer(8);
        port1.postMessage(buffer, [buffer]);
        const arrived = receiveMessageOnPort(port2)?.message.byteLength;
        port2.close();
        return [buffer.byteLength, arrived];
      },
      () => {
        const blocks = new Channel({ codec: bytes });
        const place = blocks.reserve();
        const written = place.bytes;
        written[0] = 7;
        place.commit(8);
        using message = blocks.take();
        return [message.bytes.buffer === written.buffer, message.bytes.length, message.bytes[0]];
      },
      [0, 8],
      [true, 8, 7],
    ],
    'a time-out, an abort': [
      async () => {
        const { port2 } = new MessageChannel();
        // By hand: `once` of Node, with a signal.
        const refused = await outcome(() => once(port2, 'message', { signal: AbortSignal.timeout(5) }));
        port2.close();
        return [refused];
      },
      async () => {
        const jobs = new Channel({ codec: number });
        const wait = (options: object) => outcome(() => jobs.receiveAsync(options));
        return [await wait({ timeout: 5 }), await wait({ signal: AbortSignal.timeout(5) })];
      },
      ['refused: AbortError'],
      ['refused: TimeoutError', 'refused: TimeoutError'],
    ],
    'the end': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        port2.on('message', () => {});
        const closed = once(port2, 'close');
        port1.close();
        return (await closed) && [];
      },
      () => {
        const jobs = new Channel({ codec: number });
        jobs.sendMany([1, 2]);
        jobs.close();
        return [...jobs];
      },
      [],
      [1, 2],
    ],
    'a thread dies': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        for (const n of [1, 2]) port1.postMessage(n);
        const take = ({ data, tell }: Inside<MessagePort>) => {
          data.once('message', tell);
          return new Promise(() => setInterval(() => {}, 1e6));
        };
        const other = elsewhere(take, port2, [port2]);
        await other.told;
        await other.die();
        port1.postMessage(3); // no error: nobody is told
        port1.close();
        return 0;
      },
      async () => {
        const jobs = new Channel({ codec: number });
        jobs.sendMany([1, 2]);
        const take = ({ Channel, number, data, tell }: Inside<ChannelHandle>) => {
          tell(Channel.from(data, number).take().bytes.length);
          return new Promise(() => setInterval(() => {}, 1e6));
        };
        const other = elsewhere(take, jobs.handle);
        await other.told;
        await other.die();
        const next = await jobs.receiveAsync();
        return next === 2 && jobs.inspect().lost;
      },
      0,
      1,
    ],
    'how another thread gets it': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        const other = elsewhere(({ data }) => data.postMessage(5), port2, [port2]);
        const [message] = await once(port1, 'message');
        await other.answer;
        port1.close();
        return [message];
      },
      async () => {
        const handed = new Channel({ codec: number });
        const named = Channel.open('reached by name', { codec: number });
        await elsewhere(({ Channel, number, data }) => {
          Channel.from(data, number).send(5);
          Channel.open('reached by name', { codec: number }).send(5);
        }, handed.handle).answer;
        return [handed.receive(), named.receive()];
      },
      [5],
      [5, 5],
    ],
  },
  {
    '`const { port1, port2 } = new MessageChannel()`, and send a port': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        port1.postMessage({ n: 4 });
        const other = elsewhere(({ data }) => new Promise((done) => data.once('message', ({ n }) => done(n))), port2, [
          port2,
        ]);
        const n = await other.answer;
        port1.close();
        return n;
      },
      async () => {
        const jobs = new Channel({ codec: value });
        jobs.send({ n: 4 });
        return elsewhere(({ Channel, value, data }) => (Channel.from(data, value).receive() as Request).n, jobs.handle)
          .answer;
      },
      4,
    ],
    '`port.postMessage(job)`': [
      () => {
        const { port1, port2 } = new MessageChannel();
        for (const n of [1, 2]) port1.postMessage(n);
        const got = [receiveMessageOnPort(port2), receiveMessageOnPort(port2)].map((one) => one?.message);
        port2.close();
        return got;
      },
      async () => {
        const jobs = new Channel({ codec: value });
        jobs.send(1);
        await jobs.sendAsync(2);
        return jobs.receiveMany(2);
      },
      [1, 2],
    ],
    "`port.on('message', run)`, `port.onmessage = run`": [
      async () => {
        const { port1, port2 } = new MessageChannel();
        const ran: number[] = [];
        port2.on('message', (n) => ran.push(n));
        for (const n of [1, 2]) port1.postMessage(n);
        await later(0);
        port2.close();
        return ran;
      },
      async () => {
        const [jobs, more] = [new Channel({ codec: number }), new Channel({ codec: number })];
        const ran: number[] = [];
        jobs.send(1);
        jobs.close();
        for await (const job of jobs) ran.push(job);
        more.send(2);
        more.close();
        for (const job of more) ran.push(job);
        return ran;
      },
      [1, 2],
    ],
    '`receiveMessageOnPort(port)?.message`': [
      () => {
        const { port1, port2 } = new MessageChannel();
        const none = receiveMessageOnPort(port2)?.message;
        port1.postMessage(1);
        const one = receiveMessageOnPort(port2)?.message;
        port2.close();
        return [none, one];
      },
      () => {
        const jobs = new Channel({ codec: number });
        const none = jobs.tryReceive()?.value;
        jobs.send(1);
        return [none, jobs.tryReceive()?.value];
      },
      [undefined, 1],
    ],
    '`Atomics.wait` on a counter, and then `receiveMessageOnPort`': [
      () => {
        const { port1, port2 } = new MessageChannel();
        const counter = new Int32Array(new SharedArrayBuffer(4));
        elsewhere(
          ({ data }) => {
            data.port.postMessage(9);
            Atomics.add(data.counter, 0, 1);
            Atomics.notify(data.counter, 0);
          },
          { port: port1, counter },
          [port1],
        );
        Atomics.wait(counter, 0, 0);
        const got = receiveMessageOnPort(port2)?.message;
        port2.close();
        return got;
      },
      () => {
        const jobs = new Channel({ codec: number });
        elsewhere(({ Channel, number, data }) => Channel.from(data, number).send(9), jobs.handle);
        return jobs.receive();
      },
      9,
    ],
    'a list of pending requests by number, for replies': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        const pending = new Map<number, (reply: number) => void>();
        port1.on('message', ({ id, reply }) => pending.get(id)?.(reply));
        port2.on('message', ({ id, n }) => port2.postMessage({ id, reply: n * n }));
        const ask = (n: number) =>
          new Promise<number>((done) => {
            pending.set(n, done);
            port1.postMessage({ id: n, n });
          });
        const got = await Promise.all([ask(2), ask(3)]);
        port1.close();
        return got;
      },
      async () => {
        const requests = new Channel({ codec: value, bytes: 200 });
        const other = elsewhere(({ Channel, number, value, data }) => {
          for (const { n, reply } of Channel.from(data, value) as Iterable<Request>)
            Channel.from(reply, number).send(n * n);
        }, requests.handle);
        const ask = async (n: number) => {
          const reply = new Channel({ codec: number, capacity: 1 });
          await requests.sendAsync({ n, reply: reply.handle });
          return reply.receiveAsync();
        };
        const got = await Promise.all([ask(2), ask(3)]);
        requests.close();
        await other.answer;
        return got;
      },
      [4, 9],
    ],
    'a counter of messages under way, for back-pressure': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        let [underway, most] = [0, 0];
        port2.on('message', (n) => port2.postMessage(n));
        port1.on('message', () => underway--);
        for (let n = 0; n < 10; n++) {
          while (underway === 4) await new Promise((soon) => setTimeout(soon, 1));
          port1.postMessage(n);
          most = Math.max(most, ++underway);
        }
        port1.close();
        return most;
      },
      async () => {
        const jobs = new Channel({ codec: number, capacity: 4 });
        let most = 0;
        const sending = (async () => {
          for (let n = 0; n < 10; n++) {
            await jobs.sendAsync(n);
            most = Math.max(most, jobs.size);
          }
          jobs.close();
        })();
        await later(0);
        for await (const _ of jobs);
        await sending;
        return most;
      },
      4,
    ],
    'a message that says "no more"': [
      async () => {
        const { port1, port2 } = new MessageChannel();
        const got: number[] = [];
        for (const n of [1, 2, null]) port1.postMessage(n);
        for (;;) {
          const { message } = receiveMessageOnPort(port2) ?? {};
          if (message === null) break;
          got.push(message);
        }
        port2.close();
        return got;
      },
      () => {
        const jobs = new Channel({ codec: number });
        jobs.sendMany([1, 2]);
        jobs.close();
        return [...jobs];
      },
      [1, 2],
    ],
  },
);
