/**
 * A model of the data of a server, as far as the script uses them: hashes, sorted sets, and the commands on them, with
 * the replies that a script sees. The caller passes in what a real server knows by itself: the time, and which history
 * the data have.
 */
import { LuaError, type LuaFunction, Table, type Value } from './lua.js';

type Hash = Map<string, string>;
/** Members with their scores, in order: by score, then by bytes. */
type Sorted = { member: string; score: number }[];
type Key = Hash | Sorted;

/** What the server takes from outside. */
export interface Surroundings {
  /** Unix time in microseconds. */
  readonly time: number;
  /** The replication id, or undefined where `INFO` is forbidden. */
  readonly history: string | undefined;
  /** Memory is full: what may need more is refused, unless the script has written before. */
  readonly isFull?: boolean;
  /** A command that the user has no right to. */
  readonly forbidden?: string | undefined;
}

/** Commands that write, and whether they may need memory. */
const WRITES: Readonly<Record<string, boolean>> = {
  HSET: true,
  SET: true,
  HINCRBY: true,
  ZADD: true,
  HDEL: false,
  ZREM: false,
};

/** A message that a script has published. */
export interface Published {
  readonly channel: string;
  readonly text: string;
  readonly sharded: boolean;
}

const isSorted = (key: Key): key is Sorted => Array.isArray(key);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A number as an argument of a command: `%.17g`, which is exact for the integers that scripts pass. */
function argument(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new LuaError('a fraction as an argument of a command');
    return String(value);
  }
  throw new LuaError('Lua redis lib command arguments must be strings or integers');
}

function integer(text: string): number {
  if (!/^-?(0|[1-9]\d*)$/.test(text)) throw new LuaError('ERR value is not an integer or out of range');
  return Number(text);
}

function scoreOf(text: string): number {
  if (text === '+inf' || text === 'inf') return Number.POSITIVE_INFINITY;
  if (text === '-inf') return Number.NEGATIVE_INFINITY;
  if (!/^[+-]?\d+(\.\d*)?(e[+-]?\d+)?$/i.test(text)) throw new LuaError('ERR value is not a valid float');
  return Number(text);
}

export class Data {
  readonly #keys = new Map<string, Key>();
  /** Texts that the server keeps until a time, in milliseconds. */
  readonly #texts = new Map<string, { readonly text: string; readonly until: number }>();

