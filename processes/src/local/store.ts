/**
 * What a broker keeps in place of the seven keys of a server (script/turn.lua), for the script in JavaScript (script.ts).
 *
 *     META, SESSIONS, SEQS   maps of texts, or of numbers that HINCRBY has made
 *     OBJECTS                name --> the object itself; name NUL ticket --> a number of deaths
 *     QUEUE, RECORDS         sorted lists
 *     LEASES                 sid --> the ticket of the last sign of life
 *
 * Nothing here decides anything; the script does.
 */

export type Answer = string | readonly Answer[];

/** A message to a session, as the script publishes it: its number, a semicolon and news. */
export interface Message {
  readonly sid: string;
  readonly text: string;
}

/** An object that requests wait for. script/objects.lua says what each field means. */
export interface SharedObject {
  readonly kind: string;
  readonly max: number;
  readonly free: number;
  readonly waiting: number;
  readonly born: string;
}

/** A chunk of a list that is longer than this is cut in two. */
const LONGEST = 512;

/** Texts in order. Chunks keep what a change moves small, however many texts there are. */
export class SortedList {
  readonly #chunks: string[][] = [[]];
  size = 0;

  /** The chunk in which a text is, or would be. */
  #chunkOf(text: string): number {
    let [low, high] = [0, this.#chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#chunks[middle]?.[0] as string) <= text) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  add(text: string): void {
    const at = this.#chunkOf(text);
    const chunk = this.#chunks[at] as string[];
    const place = placeIn(chunk, text);
    if (chunk[place] === text) return;
    this.size++;
    if (place === chunk.length) chunk.push(text);
    else chunk.splice(place, 0, text);
    if (chunk.length > LONGEST) this.#chunks.splice(at + 1, 0, chunk.splice(LONGEST / 2));
  }

  /** Returns how many texts it has removed: 0 or 1. */
  delete(text: string): number {
    const at = this.#chunkOf(text);
    const chunk = this.#chunks[at] as string[];
    const place = placeIn(chunk, text);
    if (chunk[place] !== text) return 0;
    this.size--;
    // V8 shifts a list by moving its beginning.
    if (place === 0) chunk.shift();
    else chunk.splice(place, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
    return 1;
  }

  /** The first text from `from` on that is smaller than `end`. */
  first(from: string, end: string): string | undefined {
    const at = this.#chunkOf(from);
    const chunk = this.#chunks[at] as string[];
    const place = placeIn(chunk, from);
    const found = place < chunk.length ? chunk[place] : this.#chunks[at + 1]?.[0];
    return found !== undefined && found < end ? found : undefined;
  }

  /** The first `limit` texts from `from` on that are smaller than `end`, if there is an end. */
  range(from: string, end: string | undefined, limit: number): string[] {
    const found: string[] = [];
    const first = this.#chunkOf(from);
    let place = placeIn(this.#chunks[first] as string[], from);
    for (const chunk of this.#chunks.slice(first)) {
      for (; place < chunk.length; place++) {
        const text = chunk[place] as string;
        if (found.length >= limit || (end !== undefined && text >= end)) return found;
        found.push(text);
      }
      place = 0;
    }
    return found;
  }
}

/** The place of the first text of a chunk that is not smaller than this one. */
function placeIn(chunk: readonly string[], text: string): number {
  let [low, high] = [0, chunk.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chunk[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Store {
  readonly META = new Map<string, string | number>();
  readonly OBJECTS = new Map<string, SharedObject | string>();
  readonly QUEUE = new SortedList();
  readonly RECORDS = new SortedList();
  readonly SESSIONS = new Map<string, string>();
  readonly LEASES = new Map<string, number>();
  readonly SEQS = new Map<string, string | number>();
  /** The states of rates. */
  readonly RATES = new Map<string, string>();
  /** Until when each of them is kept. */
  readonly ends = new Map<string, number>();
  #toLookAt = this.ends.entries();
  /** The name of the history: whoever finds another name knows that the state was lost. */
  readonly history: string;
  /** The time of the present call: Unix time in milliseconds. */
  now = 0;
  /** What the present call has told. */
  messages: Message[] = [];

  constructor(history: string) {
    this.history = history;
  }

  publish(sid: string, text: string): void {
    this.messages.push({ sid, text });
  }

  /** The state of a rate, if it is still kept. */
  kept(name: string): string | undefined {
    return (this.ends.get(name) ?? 0) >= this.now ? this.RATES.get(name) : undefined;
  }

  /** Keeps the state of a rate for so many milliseconds at least. Each call looks at two others, all in turn. */
  keepFor(name: string, text: string, milliseconds: number): void {
    for (let looks = 0; looks < 2; looks++) {
      const next = this.#toLookAt.next();
      if (next.done) this.#toLookAt = this.ends.entries();
      else if (next.value[1] < this.now) {
        this.RATES.delete(next.value[0]);
        this.ends.delete(next.value[0]);
      }
    }
    this.RATES.set(name, text);
    this.ends.set(name, this.now + milliseconds);
  }

  /**
   * HSCAN of the objects: the cursor with which to go on, and names and objects in turn. The cursor is the ticket of the
   * last object that was told: they lie in the order in which they were made. Of other keys it tells nothing.
   */
  scan(key: ReadonlyMap<string, unknown>, cursor: string, limit: number): [string, unknown[]] {
    const found: unknown[] = [];
    if (key !== this.OBJECTS) return ['0', found];
    for (const [name, object] of this.OBJECTS) {
      if (typeof object === 'string' || object.born <= cursor) continue;
      found.push(name, object);
      if (found.length === 2 * limit) return [object.born, found];
    }
    return ['0', found];
  }

  /** ZRANGEBYSCORE with WITHSCORES: from `-inf` on, or behind a score that follows a parenthesis. */
  byScore(key: ReadonlyMap<string, number>, from: string, limit: number): string[] {
    const before = from === '-inf' ? Number.NEGATIVE_INFINITY : Number(from.slice(1));
    const found = [...key].filter(([, score]) => score > before);
    found.sort(([, a], [, b]) => a - b);
    return found.slice(0, limit).flatMap(([member, score]) => [member, `${score}`]);
  }
}
