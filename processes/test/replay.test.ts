/**
 * The model of the server is right: random calls, replayed on real servers and on the model, give the same replies, the
 * same messages and the same data after each call. The test gives the time and the history of the real server to the
 * model. The model runs the script as it is written, and the servers run it without comments, as it is published.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { CallWriter, scriptedCalls, ticketIn } from '../check/calls.js';
import { Data, type Surroundings } from '../check/data-model.js';
import { fixedRateCalls, RateWriter } from '../check/rate-calls.js';
import { type Reply, Server, type Turn, turnChunk, withConstants } from '../check/server.js';
import { TURN } from '../src/script/turn-source.js';
import { onEachServer, WHOLE } from './each-server.js';
import { FAILED, ScriptServer } from './script-server.js';

const CALLS = roundsInCi(900, 300);
const SEEDS = WHOLE ? [1, 2, 3] : [1];

/** All dates that lie ahead are listed, and there may be few runs and holes. */
const FEW = { FAR: 0, MOST_RUNS: 8, MOST_HOLES: 2 };
/** The lease is long, so a pause after a loss would be. */
const SHORT_PAUSE = { BEATS: 400_000 };

/** The first characters of each kind of answer. */
const ANSWERS = 'O |N |E |H |Q |D|G|C|S |B |X|Z |L|K|I |J |R|1|0|V |DE|ST|deaths'.split('|');

