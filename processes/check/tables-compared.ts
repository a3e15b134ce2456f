/**
 * Runs each call twice, by the function of PostgreSQL (tables.ts) and by the script on the model of a server, and compares
 * the replies, the messages, and the data after the call.
 */
import { operations } from '../src/local/grammar.js';
import type { Constants } from './comparing.js';
import { Data, type Published, type Surroundings } from './data-model.js';
import { Server, type Turn, turnChunk } from './server.js';
import type { Tables } from './tables.js';
import type { Caller } from './tables-calls.js';
import { comparable, linesOfKeys, linesOfRows } from './tables-lines.js';

/** Runs calls on both sides. */
export class ComparingTables implements Caller {
  readonly tables: Tables;
  readonly #server: Server;
  data = new Data();
  compared = 0;
  readonly #letters = new Set<string>();
  difference: string | undefined;

  constructor(tables: Tables, constants: Constants) {
    this.tables = tables;
    this.#server = new Server(turnChunk(constants));
  }

  /** The letters of the operations that have come. */
  get letters(): string {
    return [...this.#letters].sort().join('');
  }

  async begin(): Promise<void> {
    this.data = new Data();
    await this.tables.clear();
  }

  /** Runs a call on the model alone. */
  onModel(args: readonly string[], where: Surroundings): Turn {
    const turn = this.#server.turn(this.data, args, where);
    this.data = turn.data;
    return turn;
  }

  async call(args: readonly string[], where: Surroundings): Promise<unknown> {
    const turn = this.onModel(args, where);
    this.compared++;
    for (const at of operations(args)) this.#letters.add(args[at] as string);
    const what = `call ${this.compared}, ${JSON.stringify(args.slice(0, 60))}`;
    try {
      const { reply, rows } = await this.tables.call(args, where);
      const messages = this.tables.messages();
      this.compare(`${what}: replies`, [comparable(turn.reply)], [comparable(reply)]);
      const told = turn.published.map(({ channel, text }: Published) => `${channel} ${text}`);
      this.compare(`${what}: messages`, told, messages);
      this.compare(`${what}: data`, linesOfKeys(this.data, where.time), linesOfRows(rows, where.time));
    } catch (error) {
      this.difference ??= `${what}: ${(error as Error).stack} ${(error as { where?: string }).where}; the script: ${JSON.stringify(turn.reply)}`;
    }
    return turn.reply;
  }

  /** Notes a difference. */
  compare(what: string, script: readonly unknown[], tables: readonly unknown[]): void {
    const [ones, others] = [script, tables].map((all) => all.map((each) => JSON.stringify(each))) as [
      string[],
      string[],
    ];
    if (ones.join() === others.join()) return;
    const only = (these: string[], those: string[]) => these.filter((each) => !those.includes(each)).join('\n    ');
    this.difference ??= `${what}\n  only the script:\n    ${only(ones, others)}\n  only the tables:\n    ${only(others, ones)}`;
  }
}
