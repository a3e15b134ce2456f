/**
 * A program that runs at most once on this machine. A second one finds that the mutex is held, says by whom, and ends. The
 * mutex comes back when its process ends, however it ends: no file is left that would have to be removed.
 *
 *     node processes/examples/single-instance.mjs
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Space } from 'taketurns-processes';

if (process.send === undefined) {
  const name = `report ${process.pid}`; // yours is constant. Here each run of the example has its own
  const start = (label) => fork(fileURLToPath(import.meta.url), [name, label]);
  const first = start('the first');
  await once(first, 'message');
  await once(start('the second'), 'exit');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const third = start('the third');
  await once(third, 'message');
  third.disconnect();
} else {
  const [name, label] = process.argv.slice(2);
  const space = await Space.local({ space: 'example-single-instance', label });
  const instance = await space.mutex(name);
  const held = await instance.tryHold();
  if (held) {
    console.log(`${label} runs`);
    process.send('holds');
    await once(process, 'disconnect'); // here goes your program
    held.unlock();
  } else {
    const { holders } = await instance.inspect();
    console.log(`${label} ends: ${holders[0].label} runs already`);
    process.disconnect();
  }
  await space.close();
}
