/**
 * Losses and delays of messages at the worst moments, with the script and with the function of PostgreSQL. The search of
 * check/ has found most of these cases.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Data, type Published } from '../check/data-model.js';
import { type Ask, recordsOf } from '../check/invariants.js';
import { Server, turnChunk } from '../check/server.js';
import { VirtualClock, VirtualDriver } from '../check/simulation.js';
import { schemaText, Tables } from '../check/tables.js';
import { Space } from '../src/space/space.js';
import { onPostgres } from './postgres-setting.js';
import { noting } from './setting.js';
// `Space.connect` loads these. Here each step must be done at once.
import '../src/drivers/recognise.js';
import '../src/script/turn-source.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** What runs the calls. */
interface Engine {
  turn(args: readonly string[], time: number): Promise<{ reply: unknown; published: readonly Published[] }>;
  /** Is told which channel the session hears. */
  listen(channel: string): Promise<void>;
  records(): readonly Pick<Ask, 'sid' | 'rid'>[];
}

const history = '1'.padStart(40, '0');

/** The session of another process, and what stands before a session in the name of its channel. */
const ANOTHER = 'p00000000000000a';
const CHANNELS = 'tt:{x.0}:c:';

function theScript(): Engine {
  const server = new Server(turnChunk());
  let data = new Data();
  return {
    async turn(args, time) {
      const turn = server.turn(data, args, { time, history });
      data = turn.data;
      return turn;
    },
    async listen() {},
    records: () => recordsOf(data),
  };
}

async function theFunction(tables: Tables): Promise<Engine> {
  await tables.clear();
  await tables.query(`listen "${CHANNELS}${ANOTHER}"`);
  let records: Pick<Ask, 'sid' | 'rid'>[] = [];
  return {
    async turn(args, time) {
      const { reply, rows } = await tables.call(args, { time, history });
      records = rows.requests ?? [];
      const published = tables.messages().map((message) => {
        const at = message.indexOf(' ');
        return { channel: message.slice(0, at), text: message.slice(at + 1), sharded: false };
      });
      return { reply, published };
    },
    async listen(channel) {
      await tables.query(`listen "${channel}"`);
    },
    records: () => records,
  };
}

/** The client with a semaphore of 2 permits, in a world whose steps the test takes one by one. */
async function worldOf(engine: Engine) {
  const clock = new VirtualClock();
  const driver = new VirtualDriver(() => 1);
  let published: readonly Published[] = [];
  const turnOf = async (args: readonly string[]) => {
    const turn = await engine.turn(args, (1_700_000_000_000 + clock.time) * 1000);
    if (turn.published.length > 0) published = turn.published;
    return turn;
  };
  /** A call of another process. Its message to the process under test is lost, unless `hear` delivers it. */
  const other = async (...args: string[]) => {
    return (await turnOf([ANOTHER, '0', CHANNELS, ...args])).reply as string[];
  };
  const run = async () => {
    const call = driver.pipe.find(({ reply }) => reply === undefined);
    if (!call) return '';
    const turn = await turnOf(call.args);
    call.reply = { value: turn.reply as never };
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
        await engine.listen(next.channel);
        driver.channels.set(next.channel, next.heard);
        next.done();
        await settled();
      } else if (driver.pipe.length > 0) {
        await run();
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
    records: engine.records,
    published: () => published,
  };
}

/** Opens a session of another process, whose operations follow. */
const OTHER = ['O', '2', '1', '1000', 'other', '-', '0'];
const rid = (number: number): string => number.toString(16).padStart(10, '0');
type World = Awaited<ReturnType<typeof worldOf>>;

/** Lets time pass until the session beats. */
async function beat({ clock }: World): Promise<void> {
  clock.time += 250;
  while (clock.due <= clock.time) clock.fire();
  await settled();
}

/** Lets the session beat some more times. */
async function beats(here: World): Promise<void> {
  for (let i = 0; i < 8; i++) {
    await beat(here);
    await here.serve();
  }
}

/** Whether the promise is fulfilled by now. */
async function isFulfilled(promise: Promise<unknown> | undefined): Promise<boolean> {
  let is = false;
  void promise?.then(() => {
    is = true;
  });
  await settled();
  return is;
}

