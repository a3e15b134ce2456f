/** Calls of many connections at once on the function of PostgreSQL: they are as if one came after the other. */
import { operations } from '../src/local/grammar.js';
import * as wire from '../src/script/wire.js';
import { HISTORY, START } from './comparing.js';
import type { Surroundings } from './data-model.js';
import { mulberry, type Random } from './simulation.js';
import { schemaText, Tables } from './tables.js';
import { ComparingTables } from './tables-compared.js';
import { hex, linesOfKeys } from './tables-lines.js';

/** A process that asks for permits and gives them back, as fast as it can, on a connection of its own. */
class Asker {
  readonly sid: string;
  readonly tables: Tables;
  readonly #below: Random;
  readonly #held = new Map<string, { name: string; ticket: string; n: number }>();
  readonly #asked = new Map<string, { name: string; n: number }>();
  #count = 0;

  constructor(sid: string, tables: Tables, below: Random) {
    this.sid = sid;
    this.tables = tables;
    this.#below = below;
  }

  /** A call that ends with a beat, whose ticket tells when it ran. */
  call(): string[] {
    const [rid] = [...this.#held.keys()].slice(this.#below(3));
    const [waiting] = this.#asked.keys();
    const operations: string[] = [];
    if (rid !== undefined && this.#below(5) < 3) {
      const { name, ticket, n } = this.#held.get(rid) as { name: string; ticket: string; n: number };
      this.#held.delete(rid);
      operations.push('D', name, rid, ticket, hex(n, 8), `${n}`, '-', `${this.#below(3)}`, '0');
    } else if (waiting !== undefined && this.#below(8) === 0) operations.push('C', waiting);
    if (this.#asked.size < 3) {
      const next = hex(++this.#count, 10);
      const name = ['mutex', 'semaphore', 'ephemeral'][this.#below(3)] as string;
      const n = name === 'mutex' ? 1 : 1 + this.#below(2);
      this.#asked.set(next, { name, n });
      if (name === 'ephemeral') operations.push('N', name, 's', '2', '0', '1', '0');
      operations.push(this.#below(4) === 0 ? 'T' : 'A', name, '-', next, hex(n, 8));
    }
    return [this.sid, '0', 'c:', ...operations, 'B', '-'];
  }

  /** Learns from the reply, and from the messages. */
  hear(args: readonly string[], reply: readonly unknown[], messages: readonly string[]): void {
    const places = [...operations(args)];
    for (const [i, at] of places.entries()) {
      const rid = { A: args[at + 3], T: args[at + 3], C: args[at + 1] }[args[at] as string];
      if (rid !== undefined) this.#learn(rid, wire.fateIn(reply[i]));
    }
    const news = messages.flatMap((message) => wire.messageIn(message.slice(message.indexOf(' ') + 1)).news);
    for (const each of [...reply.slice(places.length), ...news]) {
      const { rid, fate } = wire.newsIn(each as string);
      if (fate) this.#learn(rid, fate);
    }
  }

  #learn(rid: string, fate: wire.Fate): void {
    const asked = this.#asked.get(rid);
    if (!asked || fate.is === 'Q') return;
    this.#asked.delete(rid);
    if (fate.is === 'H') this.#held.set(rid, { ...asked, ticket: fate.ticket });
  }
}

/**
 * Calls of many connections at once are as if one came after the other, in the order of their tickets: run so on the model,
 * they give the same replies, messages and data. Returns how many calls were compared.
 */
export async function compareConcurrent(
  url: string,
  name: string,
  connections: number,
  calls: number,
): Promise<number> {
  const where: Surroundings = { time: START * 1000, history: HISTORY };
  const first = await Tables.make(url, name, schemaText(), {});
  const askers: Asker[] = [];
  try {
    const on = new ComparingTables(first, {});
    await on.begin();
    for (let i = 0; i < connections; i++) {
      const sid = `p${hex(i, 15)}`;
      askers.push(new Asker(sid, await Tables.join(url, name, [sid]), mulberry(i + 1)));
      await askers[i]?.tables.begin(where);
      await on.call([sid, '0', 'c:', ...wire.enter(1, 3_600_000, 'l', '-', '0')], where);
    }
    const objects = ['N', 'mutex', 'm', '1', '0', '0', '2', 'N', 'semaphore', 's', '3', '0', '0', '0'];
    await on.call(['p000000000000000', '0', 'c:', ...objects], where);
    if (on.difference) throw new Error(on.difference);

    const done: { readonly args: string[]; readonly reply: readonly unknown[]; readonly ticket: string }[] = [];
    const heard = new Map<string, string[]>();
    const work = async (asker: Asker): Promise<void> => {
      const all: string[] = [];
      heard.set(asker.sid, all);
      for (let call = 0; call < calls; call++) {
        const args = asker.call();
        const reply = (await asker.tables.turn(args)) as unknown[];
        const messages = asker.tables.messages();
        all.push(...messages);
        asker.hear(args, reply, messages);
        const beat = reply.find(wire.isBeat);
        done.push({ args, reply, ticket: wire.beatIn(beat).sign.ticket });
      }
    };
    await Promise.all(askers.map(work));
    // Messages of the last calls of others.
    for (const { sid, tables } of askers) {
      await tables.query('select 1');
      heard.get(sid)?.push(...tables.messages());
    }

    const told = new Map<string, string[]>(askers.map(({ sid }) => [sid, []]));
    done.sort((one, other) => (one.ticket < other.ticket ? -1 : 1));
    for (const { args, reply } of done) {
      const published = on.onModel(args, where);
      for (const { channel, text } of published.published) told.get(channel.slice(2))?.push(`${channel} ${text}`);
      on.compare(`${args}: replies`, [published.reply], [reply]);
    }
    for (const [sid, texts] of told) on.compare(`messages of ${sid}`, texts, heard.get(sid) ?? []);
    on.compare('data', linesOfKeys(on.data, where.time), await first.lines(where));
    if (on.difference) throw new Error(on.difference);
    return done.length;
  } finally {
    for (const { tables } of askers) await tables.end();
    await first.end();
  }
}
