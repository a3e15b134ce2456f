/**
 * The model of the server is right: random calls, replayed on real servers and on the model, give the same replies, the
 * same messages and the same data after each call. The test gives the time and the history of the real server to the
 * model. The model runs the script as it is written, and the servers run it without comments, as it is published.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallWriter, scriptedCalls, ticketIn } from '../check/calls.js';
import { Data, type Surroundings } from '../check/data-model.js';
import { type Reply, Server, type Turn, turnChunk } from '../check/server.js';
import { onEachServer, WHOLE } from './each-server.js';
import { FAILED, ScriptServer } from './script-server.js';

const CALLS = 900;
const SEEDS = WHOLE ? [1, 2, 3] : [1];

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
  ): Promise<Turn> {
    const after = await server.now();
    const dumped = (await server.data()).text();
    let turn: Turn | undefined;
    for (let time = before; time <= after; time++) {
      turn = model.turn(data, args, { time: time * 1000, ...more });
      if (turn.data.text() === dumped && JSON.stringify(replyOf(turn)) === JSON.stringify(reply)) break;
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

  test.runIf(WHOLE)('each kind of answer has come', () => {
    for (const kind of ANSWERS) expect(used.get(kind) ?? 0, kind).toBeGreaterThan(0);
  });
});
