/** The rows of docs/guides/from-go-channels.md: our side of each. */
import { Semaphore } from 'taketurns';
import {
  bytes,
  Channel,
  type ChannelHandle,
  changing,
  number,
  receiving,
  select,
  selectAsync,
  sending,
  trySelect,
  value,
  Watch,
} from 'taketurns/channel';
import { Event, WaitGroup } from 'taketurns/sync';
import { elsewhere, guide, mostAtOnce, outcome, waits } from './rows.js';

const numbers = (capacity = 4, more: object = {}): Channel<number> => new Channel({ codec: number, capacity, ...more });
/** A closed channel of these numbers. */
function closed(...all: number[]): Channel<number> {
  const channel = numbers();
  channel.sendMany(all);
  channel.close();
  return channel;
}
/** Sends a number from another thread. */
const sends = (channel: Channel<number>, n: number): Promise<void> =>
  elsewhere(({ Channel, number, data }) => Channel.from(data.handle, number).send(data.n), {
    handle: channel.handle,
    n,
  }).answer;
/** The numbers of a loop with `await`. */
async function all(channel: AsyncIterable<number>): Promise<number[]> {
  const got = [];
  for await (const n of channel) got.push(n);
  return got;
}

guide(
  'from-go-channels.md',
  {
    '`make(chan int, n)`': [
      () => {
        const channel = numbers(4);
        let sent = 0;
        while (channel.trySend(sent)) sent++;
        return outcome(() => numbers(3)).then((three) => [sent, three]);
      },
      [4, 'refused: RangeError'],
    ],
    '`make(chan int)`': [
      async () => {
        const [requests, answers] = [numbers(1), numbers(1)];
        const sent = await waits(requests.sendAsync(1));
        const answer = answers.receiveAsync(); // a rendezvous
        answers.send(2 * requests.receive());
        return [sent, await answer, await outcome(() => numbers(0))];
      },
      [undefined, 2, 'refused: RangeError'],
    ],
    '`c <- v`': [
      async () => {
        const channel = numbers();
        channel.send(1);
        await channel.sendAsync(2);
        const got = [channel.receive(), channel.receive()];
        channel.close();
        return [...got, await outcome(() => channel.send(3))];
      },
      [1, 2, 'refused: ClosedError'],
    ],
    '`v := <-c`': [
      async () => {
        const channel = closed(1, 2);
        return [channel.receive(), await channel.receiveAsync(), await outcome(() => channel.receive())];
      },
      [1, 2, 'refused: ClosedError'],
    ],
    '`v, ok := <-c`': [
      async () => [await outcome(() => closed().receiveAsync()), [...closed()]],
      ['refused: ClosedError', []],
    ],
    '`for v := range c`': [
      async () => [[...closed(1, 2)], await all(closed(1, 2))],
      [
        [1, 2],
        [1, 2],
      ],
    ],
    '`close(c)`': [
      async () => {
        const channel = numbers(1);
        channel.send(1);
        const sending = outcome(() => channel.sendAsync(2));
        await elsewhere(({ Channel, number, data }) => Channel.from(data, number).close(), channel.handle).answer;
        channel.close();
        return [await sending, [...channel]];
      },
      ['refused: ClosedError', [1]],
    ],
    '`len(c)`, `cap(c)`': [
      () => {
        const channel = numbers(4);
        channel.sendMany([1, 2]);
        return [channel.size, channel.capacity];
      },
      [2, 4],
    ],
    '`select { case v := <-a: ... case b <- w: ... }`': [
      async () => {
        const [a, b] = [numbers(1), numbers(1)];
        const sent = select([receiving(a), sending(b, 5)]);
        a.send(7);
        const got = await selectAsync([receiving(a), sending(b, 6)]);
        return [sent.index, b.receive(), got.index, got.value];
      },
      [1, 5, 0, 7],
    ],
    '`default:`': [
      () => {
        const channel = numbers(1);
        return [trySelect([receiving(channel)]), channel.tryReceive(), channel.trySend(1), channel.trySend(2)];
      },
      [undefined, undefined, true, false],
    ],
    '`case <-time.After(d)`, `case <-ctx.Done()`': [
      async () => {
        const cases = [receiving(numbers())];
        const signal = AbortSignal.abort(new TypeError('done'));
        return [
          await outcome(() => select(cases, { timeout: 5 })),
          await outcome(() => selectAsync(cases, { signal })),
        ];
      },
      ['refused: TimeoutError', 'refused: TypeError'],
    ],
    'a nil channel, for a case that is off': [
      () => {
        const [on, off]: [Channel<number>, Channel<number> | undefined] = [numbers(), undefined];
        on.send(1);
        return select([on, off].flatMap((channel) => (channel ? receiving(channel) : []))).value;
      },
      1,
    ],
    'a channel of `struct{}` as a signal': [
      async () => {
        const stop = numbers(1);
        const event = new Event();
        const waiting = [event.waitAsync(), event.waitAsync()];
        event.set();
        stop.close();
        const twice = [1, 2].map(() => select([receiving(numbers()), receiving(stop)]));
        return [await Promise.all(waiting), twice.map(({ index, closed }) => [index, closed])];
      },
      [
        [true, true],
        [
          [1, true],
          [1, true],
        ],
      ],
    ],
    'a channel as a semaphore': [() => mostAtOnce((f) => new Semaphore(2).limit(f), 5), 2],
    'a channel that travels in a message': [
      () => {
        const carrier = new Channel({ codec: value });
        const inner = numbers();
        carrier.send(inner.handle);
        Channel.from(carrier.receive() as ChannelHandle, number).send(3);
        return inner.receive();
      },
      3,
    ],
    '`sync.WaitGroup`, and then `close`': [
      async () => {
        const channel = numbers(4, { senders: 2 });
        const mine = channel.sender();
        const other = elsewhere(({ Channel, number, data, tell }) => {
          Channel.from(data, number).sender();
          tell('is a sender');
          return new Promise(() => setInterval(() => {}, 1e6));
        }, channel.handle);
        await other.told;
        channel.send(1);
        mine.leave();
        const before = channel.closed;
        await other.die();
        const got = await all(channel);
        const [second, group] = [numbers(), new WaitGroup()];
        group.run(() => second.sendAsync(2));
        await group.waitAsync();
        second.close();
        return [before, got, [...second]];
      },
      [false, [1], [2]],
    ],
    'an `atomic.Value`, and a channel that says when it changes': [
      () => {
        const watch = new Watch(1, { codec: number });
        const { version } = watch;
        watch.set(2);
        return select([receiving(numbers()), changing(watch, version)]).index;
      },
      1,
    ],
  },
  {
    '`bounded(n)`, `mpsc::channel(n)`': [
      async () => {
        const channel = numbers(2);
        await sends(channel, 1);
        channel.send(2);
        return [channel.receive(), channel.receive(), channel.capacity];
      },
      [1, 2, 2],
    ],
    '`unbounded()`, `bounded(0)`': null,
    '`s.send(v)`, `tx.send(v).await`': [
      async () => {
        const channel = numbers();
        channel.send(1);
        await channel.sendAsync(2);
        return channel.receiveMany(4);
      },
      [1, 2],
    ],
    '`send_timeout`, `try_send`': [
      async () => {
        const channel = numbers(1);
        return [channel.trySend(1), channel.trySend(2), await outcome(() => channel.send(2, { timeout: 5 }))];
      },
      [true, false, 'refused: TimeoutError'],
    ],
    '`r.recv()`, `try_recv`, `recv_timeout`': [
      async () => {
        const channel = numbers();
        channel.sendMany([1, 2]);
        return [channel.receive(), channel.tryReceive()?.value, await outcome(() => channel.receive({ timeout: 5 }))];
      },
      [1, 2, 'refused: TimeoutError'],
    ],
    '`r.iter()`, `r.try_iter()`': [
      async () => {
        const channel = numbers();
        const other = sends(channel, 1);
        const first = channel.receiveMany(4);
        await other;
        return [first, [...closed(1, 2)]];
      },
      [[1], [1, 2]],
    ],
    '`recv_many`': [
      async () => {
        const batches = [];
        for (const batch of closed(1, 2, 3).batches(2)) batches.push(batch);
        return [closed(1, 2, 3).receiveMany(2), await closed(1, 2, 3).receiveManyAsync(2), batches];
      },
      [
        [1, 2],
        [1, 2],
        [[1, 2], [3]],
      ],
    ],
    'the last sender is dropped': [
      async () => {
        const channel = numbers(4, { senders: 1 });
        channel.sender().leave();
        return [channel.closed, await waits(numbers().receiveAsync())];
      },
      [true, 'waits'],
    ],
    'the last receiver is dropped': [
      async () => {
        const channel = numbers(1);
        channel.send(1);
        const sending = channel.sendAsync(2);
        const first = await waits(sending);
        channel.close();
        return [first, await outcome(() => sending)];
      },
      ['waits', 'refused: ClosedError'],
    ],
    '`tx.reserve().await`, then `permit.send(v)`': [
      () => {
        const blocks = new Channel({ codec: bytes });
        using place = blocks.reserve();
        place.bytes.fill(7, 0, 3);
        place.commit(3);
        return [...blocks.receive()];
      },
      [7, 7, 7],
    ],
    '`select!`, `Select`, `biased`': [
      () => {
        const indices = new Set<number>();
        for (let i = 0; i < 20; i++)
          indices.add(select([receiving(closed(1)), receiving(closed(2))], { biased: true }).index);
        return [...indices];
      },
      [0],
    ],
    '`after(d)`, `tick(d)`, `never()`': [
      () => outcome(() => selectAsync([receiving(numbers())], { timeout: 5 })),
      'refused: TimeoutError',
    ],
    '`watch::channel`': [
      async () => {
        const watch = new Watch(1, { codec: number });
        const { value: first, version } = watch.read();
        const changed = watch.changedAsync(version);
        watch.set(2);
        return [first, watch.get(), (await changed).value];
      },
      [1, 2, 2],
    ],
    '`broadcast`, `oneshot`': [
      async () => {
        const answer = numbers(1);
        await sends(answer, 1);
        const receivers = [numbers(), numbers()];
        for (const channel of receivers) channel.send(2);
        return [answer.receive(), receivers.map((channel) => channel.receive())];
      },
      [1, [2, 2]],
    ],
  },
);