onEachServer((binary) => {
  let server: ScriptServer;
  const used = new Map<string, number>();
  let before = 0;

  beforeAll(async () => {
    server = await ScriptServer.start(binary, 'replay');
  });

  afterAll(() => server?.stop());

  const replyOf = ({ reply }: Turn): Reply =>
    typeof reply === 'object' && reply && 'error' in reply ? FAILED : (reply as Reply);

  /**
   * What the model does at the time of the real call. The test finds this time by trying: the data and the reply of the
   * model must be those of the server.
   */
  async function modelled(
    model: Server,
    data: Data,
    args: readonly string[],
    reply: Reply,
    more: Omit<Surroundings, 'time'>,
    from = before,
  ): Promise<Turn> {
    const after = await server.now();
    const real = await server.data();
    let turn: Turn | undefined;
    for (let time = from; time <= after; time++) {
      turn = model.turn(data, args, { time: time * 1000, ...more });
      if (turn.data.text(real) === real.text(real) && JSON.stringify(replyOf(turn)) === JSON.stringify(reply)) break;
    }
    return turn as Turn;
  }

  test.each(SEEDS)('replays as the model does, seed %i', { timeout: 300_000 }, async (seed) => {
    const { client, keys } = server;
    await client.flushall();
    const writer = new CallWriter(seed, keys);
    const model = new Server(turnChunk(), keys);
    let data = new Data();
    for (let step = 0; step < CALLS; step++) {
      if (writer.chance(1)) await client.call('DEBUG', 'CHANGE-REPL-ID');
      const args = writer.call(data);
      before = await server.now();
      const reply = await server.call(args);
      const history = await server.history();
      const turn = await modelled(model, data, args, reply, { history });
      const where = `call ${step}: ${JSON.stringify(args)}`;
      expect(replyOf(turn), where).toEqual(reply);
      expect(
        turn.published.map((each) => `${each.channel} ${each.text}`),
        where,
      ).toEqual(await server.messages());
      expect(turn.data.text(), where).toBe((await server.data()).text());
      data = turn.data;
      for (const answer of Array.isArray(turn.reply) ? turn.reply : []) {
        const kind = String(Array.isArray(answer) ? answer[0] : answer).slice(0, 2);
        used.set(kind, (used.get(kind) ?? 0) + 1);
        if (/^H \w+:[1-9]/.test(String(answer))) used.set('deaths', (used.get('deaths') ?? 0) + 1);
      }
    }
  });

  test('replays a fixed sequence, with forbidden commands and full memory, as the model does', {
    timeout: 60_000,
  }, async () => {
    const { client, keys } = server;
    await client.flushall();
    const model = new Server(turnChunk(), keys);
    let data = new Data();
    for (const [step, next] of scriptedCalls(server.channel).entries()) {
      const { args, isFull, forbidden } = next(ticketIn(data, keys[3]));
      before = await server.now();
      if (forbidden) await client.acl('SETUSER', 'default', `-${forbidden}`);
      if (isFull) await client.config('SET', 'maxmemory', '1');
      const reply = await server.call(args);
      await client.acl('SETUSER', 'default', '+@all');
      await client.config('SET', 'maxmemory', '0');
      const history = await server.history();
      const turn = await modelled(model, data, args, reply, { history, isFull: isFull ?? false, forbidden });
      const where = `call ${step}: ${JSON.stringify(args)}`;
      expect(replyOf(turn), where).toEqual(reply);
      expect(turn.data.text(), where).toBe((await server.data()).text());
      data = turn.data;
    }
    await server.messages();
  });

  /**
   * One call on rates, which tells the model its time exactly: the server keeps it as the sum of two numbers. ahead: by how
   * much the clock of the server seems to have jumped since the call before, in microseconds.
   */
  async function comparedOnRates(
    model: Server,
    before: Data,
    ahead: number,
    args: readonly string[],
    script: string,
  ): Promise<Turn> {
    const meta = server.keys[0] as string;
    const data = before.clone();
    if (ahead !== 0) {
      await server.client.hincrby(meta, 'offset', ahead);
      data.command(['HINCRBY', meta, 'offset', String(ahead)], { time: 0, history: undefined }, []);
    }
    const from = await server.now();
    const reply = await server.call(args, script);
    const history = await server.history();
    const real = await server.data();
    const ended = await server.now();
    const { seen, offset } = Object.fromEntries(real.hash(meta));
    const turn = args.slice(3).some((each) => each === 'E' || each === 'G')
      ? model.turn(data, args, { time: Number(seen) - Number(offset ?? 0), history })
      : await modelled(model, data, args, reply, { history }, from);
    const where = JSON.stringify(args);
    expect(replyOf(turn), where).toEqual(reply);
    expect(
      turn.published.map((each) => `${each.channel} ${each.text}`),
      where,
    ).toEqual(await server.messages());
    expect(turn.data.text(real), where).toBe(real.text(real));
    // What the server has dropped did not count any more: it keeps each text at least a second longer.
    for (const [name, { until }] of turn.data.texts())
      if (!real.texts().has(name)) expect(until, `${name}, ${where}`).toBeLessThan(ended + 1000);
    return turn;
  }

  test.each(
    SEEDS.flatMap((seed) => [
      { seed, constants: SHORT_PAUSE, letters: 'BCILOPRSTX' },
      { seed, constants: { ...FEW, ...SHORT_PAUSE }, letters: 'BCDILOPRSTX' },
    ]),
  )(
    'replays calls on rates as the model does, seed $seed, $constants',
    { timeout: 300_000 },
    async ({ seed, constants, letters }) => {
      const { client, keys } = server;
      await client.flushall();
      const script = withConstants(TURN.text, constants);
      const writer = new RateWriter(seed, keys);
      const model = new Server(turnChunk(constants), keys);
      let data = new Data();
      const used = new Set<string>();
      for (let step = 0; step < CALLS; step++) {
        if (writer.chance(1)) await client.call('DEBUG', 'CHANGE-REPL-ID');
        const ahead = writer.jumped(0) * 1000;
        const sent = Math.floor(performance.now() * 1000);
        const args = writer.call(data, sent).with(2, server.channel);
        const turn = await comparedOnRates(model, data, ahead, args, script);
        writer.heard(turn.reply, sent);
        data = turn.data;
        used.add((args[3] === 'E' ? args[12] : args[3]) as string);
      }
      expect([...used]).toEqual(expect.arrayContaining([...letters]));
    },
  );

  test('replays a fixed sequence of calls on rates as the model does', { timeout: 300_000 }, async () => {
    await server.client.flushall();
    const model = new Server(turnChunk(), server.keys);
    let data = new Data();
    let [of, at] = [0, 0];
    for (const { time, args } of fixedRateCalls()) {
      const now = Math.floor(performance.now() * 1000);
      // The clock seems to go as the sequence says.
      const ahead = of === 0 ? 0 : time - of - (now - at);
      [of, at] = [time, now];
      ({ data } = await comparedOnRates(model, data, ahead, args.with(2, server.channel), TURN.text));
    }
  });

  test.runIf(WHOLE)('each kind of answer has come', () => {
    for (const kind of ANSWERS) expect(used.get(kind) ?? 0, kind).toBeGreaterThan(0);
  });
});
