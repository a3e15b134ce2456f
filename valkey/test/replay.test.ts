/**
 * The model of the server is right: random calls, replayed on real servers and on the model, give the same replies, the
 * same messages and the same data after each call. The test gives the time and the history of the real server to the
 * model. The model runs the script as it is written, and the servers run it with short names, as it is published.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallWriter, latin1, SIDS, scriptedCalls, ticketIn } from '../check/calls.js';
import { Data, type Surroundings } from '../check/data-model.js';
import { KEYS, type Reply, Server, type Turn, turnChunk } from '../check/server.js';
import { type Server as RealServer, startServer } from '../servers/servers.js';
import { TURN } from '../src/turn-source.js';
import { onEachServer, WHOLE } from './each-server.js';

const CALLS = 900;
const SEEDS = WHOLE ? [1, 2, 3] : [1];
const keys = KEYS.map((name) => `tt:{replay.0}:${name}`);
const CHANNEL = 'tt:{replay.0}:c:';

/** The first characters of each kind of answer. */
const ANSWERS = 'O |N |E |H |Q |D|G|C|S |B |X|Z |L|K|I |J |R|1|0|V |DE|ST|deaths'.split('|');

/** Stands for the reply of a call that ends with an error, because each server words its errors in its own way. */
const FAILED = 'failed';

const text = (reply: unknown): Reply =>
  Buffer.isBuffer(reply) ? reply.toString('latin1') : Array.isArray(reply) ? reply.map(text) : (reply as Reply);

onEachServer((binary) => {
  let server: RealServer;
  let client: Redis;
  let listener: Redis;
  const heard: string[] = [];
  const used = new Map<string, number>();

  beforeAll(async () => {
    // The servers list a small hash in the order in which its fields were made. So does the model.
    const small = ['--hash-max-listpack-value', '4096', '--hash-max-listpack-entries', '4096'];
    server = await startServer({ server: binary, args: ['--enable-debug-command', 'yes', ...small] });
    client = new Redis(server.url);
    listener = new Redis(server.url);
    client.on('error', () => {});
    listener.on('error', () => {});
    await client.ping();
    listener.on('messageBuffer', (channel: Buffer, message: Buffer) => {
      heard.push(`${channel.toString('latin1')} ${message.toString('latin1')}`);
    });
    listener.on('smessageBuffer', (channel: Buffer, message: Buffer) => {
      heard.push(`${channel.toString('latin1')} ${message.toString('latin1')}`);
    });
    await listener.subscribe('marker', ...SIDS.filter((sid) => sid[0] !== 's').map((sid) => CHANNEL + sid));
    await listener.ssubscribe(...SIDS.filter((sid) => sid[0] === 's').map((sid) => CHANNEL + sid));
  });

  afterAll(async () => {
    client?.disconnect();
    listener?.disconnect();
    await server?.kill();
  });

  /** All messages that were published before this call. */
  async function messages(): Promise<string[]> {
    await client.publish('marker', '');
    while (heard.at(-1) !== 'marker ') await new Promise((resolve) => listener.once('messageBuffer', resolve));
    return heard.splice(0).slice(0, -1);
  }

  /** The data of the real server, as a text in the form of the model. */
  async function dump(): Promise<string> {
    const data = new Data();
    const reads = client.pipeline();
    for (const [at, key] of keys.entries()) {
      if (['queue', 'records', 'leases'].includes(KEYS[at] as string)) reads.zrangeBuffer(key, '0', '-1', 'WITHSCORES');
      else reads.hgetallBuffer(key);
    }
    const found = (await reads.exec()) ?? [];
    const none = { time: 0, history: undefined };
    for (const [at, key] of keys.entries()) {
      const value: unknown = found[at]?.[1];
      if (Array.isArray(value)) {
        for (let each = 0; each < value.length; each += 2)
          data.command(['ZADD', key, text(value[each + 1]) as string, text(value[each]) as string], none, []);
      } else
        for (const [field, held] of Object.entries(value as Record<string, Buffer>))
          data.command(['HSET', key, latin1(field), held.toString('latin1')], none, []);
    }
    return data.text();
  }

  const now = async (): Promise<number> => {
    const [seconds, micros] = (await client.time()) as unknown as [number, number];
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };
  let before = 0;

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
    const after = await now();
    const dumped = await dump();
    let turn: Turn | undefined;
    for (let time = before; time <= after; time++) {
      turn = model.turn(data, args, { time: time * 1000, ...more });
      if (turn.data.text() === dumped && JSON.stringify(replyOf(turn)) === JSON.stringify(reply)) break;
    }
    return turn as Turn;
  }

  test.each(SEEDS)('replays as the model does, seed %i', { timeout: 300_000 }, async (seed) => {
    await client.flushall();
    const writer = new CallWriter(seed, keys);
    const model = new Server(turnChunk(), keys);
    let data = new Data();
    for (let step = 0; step < CALLS; step++) {
      if (writer.chance(1)) await client.call('DEBUG', 'CHANGE-REPL-ID');
      const args = writer.call(data);
      before = await now();
      const sent = args.map((each) => Buffer.from(each, 'latin1'));
      const reply = await client
        .callBuffer('EVAL', TURN.text, String(keys.length), ...keys, ...sent)
        .then(text, () => FAILED);
      const history = /master_replid:(\w+)/.exec(await client.info('replication'))?.[1];
      const turn = await modelled(model, data, args, reply, { history });
      const where = `call ${step}: ${JSON.stringify(args)}`;
      expect(replyOf(turn), where).toEqual(reply);
      expect(
        turn.published.map((each) => `${each.channel} ${each.text}`),
        where,
      ).toEqual(await messages());
      expect(turn.data.text(), where).toBe(await dump());
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
    await client.flushall();
    const model = new Server(turnChunk(), keys);
    let data = new Data();
    for (const [step, next] of scriptedCalls(CHANNEL).entries()) {
      const { args, isFull, forbidden } = next(ticketIn(data, keys[3]));
      before = await now();
      if (forbidden) await client.acl('SETUSER', 'default', `-${forbidden}`);
      if (isFull) await client.config('SET', 'maxmemory', '1');
      const sent = args.map((each) => Buffer.from(each, 'latin1'));
      const reply = await client
        .callBuffer('EVAL', TURN.text, String(keys.length), ...keys, ...sent)
        .then(text, () => FAILED);
      await client.acl('SETUSER', 'default', '+@all');
      await client.config('SET', 'maxmemory', '0');
      const history = /master_replid:(\w+)/.exec(await client.info('replication'))?.[1];
      const turn = await modelled(model, data, args, reply, { history, isFull: isFull ?? false, forbidden });
      const where = `call ${step}: ${JSON.stringify(args)}`;
      expect(replyOf(turn), where).toEqual(reply);
      expect(turn.data.text(), where).toBe(await dump());
      data = turn.data;
    }
    await messages();
  });

  test.runIf(WHOLE)('each kind of answer has come', () => {
    for (const kind of ANSWERS) expect(used.get(kind) ?? 0, kind).toBeGreaterThan(0);
  });
});
