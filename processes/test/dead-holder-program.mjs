/**
 * A process or a thread of dead-holder.test.ts: `node dead-holder-program.mjs DIRECTORY ROLE [PROOF]`.
 *
 *     serve   has the broker, and holds nothing that anybody asks for
 *     hold    holds everything until it is ended, and tells the proof of its mutex
 *     hold-ephemeral  holds an ephemeral mutex until it is ended
 *     exit    as `hold`, and ends at once without giving back
 *     ask     tells the answers which say that somebody holds
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Space } from 'taketurns-processes';
import { busy, open } from './dead-holder-asks.mjs';

const [directory, role, proof] = workerData ?? process.argv.slice(2);
const space = await Space.local({
  space: 'test',
  directory,
  label: role === 'ask' || role === 'serve' ? role : 'holder',
});
const tell = (word) => (parentPort ? parentPort.postMessage(word) : process.stdout.write(`${word}\n`));

if (role === 'ask') {
  tell(JSON.stringify(await busy(await open(space), proof)));
  process.exit();
} else if (role === 'serve') {
  await (await space.mutex('of the broker')).holdAsync();
  tell('serves');
} else if (role === 'hold-ephemeral') {
  await (await space.mutex('ephemeral', { ephemeral: true })).holdAsync();
  tell('holds');
} else {
  const { mutex, pool, lock } = await open(space);
  const held = await mutex.holdAsync();
  await pool.holdAsync(2);
  await lock.writeAsync();
  tell(held.proof);
  if (role === 'exit') process.exit();
}
