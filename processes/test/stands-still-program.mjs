/**
 * A process that waits for a permit, and reports when it has the permit. When the process resumes its session, it reads
 * the answer or the message that grants the permit. Then it stands still, as a process does that the system stops at this
 * point, and goes on when a byte arrives by descriptor 3. Only then does it act on the grant.
 * argv: the port of the server, the space, the lease, and what grants the permit: the answer to the call that resumes the
 * session, or a message.
 */
import { once } from 'node:events';
import { readSync } from 'node:fs';
import { Redis } from 'ioredis';
import { Space } from 'taketurns-processes';
import { driverOf } from '../dist/module/drivers.js';

const [port, space, lease, by] = process.argv.slice(2);

function standStill() {
  process.send('stands still');
  for (;;) {
    try {
      readSync(3, Buffer.alloc(1));
      return;
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

let resumes = 0;
let giveUp = () => {};
const real = driverOf(new Redis({ host: '127.0.0.1', port: Number(port), lazyConnect: true }));
const driver = {
  cluster: false,
  async run(script, keys, args) {
    if (args[3] !== 'O' || args[1] === '0' || ++resumes > 1) return real.run(script, keys, args);
    if (by === 'the answer') {
      process.send('resumes');
      await once(process, 'message');
      const reply = await real.run(script, keys, args);
      standStill();
      return reply;
    }
    await real.run(script, keys, args);
    process.send('resumes');
    // The answer does not arrive until the connection is given up.
    return new Promise((_, reject) => {
      giveUp = reject;
    });
  },
  listen: (channel, heard) =>
    real.listen(channel, (message) => {
      if (resumes === 1 && by === 'a message') standStill();
      heard(message);
    }),
  confirm: (...call) => real.confirm(...call),
  watch: (...how) => real.watch(...how),
  info: (...call) => real.info(...call),
  keepAlive: (alive) => real.keepAlive(alive),
  probe(key, error) {
    giveUp(error);
    real.probe(key, error);
  },
  reset() {
    giveUp(new Error('the connection is lost'));
    real.reset();
  },
  close: () => real.close(),
};
const mine = await Space.connect(driver, { space, lease: Number(lease) });
const held = await (await mine.semaphore('db', 1)).holdAsync();
process.send('granted');
await held.release();
process.exit(0);
