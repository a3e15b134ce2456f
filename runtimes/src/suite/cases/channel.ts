/** taketurns/channel: messages go both ways between workers that block and promises of this thread. */
import { Arena } from 'taketurns';
import { Channel, number } from 'taketurns/channel';
import { equal, until } from '../check.js';
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
