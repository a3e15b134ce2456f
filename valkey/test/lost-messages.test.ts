/** What a loss in the wrong moment could do to the numbers of messages; found by the search of check/. */
import { expect, test } from 'vitest';
import { Data } from '../check/data-model.js';
import { Server, turnChunk } from '../check/server.js';
import { VirtualClock, VirtualDriver } from '../check/simulation.js';
import { Space } from '../src/space.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a comparison that is cut off does not take as heard what it does not ask for', async () => {
  const server = new Server(turnChunk());
  const clock = new VirtualClock();
  const driver = new VirtualDriver(() => 1);
  let data = new Data();
  const around = () => ({ time: (1_700_000_000_000 + clock.time) * 1000, history: '1'.padStart(40, '0') });
  /** A call of another process. Its message to the process under test is lost, unless it is heard. */
  const other = (...args: string[]) => {
    const turn = server.turn(data, ['p00000000000000a', '0', 'tt:{x.0}:c:', ...args], around());
    data = turn.data;
    return turn.reply as string[];
  };
  const run = () => {
    const call = driver.pipe.find(({ reply }) => reply === undefined);
    if (!call) return '';
    const turn = server.turn(data, call.args, around());
    data = turn.data;
    call.reply = { value: turn.reply };
    return call.args.slice(3).join(' ');
  };
  const deliver = async () => {
    const call = driver.pipe.shift();
    call?.answer?.(call.reply?.value);
    await settled();
  };
  const serve = async () => {
    for (;;) {
      const next = driver.subscribing.shift();
      if (next) {
        driver.channels.set(next.channel, next.heard);
        next.done();
        await settled();
      } else if (driver.pipe.length > 0) {
        run();
        await deliver();
      } else return;
    }
  };

  const connecting = Space.connect(driver, { clock, space: 'x', lease: 1000, label: 'l' });
  await settled();
  driver.repair();
  await settled();
  await serve();
  const space = await connecting;
  const opening = space.semaphore('db', 2);
  await settled();
  await serve();
  const semaphore = await opening;
  const hold = other('O', '1', '1', '1000', 'other', 'A', 'db', '-', '0000000001', '00000002');
  const ticket = (hold[1] as string).slice(2, 16);

  // The first request is granted by a message that is lost. The beat finds that, and asks.
  const first = semaphore.holdAsync();
  await settled();
  await serve();
  const next = other(
    ...['D', 'db', '0000000001', ticket, '00000002', '2', '-', '0', '0'],
    ...['A', 'db', '-', '0000000002', '00000001'],
  );
  expect(next[1]).toMatch(/^H /);
  clock.time += 250;
  while (clock.due <= clock.time) clock.fire();
  await settled();
  expect(run()).toMatch(/^B /);
  await deliver();
  expect(driver.pipe[0]?.args[3]).toBe('S');

  // It is run, a second request is asked for and run too, and both answers are lost with the connection.
  const second = semaphore.holdAsync();
  await settled();
  run();
  run();
  driver.cut('commands');
  await settled();
  driver.repair();
  await settled();
  expect(run()).toMatch(/^O .* S 0000000002 2 /);
  await deliver();
  expect((await first).held).toBe(true);

  // Before anything else is run, the second is granted by a message that is lost too. The next beat must find that.
  const ticketToo = (next[1] as string).slice(2, 16);
  expect(other('D', 'db', '0000000002', ticketToo, '00000001', '1', '-', '0', '0')).toEqual(['D']);
  await serve();
  clock.time += 250;
  while (clock.due <= clock.time) clock.fire();
  await settled();
  await serve();
  const last = await second;
  expect(last.held).toBe(true);
  const closing = space.close();
  await settled();
  await serve();
  await closing;
});
