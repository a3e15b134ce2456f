/**
 * The model of the server is right: random calls, replayed on real servers and on the model, give the same replies, the
 * same messages and the same data after each call. The time and the history of the real server are given to the model.
 */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Data } from '../check/data-model.js';
import { KEYS, type Reply, Server, turnChunk, turnSource } from '../check/server.js';
import { type Server as RealServer, startServer } from '../servers/servers.js';
import { onEachServer } from './each-server.js';

const CALLS = 1200;
const SEEDS = [1, 2, 3];
const keys = KEYS.map((name) => `tt:{replay.0}:${name}`);
const CHANNEL = 'tt:{replay.0}:c:';

/** Tickets leap by this, or to where the time is. The calls here take fewer than the difference. */
const LEAP = 16777216 + 64;

/** So short, in milliseconds, that sessions die. */
const LEASE = '40';

/** The beginnings of all kinds of answers. */
const ANSWERS = 'O |N |E |H |Q |D|G|C|S |B |X|L|K|I |J |R|1|0|V |DE|ST|deaths'.split('|');

/** A call that ends with an error: the servers word it each in their way. */
const FAILED = 'failed';

/** A small generator of random numbers, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    let bits = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    bits ^= bits >>> 15;
    return (bits >>> 0) % below;
  };
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const hex = (value: number, width: number): string => value.toString(16).padStart(width, '0');

const SIDS = ['a000000000000001', 'a000000000000002', 's000000000000003', 'f000000000000004', 'f000000000000005'];
const NAMES = ['a', 'ab', 'abc', 'a b', 'ä', 'b', '-'].map(latin1);
const KINDS: readonly (readonly string[])[] = [
  ['s', '1', '0', '0', '0'],
  ['s', '3', '1', '0', '0'],
  ['m', '1', '0', '0', '2'],
  ['m', '1', '1', '0', '4096'],
  ['w', '1048576', '0', '1', '0'],
  ['s', '4', '1', '1', '0'],
  ['m', '1', '0', '0', '0'],
];

/** Writes calls that mostly make sense: their arguments are taken from the data of the model. */
class Writer {
  readonly #below: (below: number) => number;
  readonly #conns = new Map<string, number>();

  constructor(seed: number) {
    this.#below = random(seed);
  }

  chance(percent: number): boolean {
    return this.#below(100) < percent;
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  call(data: Data): string[] {
    const sid = this.#pick(SIDS);
    const known = data
      .hash(keys[4] as string)
      .get(sid)
      ?.split(' ')[0];
    let conn = known === undefined ? 0 : Number(known);
    const ops: string[] = [];
    const opens = known === undefined ? !this.chance(5) : this.chance(4);
    if (opens) {
      if (known !== undefined) conn = this.chance(60) ? conn + 1 : this.#below(3);
      else if (this.chance(5)) conn = 1;
      this.#conns.set(sid, conn);
      const lease = this.chance(97) ? LEASE : '2000';
      ops.push('O', this.chance(98) ? '1' : '2', '1', lease, `label ${sid.slice(-1)}`);
    } else if (this.chance(3)) conn++;
    const count = 1 + this.#below(4);
    for (let op = 0; op < count; op++) {
      const more = this.#operation(data, sid);
      // The time may go on between two beats of one call, and only the last is known.
      if (!/^[BW]$/.test(more[0] as string) || (!ops.includes('B') && !ops.includes('W'))) ops.push(...more);
    }
    return [sid, String(conn), CHANNEL, ...ops];
  }

  #born(data: Data, name: string): string {
    const object = data.hash(keys[1] as string).get(name);
    if (object === undefined || this.chance(30)) return this.chance(90) ? '-' : hex(5, 14);
    return object.split(' ')[4] as string;
  }

  #rid(): string {
    return hex(1 + this.#below(12), 10);
  }

