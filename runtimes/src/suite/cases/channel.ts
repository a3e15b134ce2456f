/** taketurns/channel: messages go both ways between workers that block and promises of this thread. */
import { Arena } from 'taketurns';
import { Channel, number, Watch } from 'taketurns/channel';
import { equal, sleep, until } from '../check.js';
import { test } from '../run.js';

test('channel: workers and promises send and receive, in order, to the end', async ({ team }) => {
  const there = new Channel({ codec: number, capacity: 4 });
  const back = new Channel({ codec: number, capacity: 4 });
  const worker = await team.member();
  const done = worker.call('pipe', there.handle, back.handle);
  const sent = (async () => {
    for (let i = 0; i < 100; i++) await there.sendAsync(i);
    there.close();
  })();
  const got: number[] = [];
  for await (const x of back) got.push(x);
  await sent;
  equal(await done, 100, 'messages of the worker');
  equal(
    got,
    Array.from({ length: 100 }, (_, i) => 2 * i),
    'what comes back',
  );
});

test('channel: a message that was taken by a worker that is terminated counts as lost', async ({ team }) => {
  const channel = new Channel({ codec: number, capacity: 2 });
  const worker = await team.member();
  Arena.default.watch(worker.worker, worker.thread);
  channel.send(1);
  worker.call('takeAndStay', channel.handle);
  await until('it is taken', () => channel.size === 0);
  worker.terminate();
  await until('it is lost', () => channel.inspect().lost === 1);
  channel.send(2);
  channel.send(3);
  equal([channel.receive(), channel.receive()], [2, 3], 'the others');
});

test('channel: it closes itself when its senders have left or were terminated', async ({ team }) => {
  const channel = new Channel({ codec: number, senders: 2 });
  const [one, other] = [await team.member(), await team.member()];
  Arena.default.watch(other.worker, other.thread);
  await one.call('sendOne', channel.handle, 1);
  other.call('sendAndStay', channel.handle, 2);
  const got = [await channel.receiveAsync(), await channel.receiveAsync()];
  equal(channel.closed, false, 'closed while a sender is left');
  other.terminate();
  for await (const x of channel) got.push(x);
  equal(
    got.sort((a, b) => a - b),
    [1, 2],
    'messages',
  );
});

test('watch: a worker that blocks and promises of this thread see each change that they wait for', async ({ team }) => {
  const [there, back] = [new Watch(1, { codec: number }), new Watch(0, { codec: number })];
  const worker = await team.member();
  const sum = worker.call('sumUp', there.handle, back.handle);
  let expected = 1;
  let { version, value } = await back.changedAsync(0);
  equal(value, expected, 'the first sum');
  for (let x = 2; x <= 20; x++) {
    there.set(x);
    expected += x;
    ({ version, value } = await back.changedAsync(version));
    equal(value, expected, `the sum up to ${x}`);
  }
  there.close();
  equal(await sum, expected, 'the last sum');
  equal(back.get(), expected, 'the newest value');
});

test('watch: a worker that is terminated while it sets values leaves a whole one', async ({ team }) => {
  const watch = new Watch(0, { codec: number });
  const worker = await team.member();
  Arena.default.watch(worker.worker, worker.thread);
  worker.call('setForEver', watch.handle);
  await until('it sets values', () => watch.version > 1000);
  worker.terminate();
  // In Deno a terminated worker computes on for some seconds, and sets values meanwhile.
  let value: number;
  do {
    await watch.setAsync(-1);
    value = watch.get();
    equal(Number.isInteger(value), true, 'a whole value');
    await sleep(5);
  } while (value !== -1);
});
