/** A server that knows one script: that of src/script/, as the build has joined it. */
import { readFileSync } from 'node:fs';
import type { Chunk } from 'luaparse';
import type { Data, Published, Surroundings } from './data-model.js';
import { type Compiled, compile, LuaError, parseLua, Table, type Value } from './lua.js';

/** The keys in the order in which the script takes them. */
export const KEYS = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'] as const;

/** What a client gets: bytes, integers, nothing, lists of these, or an error. */
export type Reply = string | number | null | Reply[] | { readonly error: string };

/** What one call of the script has done. */
export interface Turn {
  readonly data: Data;
  readonly reply: Reply;
  readonly published: readonly Published[];
}

export const turnSource = (): string => {
  // The compiled program lies in build/processes/check/.
  for (const path of ['../src/script/joined.lua', '../../../src/script/joined.lua'])
    try {
      return readFileSync(new URL(path, import.meta.url), 'latin1');
    } catch {}
  throw new Error('joined.lua is not found');
};

/** The script with other values of its constants (`local NAME = number`). */
export function withConstants(source: string, constants: Readonly<Record<string, number>>): string {
  let text = source;
  for (const [name, value] of Object.entries(constants)) {
    const changed = text.replace(new RegExp(`^( *)local ${name} = \\d+`, 'm'), `$1local ${name} = ${value}`);
    if (changed === text) throw new Error(`the script has no constant ${name}`);
    text = changed;
  }
  return text;
}

/** The script as it is shipped, or with other values of its constants. */
export const turnChunk = (constants: Readonly<Record<string, number>> = {}): Chunk =>
  parseLua(withConstants(turnSource(), constants));

/** A value of the script as the client gets it. */
function replyOf(value: Value): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (value === true) return 1;
  if (value instanceof Table) {
    const error = value.get('err');
    if (typeof error === 'string') return { error };
    return value.list.map(replyOf);
  }
  return null;
}

export class Server {
  readonly #run: Compiled;
  readonly #keys: readonly string[];

  constructor(chunk: Chunk, keys: readonly string[] = KEYS) {
    this.#run = compile(chunk);
    this.#keys = keys;
  }

  /** Runs one call. The data given is left as it is. As on a server, what a failing script has written stays. */
  turn(before: Data, args: readonly string[], surroundings: Surroundings): Turn {
    const data = before.clone();
    const published: Published[] = [];
    const { call, pcall } = data.functions(surroundings, published);
    try {
      return { data, reply: replyOf(this.#run(this.#keys, args, call, pcall)), published };
    } catch (error) {
      if (!(error instanceof LuaError)) throw error;
      return { data, reply: { error: error.message }, published };
    }
  }
}
