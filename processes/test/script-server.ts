/** A real server that runs the script, as tests see it: replies, messages and data, in the form of the model. */
import { Redis } from 'ioredis';
import { latin1, SIDS } from '../check/calls.js';
import { Data } from '../check/data-model.js';
import { KEYS, type Reply } from '../check/server.js';
import { type Binary, type Server, startServer } from '../servers/servers.js';
import { TURN } from '../src/script/turn-source.js';

/** Stands for the reply of a call that ends with an error, because each server words its errors in its own way. */
export const FAILED = 'failed';

const text = (reply: unknown): Reply =>
  Buffer.isBuffer(reply) ? reply.toString('latin1') : Array.isArray(reply) ? reply.map(text) : (reply as Reply);

export class ScriptServer {
  readonly keys: readonly string[];
  readonly channel: string;
  readonly server: Server;
  readonly client: Redis;
  readonly #listener: Redis;
  readonly #heard: string[] = [];

  private constructor(server: Server, tag: string) {
    this.keys = KEYS.map((name) => `tt:{${tag}.0}:${name}`);
    this.channel = `tt:{${tag}.0}:c:`;
    this.server = server;
    this.client = new Redis(server.url);
    this.#listener = new Redis(server.url);
    this.client.on('error', () => {});
    this.#listener.on('error', () => {});
  }

  /** Starts a server. more: the sessions besides `SIDS` whose messages count. */
  static async start(binary: Binary, tag: string, more: readonly string[] = []): Promise<ScriptServer> {
    // The servers list a small hash in the order in which its fields were made. So does the model.
    const small = ['--hash-max-listpack-value', '4096', '--hash-max-listpack-entries', '4096'];
    const args = ['--enable-debug-command', 'yes', ...small];
    const made = new ScriptServer(await startServer({ server: binary, args }), tag);
    await made.client.ping();
    const listener = made.#listener;
    const hear = (channel: Buffer, message: Buffer) => {
      made.#heard.push(`${channel.toString('latin1')} ${message.toString('latin1')}`);
    };
    listener.on('messageBuffer', hear);
    listener.on('smessageBuffer', hear);
    const channels = [...SIDS, ...more].map((sid) => made.channel + sid);
    const isSharded = (channel: string) => channel.slice(made.channel.length)[0] === 's';
    await listener.subscribe('marker', ...channels.filter((channel) => !isSharded(channel)));
    await listener.ssubscribe(...channels.filter(isSharded));
    return made;
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    this.#listener.disconnect();
    await this.server.kill();
  }

  call(args: readonly string[], script = TURN.text): Promise<Reply> {
    const sent = args.map((each) => Buffer.from(each, 'latin1'));
    return this.client
      .callBuffer('EVAL', script, String(this.keys.length), ...this.keys, ...sent)
      .then(text, () => FAILED);
  }

  /** All messages that were published before this call: channel and text. */
  async messages(): Promise<string[]> {
    await this.client.publish('marker', '');
    while (this.#heard.at(-1) !== 'marker ')
      await new Promise((resolve) => this.#listener.once('messageBuffer', resolve));
    return this.#heard.splice(0).slice(0, -1);
  }

  /** The data, under the server's keys or under other names. */
  async data(names = this.keys): Promise<Data> {
    const data = new Data();
    const reads = this.client.pipeline();
    for (const [at, key] of this.keys.entries()) {
      if (['queue', 'records', 'leases'].includes(KEYS[at] as string)) reads.zrangeBuffer(key, '0', '-1', 'WITHSCORES');
      else reads.hgetallBuffer(key);
    }
    const found = (await reads.exec()) ?? [];
    const none = { time: 0, history: undefined };
    for (const at of this.keys.keys()) {
      const value: unknown = found[at]?.[1];
      const name = names[at] as string;
      if (Array.isArray(value)) {
        for (let each = 0; each < value.length; each += 2)
          data.command(['ZADD', name, text(value[each + 1]) as string, text(value[each]) as string], none, []);
      } else
        for (const [field, held] of Object.entries(value as Record<string, Buffer>))
          data.command(['HSET', name, latin1(field), held.toString('latin1')], none, []);
    }
    for (const key of await this.client.keysBuffer(`${this.channel.slice(0, -2)}rate:*`)) {
      const state = await this.client.getBuffer(key);
      if (state) data.command(['SET', key.toString('latin1'), state.toString('latin1'), 'PX', '0'], none, []);
    }
    return data;
  }

  /** The server's time, in milliseconds. */
  async now(): Promise<number> {
    const [seconds, micros] = (await this.client.time()) as unknown as [number, number];
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  async history(): Promise<string | undefined> {
    return /master_replid:(\w+)/.exec(await this.client.info('replication'))?.[1];
  }
}
