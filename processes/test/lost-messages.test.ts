/** Losses of messages at the worst moments. The search of check/ has found these cases. */
import { expect, test } from 'vitest';
import { Data, type Published } from '../check/data-model.js';
import { recordsOf } from '../check/invariants.js';
import { Server, turnChunk } from '../check/server.js';
import { VirtualClock, VirtualDriver } from '../check/simulation.js';
import { Space } from '../src/space.js';
// `Space.connect` loads these. Here each step must be done at once.
import '../src/drivers/recognise.js';
import '../src/turn-source.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The client with a semaphore of 2 permits, in a world whose steps the test takes one by one. */
async function world() {
  const server = new Server(turnChunk());
  const clock = new VirtualClock();
  const driver = new VirtualDriver(() => 1);
  let data = new Data();
  let published: readonly Published[] = [];
  const around = () => ({ time: (1_700_000_000_000 + clock.time) * 1000, history: '1'.padStart(40, '0') });
  const turnOf = (args: readonly string[]) => {
    const turn = server.turn(data, args, around());
    data = turn.data;
    if (turn.published.length > 0) published = turn.published;
    return turn;
  };
  /** A call of another process. Its message to the process under test is lost, unless `hear` delivers it. */
  const other = (...args: string[]) => {
    return turnOf(['p00000000000000a', '0', 'tt:{x.0}:c:', ...args]).reply as string[];
  };
  const run = () => {
    const call = driver.pipe.find(({ reply }) => reply === undefined);
    if (!call) return '';
    const turn = turnOf(call.args);
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
  /** Delivers the messages of the last call that published any. */
  const hear = async () => {
    for (const { channel, text } of published) driver.channels.get(channel)?.(text);
    await settled();
  };
  const records = () => recordsOf(data);
  return {
    clock,
    driver,
    turnOf,
    other,
    run,
    deliver,
    serve,
    space,
    semaphore,
    hear,
    records,
    published: () => published,
  };
}

test('a comparison that is cut off does not take as heard what it does not ask for', async () => {
  const { clock, driver, other, run, deliver, serve, space, semaphore } = await world();
  const hold = other('O', '2', '1', '1000', 'other', '-', '0', 'A', 'db', '-', '0000000001', '00000002');
  const ticket = (hold[1] as string).slice(2, 16);

  // The first request is granted by a message that is lost. The answer to the beat shows the loss, so the client asks.
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

  // The server runs this question, and then a second request. Both answers are lost with the connection.
  const second = semaphore.holdAsync();
  await settled();
  run();
  run();
  driver.cut('commands');
  await settled();
  driver.repair();
  await settled();
  expect(run()).toMatch(/^O .* S {2}0000000002 2 /);
  await deliver();
  expect((await first).held).toBe(true);

  // Before the server runs anything else, the second request is granted by a message that is lost, too. The next beat
  // must find this loss.
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

test('a request that a driver sends again after it was granted and given back holds nothing', async () => {
  const { driver, turnOf, other, run, deliver, serve, space, semaphore, hear, records } = await world();
  const hold = other('O', '2', '1', '1000', 'other', '-', '0', 'A', 'db', '-', '0000000001', '00000002');
  const ticket = (hold[1] as string).slice(2, 16);
  const waiting = semaphore.holdAsync();
  await settled();
  const [sent] = driver.pipe;
  expect(run()).toMatch(/^A /);
  // The message of the grant comes before the answer, and the caller gives the permit back at once.
  other('D', 'db', '0000000001', ticket, '00000002', '2', '-', '0', '0');
  await hear();
  const released = (await waiting).release();
  await settled();
  expect(run()).toMatch(/^D /);
  expect(records()).toEqual([]);
  // Both answers are lost. The driver sends the request again, and the server gets it before the session resumes.
  driver.cut('commands');
  expect(turnOf(sent?.args ?? []).reply).toEqual([expect.stringMatching(/^H /)]);
  driver.repair();
  await settled();
  expect(run()).toMatch(/^O .* S /);
  await deliver();
  await serve();
  await released;
  expect(records()).toEqual([]);
  const closing = space.close();
  await settled();
  await serve();
  await closing;
});

test('a holder that has not heard that others wait passes its mutex on no more once it has compared', async () => {
  const { clock, other, run, deliver, serve, space, published } = await world();
  const opening = space.mutex('m', { bypass: 100 });
  await settled();
  await serve();
  const mutex = await opening;
  const locking = mutex.holdAsync();
  await settled();
  await serve();
  const first = await locking;
  other('O', '2', '1', '1000', 'other', '-', '0', 'A', 'm', '-', '0000000001', '00000001');
  const second = mutex.holdAsync();
  const failed = expect(second).rejects.toThrow('closed');
  await settled();
  await serve();
  expect(published().some(({ text }) => text.includes('!'))).toBe(true);

  // The message that others wait is lost. The next beat finds this loss.
  clock.time += 250;
  while (clock.due <= clock.time) clock.fire();
  await settled();
  expect(run()).toMatch(/^B /);
  await deliver();
  await serve();
  const unlocked = first.unlock();
  await settled();
  expect(run()).toMatch(/^D m /);
  expect(published().some(({ text }) => text.includes('0000000001:'))).toBe(true);
  await serve();
  await unlocked;
  const closing = space.close();
  await settled();
  await serve();
  await closing;
  await failed;
});