  clone(): Data {
    const copy = new Data();
    for (const [name, key] of this.#keys) copy.#keys.set(name, isSorted(key) ? [...key] : new Map(key));
    for (const [name, text] of this.#texts) copy.#texts.set(name, text);
    return copy;
  }

  /**
   * All keys and what they hold, the same text for the same data. kept: the data of a server, which may have dropped texts
   * by its own time; then only those that it has are told, and not until when.
   */
  text(kept?: Data): string {
    let text = '';
    for (const name of [...this.#keys.keys()].sort(compare)) {
      const key = this.#keys.get(name) as Key;
      text += `${name}\n`;
      if (isSorted(key)) for (const { member, score } of key) text += `${score} ${member}\n`;
      else for (const field of [...key.keys()].sort(compare)) text += `${field}=${key.get(field)}\n`;
    }
    for (const name of [...this.#texts.keys()].sort(compare)) {
      const each = this.#texts.get(name);
      if (!kept) text += `${name}\n${each?.text} ${each?.until}\n`;
      else if (kept.#texts.has(name)) text += `${name}\n${each?.text}\n`;
    }
    return text;
  }

  /** The texts, and until when the server keeps each. */
  texts(): ReadonlyMap<string, { readonly text: string; readonly until: number }> {
    return this.#texts;
  }

  hash(name: string): ReadonlyMap<string, string> {
    return this.#hash(name) ?? new Map();
  }

  sorted(name: string): readonly { readonly member: string; readonly score: number }[] {
    return this.#sorted(name) ?? [];
  }

  /** Runs one command as a script does, and returns what it gets. */
  command(args: readonly string[], surroundings: Surroundings, published: Published[]): Value {
    const [command = '', name = '', ...rest] = args;
    const arity = (least: number, most = least): void => {
      if (rest.length < least || rest.length > most)
        throw new LuaError(`ERR wrong number of arguments for '${command.toLowerCase()}' command`);
    };
    switch (command) {
      case 'GET': {
        arity(0);
        const kept = this.#texts.get(name);
        return kept && kept.until * 1000 >= surroundings.time ? kept.text : false;
      }
      case 'SET': {
        arity(3);
        if (rest[1] !== 'PX') throw new LuaError('ERR syntax error');
        this.#texts.set(name, {
          text: rest[0] as string,
          until: Math.floor(surroundings.time / 1000) + integer(rest[2] as string),
        });
        return 'OK';
      }
      case 'HGET':
        arity(1);
        return this.#hash(name)?.get(rest[0] as string) ?? false;
      case 'HMGET':
        arity(1, 99);
        return Table.of(rest.map((field) => this.#hash(name)?.get(field) ?? false));
      case 'HSET': {
        arity(2, 99);
        if (rest.length % 2 === 1) throw new LuaError("ERR wrong number of arguments for 'hset' command");
        const hash = this.#made(name, 'hash');
        let added = 0;
        for (let at = 0; at < rest.length; at += 2) {
          if (!hash.has(rest[at] as string)) added++;
          hash.set(rest[at] as string, rest[at + 1] as string);
        }
        return added;
      }
      case 'HSCAN':
        // As a server does with a hash that is small: all at once, in the order in which fields were made.
        arity(1, 3);
        if (rest.length > 1 && rest[1] !== 'COUNT') throw new LuaError('ERR syntax error');
        return Table.of(['0', Table.of([...(this.#hash(name) ?? [])].flat())]);
      case 'HDEL': {
        arity(1, 99);
        const hash = this.#hash(name);
        let removed = 0;
        for (const field of rest) if (hash?.delete(field)) removed++;
        if (hash?.size === 0) this.#keys.delete(name);
        return removed;
      }
      case 'HINCRBY': {
        arity(2);
        const by = integer(rest[1] as string);
        const known = this.#hash(name)?.get(rest[0] as string);
        if (known !== undefined && !/^-?\d+$/.test(known)) throw new LuaError('ERR hash value is not an integer');
        const value = Number(known ?? 0) + by;
        this.#made(name, 'hash').set(rest[0] as string, String(value));
        return value;
      }
      case 'ZADD': {
        arity(2, 99);
        const onlyKnown = rest[0] === 'XX';
        if (onlyKnown) rest.shift();
        if (rest.length % 2 === 1) throw new LuaError('ERR syntax error');
        if (onlyKnown && !this.#sorted(name)) return 0;
        const scores = rest.filter((_, at) => at % 2 === 0).map(scoreOf);
        const sorted = this.#made(name, 'sorted');
        let added = 0;
        scores.forEach((score, at) => {
          const member = rest[2 * at + 1] as string;
          const where = sorted.findIndex((each) => each.member === member);
          if (where < 0 && onlyKnown) return;
          if (where >= 0) sorted.splice(where, 1);
          else added++;
          const place = sorted.findIndex(
            (each) => each.score > score || (each.score === score && each.member > member),
          );
          sorted.splice(place < 0 ? sorted.length : place, 0, { member, score });
        });
        return added;
      }
      case 'ZCARD':
        arity(0);
        return this.#sorted(name)?.length ?? 0;
      case 'ZREM': {
        arity(1, 99);
        const sorted = this.#sorted(name);
        let removed = 0;
        for (const member of rest) {
          const where = sorted?.findIndex((each) => each.member === member) ?? -1;
          if (where < 0) continue;
          sorted?.splice(where, 1);
          removed++;
        }
        if (sorted?.length === 0) this.#keys.delete(name);
        return removed;
      }
      case 'ZRANGEBYLEX': {
        const bound = (text: string): void => {
          if (!/^[[(]/.test(text) && text !== '-' && text !== '+')
            throw new LuaError('ERR min or max not valid string range item');
        };
        const [min, max] = this.#range(rest);
        bound(min);
        bound(max);
        const above = (member: string): boolean =>
          min === '-' || (min !== '+' && (min[0] === '[' ? member >= min.slice(1) : member > min.slice(1)));
        const below = (member: string): boolean =>
          max === '+' || (max !== '-' && (max[0] === '[' ? member <= max.slice(1) : member < max.slice(1)));
        return this.#limited(name, rest, ({ member }) => above(member) && below(member));
      }
      case 'ZRANGEBYSCORE': {
        const [min, max] = this.#range(rest.filter((word) => word !== 'WITHSCORES'));
        const [low, high] = [scoreOf(min.replace('(', '')), scoreOf(max.replace('(', ''))];
        return this.#limited(
          name,
          rest.filter((word) => word !== 'WITHSCORES'),
          ({ score }) =>
            (min.startsWith('(') ? score > low : score >= low) && (max.startsWith('(') ? score < high : score <= high),
          rest.includes('WITHSCORES'),
        );
      }
      case 'TIME':
        if (args.length !== 1) throw new LuaError("ERR wrong number of arguments for 'time' command");
        return Table.of([String(Math.floor(surroundings.time / 1e6)), String(surroundings.time % 1e6)]);
      case 'INFO':
        if (surroundings.history === undefined) throw new LuaError('NOPERM INFO');
        if (name !== 'replication') return '# Another\r\n';
        return `# Replication\r\nrole:master\r\nmaster_replid:${surroundings.history}\r\nmaster_replid2:0000\r\n`;
      case 'PUBLISH':
      case 'SPUBLISH':
        arity(1);
        published.push({ channel: name, text: rest[0] as string, sharded: command === 'SPUBLISH' });
        return 1;
      default:
        throw new LuaError(`ERR unknown command '${command}'`);
    }
  }

  /** `redis.call` and `redis.pcall` on this data. */
  functions(surroundings: Surroundings, published: Published[]): { call: LuaFunction; pcall: LuaFunction } {
    let hasWritten = false;
    const call: LuaFunction = (...args) => {
      const words = args.map(argument);
      const command = words[0] as string;
      if (command === surroundings.forbidden) throw new LuaError(`NOPERM ${command}`);
      if (WRITES[command] && surroundings.isFull && !hasWritten) throw new LuaError('OOM');
      hasWritten ||= command in WRITES;
      return [this.command(words, surroundings, published)];
    };
    const pcall: LuaFunction = (...args) => {
      try {
        return call(...args);
      } catch (error) {
        if (!(error instanceof LuaError)) throw error;
        const table = new Table();
        table.set('err', error.message);
        return [table];
      }
    };
    return { call, pcall };
  }

  #hash(name: string): Hash | undefined {
    const key = this.#keys.get(name);
    if (key && isSorted(key)) throw new LuaError('WRONGTYPE Operation against a key holding the wrong kind of value');
    return key;
  }

  #sorted(name: string): Sorted | undefined {
    const key = this.#keys.get(name);
    if (key && !isSorted(key)) throw new LuaError('WRONGTYPE Operation against a key holding the wrong kind of value');
    return key;
  }

  #made(name: string, kind: 'hash'): Hash;
  #made(name: string, kind: 'sorted'): Sorted;
  #made(name: string, kind: 'hash' | 'sorted'): Key {
    const known = kind === 'hash' ? this.#hash(name) : this.#sorted(name);
    if (known) return known;
    const made: Key = kind === 'hash' ? new Map() : [];
    this.#keys.set(name, made);
    return made;
  }

  #range(rest: readonly string[]): [string, string] {
    if (rest.length !== 2 && (rest.length !== 5 || rest[2] !== 'LIMIT')) throw new LuaError('ERR syntax error');
    return [rest[0] as string, rest[1] as string];
  }

  #limited(
    name: string,
    rest: readonly string[],
    within: (entry: { member: string; score: number }) => boolean,
    withScores = false,
  ): Table {
    const offset = rest.length === 5 ? integer(rest[3] as string) : 0;
    const count = rest.length === 5 ? integer(rest[4] as string) : -1;
    // Beyond the first entry there is none, to the server.
    const found = offset < 0 ? [] : (this.#sorted(name) ?? []).filter(within).slice(offset);
    const chosen = count < 0 ? found : found.slice(0, count);
    return Table.of(chosen.flatMap(({ member, score }) => (withScores ? [member, String(score)] : [member])));
  }
}