  #operation(data: Data, sid: string): string[] {
    const name = this.#pick(NAMES);
    const kind = KINDS[NAMES.indexOf(name)] as readonly string[];
    const records = data.sorted(keys[3] as string).map(({ member }) => member);
    const mine = records.filter((record) => record.startsWith(sid));
    const roll = this.#below(100);
    if (roll < 14) {
      const other = this.chance(90) ? kind : this.#pick(KINDS);
      return ['N', name, ...other];
    }
    if (roll < 44) {
      const n = kind[0] === 'w' && this.chance(50) ? 1048576 : 1 + this.#below(this.chance(90) ? 2 : 5);
      return [this.chance(75) ? 'A' : 'T', name, this.#born(data, name), this.#rid(), hex(n, 8)];
    }
    if (roll < 70) {
      const record = this.chance(95) && mine.length > 0 ? this.#pick(mine) : undefined;
      const n = record ? Number.parseInt(record.slice(40, 48), 16) : 1;
      const k = this.chance(80) ? n : 1 + this.#below(n);
      const served = mine
        .filter((each) => each.slice(48) === record?.slice(48) && each !== record)
        .slice(0, this.#below(3));
      return [
        'D',
        record ? record.slice(48) : name,
        record ? record.slice(16, 26) : this.#rid(),
        record ? record.slice(26, 40) : hex(9, 14),
        hex(n, 8),
        String(k),
        this.#pick(['-', 'c', 'r', 'd']),
        String(this.#below(4)),
        String(served.length),
        ...served.map((each) => each.slice(16, 26)),
      ];
    }
    if (roll < 76) return ['C', mine.length > 0 && this.chance(80) ? this.#pick(mine).slice(16, 26) : this.#rid()];
    if (roll < 82) {
      const listed = [...new Set([...mine.map((each) => each.slice(16, 26)), this.#rid()])].filter(() =>
        this.chance(80),
      );
      return ['S', hex(this.#below(14), 10), String(listed.length), ...listed];
    }
    if (roll < 88) return [this.#pick(['B', 'B', 'W']), LEASE, this.#pick(['0', '10', '2000'])];
    if (roll < 90) return this.chance(50) ? ['X'] : ['J'];
    if (roll < 94 && records.length > 0) {
      const record = this.#pick(records);
      const ticket = this.chance(80) ? record.slice(26, 40) : hex(7, 14);
      return ['V', record.slice(48), record.slice(16, 26), ticket, record.slice(0, 16)];
    }
    if (roll < 96) return ['L', name, this.#born(data, name)];
    if (roll < 97) return ['K', name, this.#born(data, name)];
    return this.chance(70) ? ['I', name, String(this.#below(4))] : ['J'];
  }
}

const text = (reply: unknown): Reply =>
  Buffer.isBuffer(reply) ? reply.toString('latin1') : Array.isArray(reply) ? reply.map(text) : (reply as Reply);

onEachServer((binary) => {
  let server: RealServer;
  let client: Redis;
  let listener: Redis;
  const heard: string[] = [];
  const used = new Map<string, number>();

  beforeAll(async () => {
    server = await startServer({ server: binary, args: ['--enable-debug-command', 'yes'] });
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

  /** All messages that were published before. */
  async function messages(): Promise<string[]> {
    await client.publish('marker', '');
    while (heard.at(-1) !== 'marker ') await new Promise((resolve) => listener.once('messageBuffer', resolve));
    return heard.splice(0).slice(0, -1);
  }

  /** The data of the real server, as the model writes it. */
  async function dump(): Promise<string> {
    const data = new Data();
    const reads = client.pipeline();
    for (const [at, key] of keys.entries()) {
      if (['queue', 'records', 'leases'].includes(KEYS[at] as string)) reads.zrangeBuffer(key, 0, -1, 'WITHSCORES');
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

  test.each(SEEDS)('replays as the model does, seed %i', async (seed) => {
    await client.flushall();
    const writer = new Writer(seed);
    const model = new Server(turnChunk(), keys);
    const source = Buffer.from(turnSource(), 'latin1');
    let data = new Data();
    for (let step = 0; step < CALLS; step++) {
      if (writer.chance(1)) await client.call('DEBUG', 'CHANGE-REPL-ID');
      const args = writer.call(data);
      const sent = args.map((each) => Buffer.from(each, 'latin1'));
      const reply = await client.callBuffer('EVAL', source, keys.length, ...keys, ...sent).then(text, () => FAILED);
      const history = /master_replid:(\w+)/.exec(await client.info('replication'))?.[1];
      const [ticket, last, compared] = await client.hmget(keys[0] as string, 'ticket', 'last', 'history');
      // The time in milliseconds: as a beat has written it, or of a leap of the tickets that went to where the time is.
      const meta = data.hash(keys[0] as string);
      const leapt =
        compared !== (meta.get('history') ?? null) && Number(ticket) > Number(meta.get('ticket') ?? 0) + LEAP;
      const time =
        !args.includes('B') && !args.includes('W') && leapt
          ? Math.floor(Number(ticket) / 1024) + 1577836800000
          : Number(last ?? 0);
      const turn = model.turn(data, args, { time: time * 1000, history });
      const where = `call ${step}: ${JSON.stringify(args)}`;
      expect(
        typeof turn.reply === 'object' && turn.reply && 'error' in turn.reply ? FAILED : turn.reply,
        where,
      ).toEqual(reply);
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

  test('each kind of answer has come', () => {
    for (const kind of ANSWERS) expect(used.get(kind) ?? 0, kind).toBeGreaterThan(0);
  });
});
