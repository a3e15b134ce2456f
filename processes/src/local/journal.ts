/**
 * The journal of a broker: what the next broker reads to know all that this one has answered.
 *
 *     j.G.n:  the state, as a line             State.dump, with the format `v`
 *             [time, member, arguments]        a call of the script
 *             [time, sid]                      a session whose process has died
 *             [time, ""]                       grants that earlier lines have left
 *             ...
 *
 * In every format the first line is an object that has `v` and `ticket`, the others begin with their times, and each
 * ticket after the first line takes a byte at least. So each version of the package can tell tickets that are larger.
 *
 * A line is written before anybody hears what it has done. `write` reaches the memory of the kernel, which outlives the
 * process however it ends. The last line has no end if its broker died while it wrote; nobody has heard of it, so it
 * does not count. A file gets its name when its first line is whole. A journal that has grown long is followed by the
 * next one, which begins with the present state. A journal is removed only when the second one behind it has begun, so
 * that a list of the folder that takes long shows at least one of them.
 */
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { type Folder, VERSION } from './generations.js';
import { type Line, lineOf } from './lines.js';
import { random } from './platform.js';
import { State, ticketAt } from './state.js';

/** A journal is followed by the next one when it has this many bytes, or twice as many as its first line. */
const LONG = 1 << 20;

/**
 * Reads what the last broker below this generation has written. Returns a number that no ticket exceeds if there is no
 * journal (0), or if it has another format and this is allowed. Throws if it cannot be read.
 */
export function readJournal(folder: Folder, below: number, mayBeOther = false): State | number {
  while (true) {
    const newest = folder.journals().find(({ generation }) => generation < below);
    if (!newest) return 0;
    let text: string;
    try {
      text = readFileSync(folder.of(`j.${newest.generation}.${newest.n}`), 'utf8');
    } catch (error) {
      // Its broker, or a later one, has removed it meanwhile.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    const [first = '', ...lines] = text.slice(0, text.lastIndexOf('\n')).split('\n');
    const { v, ticket } = JSON.parse(first);
    if (v === VERSION) {
      const state = State.load(first);
      for (const line of lines) runAgain(state, JSON.parse(line));
      return state;
    }
    if (!mayBeOther) throw new Error(`its format is ${v}, and this version of the package has the format ${VERSION}`);
    const times = Array.from(text.matchAll(/^\[(\d{1,15})\b/gm), ([, time]) => ticketAt(Number(time)));
    return times.reduce((a, b) => Math.max(a, b), Number(ticket) || 0) + text.length;
  }
}

function runAgain(state: State, [now, who, args]: Line): void {
  if (who === '') state.goOn(now as number);
  else if (args === undefined) state.reap(who as string, now as number);
  else state.turn(args as string[], who as string, now as number);
}

export class Journal {
  readonly #folder: Folder;
  readonly #generation: number;
  readonly #state: State;
  #fd: number | undefined;
  #n = 0;
  #size = 0;
  #first = 0;

  /** Begins the journal of a broker (U4). */
  constructor(folder: Folder, generation: number, state: State) {
    this.#folder = folder;
    this.#generation = generation;
    this.#state = state;
    this.#begin();
  }

  #begin(): void {
    const draft = `t.${random()}`;
    const fd = openSync(this.#folder.of(draft), 'wx', 0o600);
    try {
      this.#first = write(fd, `{"v":${VERSION},${this.#state.dump().slice(1)}\n`);
      renameSync(this.#folder.of(draft), this.#folder.of(`j.${this.#generation}.${this.#n + 1}`));
    } catch (error) {
      closeSync(fd);
      this.#folder.remove(draft);
      throw error;
    }
    this.close();
    this.#fd = fd;
    this.#size = this.#first;
    this.#n++;
    this.#folder.remove(`j.${this.#generation}.${this.#n - 2}`);
  }

  /** Writes lines. Throws if the file takes no more; then nobody may hear what the lines have done. */
  append(lines: string): void {
    this.#size += write(this.#fd as number, lines);
  }

  /** Goes on in the next file if this one is long. The state must be that after all lines. Never throws. */
  rotate(): void {
    if (this.#size <= Math.max(LONG, 2 * this.#first)) return;
    try {
      this.#begin();
    } catch {
      // The disk may be full. This journal goes on, and the next attempt is made when it is twice as long.
      this.#first = this.#size;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

export const callLine = (now: number, member: string, args: readonly string[]): string => lineOf(now, member, args);
export const deathLine = (now: number, sid: string): string => lineOf(now, sid);
export const grantsLine = (now: number): string => lineOf(now, '');

/** A file may take a part of the bytes only. */
function write(fd: number, text: string): number {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
  return bytes.length;
}