function losses(world: () => Promise<World>): void {
  test('a comparison that is cut off does not take as heard what it does not ask for', async () => {
    const { clock, driver, other, run, deliver, serve, space, semaphore } = await world();
    const hold = await other('O', '2', '1', '1000', 'other', '-', '0', 'A', 'db', '-', '0000000001', '00000002');
    const ticket = (hold[1] as string).slice(2, 16);

    // The first request is granted by a message that is lost. The answer to the beat shows the loss, so the client asks.
    const first = semaphore.holdAsync();
    await settled();
    await serve();
    const next = await other(
      ...['D', 'db', '0000000001', ticket, '00000002', '2', '-', '0', '0'],
      ...['A', 'db', '-', '0000000002', '00000001'],
    );
    expect(next[1]).toMatch(/^H /);
    clock.time += 250;
    while (clock.due <= clock.time) clock.fire();
    await settled();
    expect(await run()).toMatch(/^B /);
    await deliver();
    expect(driver.pipe[0]?.args[3]).toBe('S');

    // The server runs this question, and then a second request. Both answers are lost with the connection.
    const second = semaphore.holdAsync();
    await settled();
    await run();
    await run();
    driver.cut('commands');
    await settled();
    driver.repair();
    await settled();
    expect(await run()).toMatch(/^O .* S {2}0000000002 2 /);
    await deliver();
    expect((await first).held).toBe(true);

    // Before the server runs anything else, the second request is granted by a message that is lost, too. The next beat
    // must find this loss.
    const ticketToo = (next[1] as string).slice(2, 16);
    expect(await other('D', 'db', '0000000002', ticketToo, '00000001', '1', '-', '0', '0')).toEqual(['D']);
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
    const hold = await other('O', '2', '1', '1000', 'other', '-', '0', 'A', 'db', '-', '0000000001', '00000002');
    const ticket = (hold[1] as string).slice(2, 16);
    const waiting = semaphore.holdAsync();
    await settled();
    const [sent] = driver.pipe;
    expect(await run()).toMatch(/^A /);
    // The message of the grant comes before the answer, and the caller gives the permit back at once.
    await other('D', 'db', '0000000001', ticket, '00000002', '2', '-', '0', '0');
    await hear();
    const released = (await waiting).release();
    await settled();
    expect(await run()).toMatch(/^D /);
    expect(records()).toEqual([]);
    // Both answers are lost. The driver sends the request again, and the server gets it before the session resumes.
    driver.cut('commands');
    expect((await turnOf(sent?.args ?? [])).reply).toEqual([expect.stringMatching(/^H /)]);
    driver.repair();
    await settled();
    expect(await run()).toMatch(/^O .* S /);
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
    await other('O', '2', '1', '1000', 'other', '-', '0', 'A', 'm', '-', '0000000001', '00000001');
    const second = mutex.holdAsync();
    const failed = expect(second).rejects.toThrow('closed');
    await settled();
    await serve();
    expect(published().some(({ text }) => text.includes('!'))).toBe(true);

    // The message that others wait is lost. The next beat finds this loss.
    clock.time += 250;
    while (clock.due <= clock.time) clock.fire();
    await settled();
    expect(await run()).toMatch(/^B /);
    await deliver();
    await serve();
    const unlocked = first.unlock();
    await settled();
    expect(await run()).toMatch(/^D m /);
    expect(published().some(({ text }) => text.includes('0000000001:'))).toBe(true);
    await serve();
    await unlocked;
    const closing = space.close();
    await settled();
    await serve();
    await closing;
    await failed;
  });

  test('two parts of a guard that go back in two calls: each promise waits for its own answer', async () => {
    const { driver, run, deliver, serve, space, semaphore, records } = await world();
    const holding = semaphore.holdAsync(2);
    await settled();
    await serve();
    const held = await holding;
    const order: string[] = [];
    const first = held.release(1).then(noting(order, 'first'));
    await settled();
    const second = held.release(1).then(noting(order, 'second'));
    await settled();
    expect(await run()).toMatch(/^D /);
    await deliver();
    expect(order).toEqual(['first']);

    // The request is still in the table, so it keeps the process alive and is listed after a loss.
    driver.cut('commands');
    driver.repair();
    await settled();
    expect(await run()).toMatch(/^O .* S /);
    await deliver();
    expect(order).toEqual(['first']);
    expect(await run()).toMatch(/^D /);
    expect(records()).toEqual([]);
    await deliver();
    expect(order).toEqual(['first', 'second']);
    await Promise.all([first, second]);
    await serve();
    const closing = space.close();
    await settled();
    await serve();
    await closing;
  });

  test('a grant between two lists of one comparison is found by a later beat', async () => {
    const here = await world();
    const { driver, other, run, deliver, serve, semaphore } = here;
    const hold = await other(...OTHER, 'A', 'db', '-', rid(1), '00000002');
    const ticket = (hold[1] as string).slice(2, 16);
    // So many requests take three lists, of which the last one goes in a second call.
    const all = Array.from({ length: 320 }, () => semaphore.holdAsync().catch(() => {}));
    await settled();
    await serve();
    await other('D', 'db', rid(1), ticket, '00000002', '1', '-', '0', '0'); // grants the first
    await beat(here);
    expect(await run()).toMatch(/^B /);
    await deliver();
    expect(driver.pipe.length).toBe(2);
    await run();
    await other('D', 'db', rid(1), ticket, '00000001', '1', '-', '0', '0'); // grants the second
    await run();
    await deliver();
    await deliver();
    await serve();
    expect(await isFulfilled(all[0])).toBe(true);
    await beats(here);
    expect(await isFulfilled(all[1])).toBe(true);
  });

  test('a comparison that the server refuses for want of memory is made again', async () => {
    const here = await world();
    const { driver, other, serve, semaphore, hear } = here;
    const hold = await other(...OTHER, 'A', 'db', '-', rid(1), '00000002');
    const ticket = (hold[1] as string).slice(2, 16);
    const [first, second] = [semaphore.holdAsync(), semaphore.holdAsync()];
    await settled();
    await serve();
    await other('D', 'db', rid(1), ticket, '00000002', '1', '-', '0', '0'); // grants the first, and the message is lost
    await other('D', 'db', rid(1), ticket, '00000001', '1', '-', '0', '0'); // grants the second
    await Promise.all([hear(), expect(semaphore.holdAsync()).rejects.toMatchObject({ code: 'OOM' }), refuse()]);
    async function refuse(): Promise<void> {
      await settled();
      const call = driver.pipe.shift();
      expect(call?.args).toEqual(expect.arrayContaining(['S', 'A']));
      call?.reject?.(new Error('OOM command not allowed'));
    }
    expect(await isFulfilled(second)).toBe(true);
    await beats(here);
    expect(await isFulfilled(first)).toBe(true);
  });

  test('a request whose place in the queue only the comparison tells counts as one that waits, once', async () => {
    const { clock, driver, other, run, deliver, serve, space, semaphore } = await world();
    const heard: string[] = [];
    space.on('metric', ({ event, permits }) => void heard.push(`${event} ${permits}`));
    await other(...OTHER, 'A', 'db', '-', rid(1), '00000002');
    clock.time += 1;
    const waiting = semaphore.holdAsync();
    const failed = expect(waiting).rejects.toThrow('closed');
    await settled();
    expect(await run()).toMatch(/^A /);
    for (let losses = 0; losses < 2; losses++) {
      // The first loss is that of the answer to `A`.
      driver.cut('commands');
      driver.repair();
      await settled();
      expect(await run()).toMatch(/^O .* S /);
      await deliver();
      await serve();
      expect(heard).toEqual(['wait 1']);
    }
    const closing = space.close();
    await settled();
    await serve();
    await closing;
    await failed;
  });

  test('a mutex that was passed on often and is then revoked goes to the next waiter', async () => {
    const here = await world();
    const { other, serve, space, hear } = here;
    const opening = Promise.all([space.rwLock('r'), space.mutex('m')]);
    await settled();
    await serve();
    const [readers, mutex] = await opening;
    // One answer to `S` looks at 256 requests: these, and those to which the mutex was passed on.
    const reads = Promise.all(Array.from({ length: 100 }, () => readers.readAsync()));
    const first = mutex.holdAsync();
    await settled();
    await serve();
    await reads;
    let guard = await first;
    const waiting = Array.from({ length: 300 }, () => mutex.holdAsync());
    for (const each of waiting) each.catch(() => {});
    await settled();
    await serve();
    for (let i = 0; i < 200; i++) {
      void guard.unlock();
      guard = await (waiting[i] as typeof first);
    }
    const [sid, number, ticket] = guard.proof.split('.') as [string, string, string];
    expect((await other(...OTHER, 'F', 'm', number, ticket, sid))[1]).toBe('1');
    await hear();
    await serve();
    await beats(here);
    expect(await isFulfilled(waiting[200])).toBe(true);
  });

  test('a mutex that its guard has given back just before it was revoked is lost by nobody', async () => {
    const { clock, other, serve, space, published, driver } = await world();
    const opening = space.mutex('m');
    await settled();
    await serve();
    const mutex = await opening;
    const first = mutex.holdAsync();
    await settled();
    await serve();
    const guard = await first;
    const second = mutex.holdAsync();
    second.catch(() => {});
    await settled();
    await serve();
    const lost: unknown[] = [];
    space.on('lost', (event) => lost.push(event));
    const { signal, proof } = guard;
    const [sid, number, ticket] = proof.split('.') as [string, string, string];
    expect((await other(...OTHER, 'F', 'm', number, ticket, sid))[1]).toBe('1');
    // The turn is over, so the process reads its messages before it passes the mutex on.
    clock.time += 10;
    const unlocked = guard.unlock();
    for (const { channel, text } of published()) driver.channels.get(channel)?.(text);
    await unlocked;
    await settled();
    expect([signal.aborted, lost]).toEqual([false, []]);
  });

  test('close gives everything back, also when others get so much of it that grants are left', async () => {
    const { other, serve, space, records } = await world();
    const opening = Promise.all([space.rwLock('w'), space.rwLock('r')]);
    await settled();
    await serve();
    const [writers, readers] = await opening;
    const holding = Promise.all([writers.writeAsync(), ...Array.from({ length: 200 }, () => readers.readAsync())]);
    await settled();
    await serve();
    await holding;
    await other(...OTHER, ...Array.from({ length: 200 }, (_, i) => ['A', 'w', '-', rid(i + 1), '00000001']).flat());
    const closing = space.close();
    await settled();
    await serve();
    await closing;
    expect(records().filter(({ sid }) => sid !== ANOTHER)).toEqual([]);
  });
}

describe('the script', () => losses(async () => worldOf(theScript())));

onPostgres(
  'lost messages',
  (setting) => {
    let tables: Tables;
    beforeAll(async () => {
      tables = await Tables.make(setting.server.url, 'lost', schemaText(), {});
    });
    afterAll(() => tables.end());
    losses(async () => worldOf(await theFunction(tables)));
  },
  'in CI',
);
