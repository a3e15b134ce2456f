// Three stages, each with two threads: one stage makes objects, one changes them, and the main thread adds them up. The
// channels hold eight objects each, so a slow stage slows the stages before it down. The last thread of a stage that ends
// closes the channel behind it.
// Run: node node_modules/taketurns/examples/channel-pipeline.mjs
// In a clone of the repository: node examples/channel-pipeline.mjs
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { Channel, record } from 'taketurns/channel';
import { WaitGroup } from 'taketurns/sync';

const THREADS = 2;
const EACH = 500;
const codec = record({ from: 'u8', number: 'f64', name: 'text20' });
const options = { codec, capacity: 8 };
const [made, squared] = [Channel.open('made', options), Channel.open('squared', options)];

async function closeAfter(group, channel) {
  await group.waitAsync();
  channel.close();
}

if (isMainThread) {
  const [makers, squarers] = [new WaitGroup(), new WaitGroup()];
  for (const group of [makers, squarers]) group.add(THREADS);
  for (let from = 0; from < THREADS; from++)
    for (const [stage, group] of Object.entries({ make: makers, square: squarers }))
      new Worker(new URL(import.meta.url), { workerData: { stage, from, group: group.handle } });
  const closing = [closeAfter(makers, made), closeAfter(squarers, squared)];
  let [count, sum] = [0, 0];
  for await (const { number } of squared) {
    count++;
    sum += number;
  }
  await Promise.all(closing);
  console.log(`${count} objects, whose squares add up to ${sum}`);
} else {
  const { stage, from, group } = workerData;
  if (stage === 'make') for (let i = 1; i <= EACH; i++) made.send({ from, number: i, name: `number ${i}` });
  else for (const one of made) squared.send({ ...one, number: one.number ** 2 });
  WaitGroup.from(group).done();
}
