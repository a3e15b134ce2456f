/**
 * The state of a machine: the memory, the threads, the journal for undo, and the hashes.
 *
 * Two int32 arrays hold everything. `words` is the memory. `state` has the program's image, and then a header, frames
 * and globals for each thread.
 *
 * Before each change, the journal gets what the change will overwrite:
 * - the old value of a word of memory or of a global;
 * - the header of a thread, with the live words of its innermost frame;
 * - the frame of the caller, when a function returns.
 * A live word is one that an instruction may still read. The journal leaves out all other words of a frame, and so does
 * the hash, so undo restores the state and its hash.
 *
 * The header of a thread keeps the thread's hash until the thread moves. Undo brings the old hash back.
 */
import * as format from '../wasm/code.js';
import * as hash from './hash.js';

import * as layout from './state-layout.js';
import * as statuses from './status.js';

// V8 folds the values of these local constants into the code. It looks up imported and exported names at each use, and
// these look-ups would take a third of the time of a step. An index that is a sum ends in `| 0` for speed too: V8 then
// need not check that the sum is an int32.
const { CALLER, LIVE, RETURN_PC, STRIDE } = format;
const { finishHi, finishLo, mixHi, mixLo, nextHi, nextLo } = hash;
const { DETAIL, FRAME, GLOBALS_HI, GLOBALS_LO, HASH_HI, HASH_LO, HEADER, ORDER, PC, STATUS, VALUE } = layout;
const { BETWEEN_CALLS, CONSTANTS_BASE } = layout;
const { DEAD, PARKED, PENDING } = statuses;

export interface MachineOptions {
  /** The size of the shared memory, as memory.size answers and accesses trap. */
  bytes: number;
  threads: number;
  /** How many bytes of the memory are stored; by default all. An access to other bytes is an error of the checker. */
  used?: number;
  /**
   * Whether threads are killed, or calls cut short. If so, the state and its hash include whether each thread can be
   * stopped now.
   */
  kills?: boolean;
  /** Whether a thread that is killed while parked stays in the queue, and swallows a notify. */
  deadSleepers?: boolean;
}

/** An error of the program under test: it traps, as it would in the runtime. */
export class Trap extends Error {
  override name = 'Trap';
}

export interface Snapshot {
  readonly words: Int32Array;
  readonly state: Int32Array;
  readonly hashLo: number;
  readonly hashHi: number;
}

// The kinds of records in the journal. A record has its kind in its last word, since the journal is read backwards.
const WORD_RECORD = 0;
const GLOBAL_RECORD = 1;
const FRAME_RECORD = 2;
const THREAD_RECORD = 3;

const FIRST_JOURNAL = 1 << 16;

/** Every step does this twice. A loop would take twice as long as these assignments. */
function copyHeader(from: Int32Array, at: number, to: Int32Array, start: number): void {
  to[start] = from[at];
  to[(start + 1) | 0] = from[(at + 1) | 0];
  to[(start + 2) | 0] = from[(at + 2) | 0];
  to[(start + 3) | 0] = from[(at + 3) | 0];
  to[(start + 4) | 0] = from[(at + 4) | 0];
  to[(start + 5) | 0] = from[(at + 5) | 0];
  to[(start + 6) | 0] = from[(at + 6) | 0];
  to[(start + 7) | 0] = from[(at + 7) | 0];
  to[(start + 8) | 0] = from[(at + 8) | 0];
  to[(start + 9) | 0] = from[(at + 9) | 0];
}

export class MachineState {
  readonly program: format.Program;
  readonly threads: number;
  readonly words: Int32Array;
  memoryHashLo = 0;
  memoryHashHi = 0;
  /** The result of `threadHash`. */
  hashLo = 0;
  hashHi = 0;

  protected readonly bytes: number;
  protected readonly state: Int32Array;
  readonly #kills: boolean;
  /** How many words a thread has. */
  readonly #stride: number;
  /** How many words a thread has before its globals. */
  readonly #own: number;
  readonly #first: number;
  #journal = new Int32Array(FIRST_JOURNAL);
  #top = 0;
  /** The most words that the record of a frame takes. */
  readonly #record: number;

  constructor(program: format.Program, options: MachineOptions) {
    const { bytes, threads, used = bytes, kills = false } = options;
    this.program = program;
    this.threads = threads;
    this.words = new Int32Array((used + 3) >>> 2);
    this.bytes = bytes;
    this.#kills = kills;
    this.#first = program.image.length;
    // A frame may begin right at the limit of the stack, so there is room for one more frame behind the limit.
    this.#own = HEADER + program.stack + program.widest;
    this.#stride = this.#own + 2 * program.globals.length;
    this.#record = program.widest + 5;
    this.state = new Int32Array(this.#first + threads * this.#stride);
    this.state.set(program.image);
    this.state[CONSTANTS_BASE] = program.constantsAt;
    for (let t = 0; t < threads; t++) {
      const head = this.head(t);
      this.state[head + PC] = BETWEEN_CALLS;
      for (const [i, { lo, hi }] of program.globals.entries()) {
        this.setGlobal(head, 2 * i, lo);
        this.setGlobal(head, 2 * i + 1, hi);
      }
    }
    this.#top = 0;
  }

  // --- Undo -------------------------------------------------------------------------------------------

  mark(): number {
    return this.#top;
  }

  /** Goes back to the state at the mark, which stays valid. */
  undo(mark: number): void {
    const j = this.#journal;
    let top = this.#top | 0;
    while (top > mark) {
      const tag = j[(top - 1) | 0];
      if (tag === WORD_RECORD) {
        top = (top - 5) | 0;
        this.words[j[top]] = j[(top + 1) | 0];
        this.memoryHashLo = j[(top + 2) | 0];
        this.memoryHashHi = j[(top + 3) | 0];
      } else if (tag === GLOBAL_RECORD) {
        top = (top - 3) | 0;
        this.state[j[top]] = j[(top + 1) | 0];
      } else if (tag === FRAME_RECORD) {
        top = this.#bringFrameBack(top);
      } else {
        top = (top - HEADER - 2) | 0;
        copyHeader(j, top, this.state, j[(top + HEADER) | 0]);
      }
    }
    this.#top = top;
  }

  /** Empties the journal: nothing up to now can be undone, and marks are void. */
  forget(): void {
    this.#top = 0;
  }

  snapshot(): Snapshot {
    return {
      words: this.words.slice(),
      state: this.state.slice(this.#first),
      hashLo: this.memoryHashLo,
      hashHi: this.memoryHashHi,
    };
  }

  /** Goes back to a snapshot. This cannot be undone: marks are void. */
  restore(snapshot: Snapshot): void {
    this.words.set(snapshot.words);
    this.state.set(snapshot.state, this.#first);
    this.memoryHashLo = snapshot.hashLo;
    this.memoryHashHi = snapshot.hashHi;
    this.forget();
  }

  // --- Hash -------------------------------------------------------------------------------------------

  /** Hashes everything of a thread that decides what it will do. The result is in hashLo and hashHi. */
  threadHash(t: number): void {
    const s = this.state;
    const head = this.head(t);
    if ((s[head + HASH_LO] | s[head + HASH_HI]) === 0) this.#hashThread(head);
    let lo = s[head + HASH_LO];
    let hi = s[head + HASH_HI];
    if (s[head + ORDER] !== 0) {
      // The place in the queue changes when other threads leave the queue. So the hash in the header does not cover it.
      const place = this.#place(head) + 1;
      lo = nextLo(lo, place);
      hi = nextHi(hi, place);
    }
    this.hashLo = finishLo(lo);
    this.hashHi = finishHi(hi);
  }

  #hashThread(head: number): void {
    const s = this.state;
    const status = s[(head + STATUS) | 0];
    const pc = s[(head + PC) | 0];
    let lo = nextLo(0, status + 1);
    let hi = nextHi(0, status + 1);
    if (status !== DEAD) {
      const detail = status === PENDING && !this.#kills ? 0 : s[(head + DETAIL) | 0];
      lo = nextLo(nextLo(nextLo(lo, s[(head + GLOBALS_LO) | 0]), pc), detail);
      hi = nextHi(nextHi(nextHi(hi, s[(head + GLOBALS_HI) | 0]), pc), detail);
    }
    if (status !== DEAD || s[(head + ORDER) | 0] !== 0) {
      lo = nextLo(lo, s[(head + VALUE) | 0]);
      hi = nextHi(hi, s[(head + VALUE) | 0]);
    }
    if (pc !== BETWEEN_CALLS) {
      let frame = s[(head + FRAME) | 0];
      let list = this.liveList(head, pc);
      for (;;) {
        const end = (list + s[list]) | 0;
        for (let i = (list + 1) | 0; i <= end; i = (i + 1) | 0) {
          const value = s[(frame + s[i]) | 0];
          lo = nextLo(lo, value);
          hi = nextHi(hi, value);
        }
        const back = s[(frame + RETURN_PC) | 0];
        if (back === BETWEEN_CALLS) break;
        lo = nextLo(lo, back);
        hi = nextHi(hi, back);
        frame = s[(frame + CALLER) | 0];
        list = s[(back + LIVE) | 0];
      }
    }
    s[(head + HASH_LO) | 0] = lo;
    s[(head + HASH_HI) | 0] = hi;
  }

  /** Returns the hash of a thread's globals: the xor of what each word contributes, as in memory. */
  globalsHashLo(t: number): number {
    return this.state[this.head(t) + GLOBALS_LO];
  }

  globalsHashHi(t: number): number {
    return this.state[this.head(t) + GLOBALS_HI];
  }

  /**
   * Writes into `out`, in a fixed order, everything of a thread that decides what it will do, except its globals. If no
   * thread is killed, threadHash hashes the same words. While `inner` is under way, the locals of `outer` are left out.
   *
   * @returns the index behind the last word
   */
  listThread(t: number, out: Int32Array, inner?: format.RegisterFunction, outer?: format.RegisterFunction): number {
    const s = this.state;
    const head = this.head(t);
    const status = s[head + STATUS];
    const pc = s[head + PC];
    let n = 0;
    out[n++] = status;
    out[n++] = pc;
    out[n++] = status === PENDING ? 0 : s[head + DETAIL];
    out[n++] = s[head + VALUE];
    out[n++] = s[head + ORDER] === 0 ? 0 : this.#place(head) + 1;
    if (pc === BETWEEN_CALLS) return n;
    let frame = s[head + FRAME];
    let list = this.liveList(head, pc);
    let passed = false;
    for (let at = pc; ; ) {
      if (inner !== undefined && at >= inner.entry && at < inner.end) passed = true;
      const end = list + s[list];
      if (!passed || outer === undefined || at < outer.entry || at >= outer.end)
        for (let i = list + 1; i <= end; i++) out[n++] = s[frame + s[i]];
      const back = s[frame + RETURN_PC];
      if (back === BETWEEN_CALLS) return n;
      at = back;
      out[n++] = back;
      frame = s[frame + CALLER];
      list = s[back + LIVE];
    }
  }

  /** Returns how many threads sleep on the same address and have begun to sleep before this thread. */
  #place(head: number): number {
    const s = this.state;
    let before = 0;
    for (let t = 0; t < this.threads; t++) {
      const other = this.head(t);
      const order = s[other + ORDER];
      if (order !== 0 && order < s[head + ORDER] && s[other + VALUE] === s[head + VALUE]) before++;
    }
    return before;
  }

  // --- For the layers above ---------------------------------------------------------------------------

  protected head(t: number): number {
    return (this.#first + Math.imul(t, this.#stride)) | 0;
  }

  protected globals(head: number): number {
    return (head + this.#own) | 0;
  }

  protected pcOf(t: number): number {
    return this.state[this.head(t) + PC];
  }

  protected expect(t: number, status: number): number {
    const head = this.head(t);
    if (this.state[head + STATUS] !== status)
      throw new Error(`thread ${t} has status ${this.state[head + STATUS]}, not ${status}`);
    return head;
  }

  protected functionAt(pc: number): string {
    return this.program.functions[this.program.owners[pc / STRIDE]].name;
  }

  /** Returns where the list of the live words in the innermost frame is. */
  protected liveList(head: number, pc: number): number {
    const list = this.state[pc + LIVE];
    return this.state[head + STATUS] === PARKED ? list + this.state[list] + 1 : list;
  }

  /** Marks the thread's hash as invalid. */
  protected changed(head: number): void {
    const s = this.state;
    s[(head + HASH_LO) | 0] = 0;
    s[(head + HASH_HI) | 0] = 0;
  }

  protected trap(what: string, pc: number): Trap {
    return new Trap(`${what} in ${this.functionAt(pc)} at ${this.program.origins[pc / STRIDE]}`);
  }

  /** Makes room in the journal. */
  #reserve(words: number): void {
    if (this.#top + words <= this.#journal.length) return;
    const longer = new Int32Array(2 * this.#journal.length + words);
    longer.set(this.#journal);
    this.#journal = longer;
  }

  /** Puts a thread in the journal, with its innermost frame only. A caller's frame follows when its callee returns. */
  protected save(head: number): void {
    const s = this.state;
    const pc = s[(head + PC) | 0];
    if (pc !== BETWEEN_CALLS) this.saveFrame(s[(head + FRAME) | 0], this.liveList(head, pc));
    this.#reserve(HEADER + 2);
    const j = this.#journal;
    const top = this.#top | 0;
    copyHeader(s, head, j, top);
    j[(top + HEADER) | 0] = head;
    j[(top + HEADER + 1) | 0] = THREAD_RECORD;
    this.#top = (top + HEADER + 2) | 0;
  }

  protected saveFrame(frame: number, list: number): void {
    this.#reserve(this.#record);
    const s = this.state;
    const j = this.#journal;
    const count = s[list];
    let top = this.#top | 0;
    j[top] = s[(frame + RETURN_PC) | 0];
    j[(top + 1) | 0] = s[(frame + CALLER) | 0];
    top = (top + 1) | 0;
    for (let i = 1; i <= count; i++) j[(top + i) | 0] = s[(frame + s[(list + i) | 0]) | 0];
    top = (top + count + 1) | 0;
    j[top] = frame;
    j[(top + 1) | 0] = list;
    j[(top + 2) | 0] = FRAME_RECORD;
    this.#top = (top + 3) | 0;
  }

  /** Restores the frame whose record ends at `end`. Returns where the record begins. */
  #bringFrameBack(end: number): number {
    const s = this.state;
    const j = this.#journal;
    const frame = j[(end - 3) | 0];
    const list = j[(end - 2) | 0];
    const count = s[list];
    const start = (end - 5 - count) | 0;
    s[(frame + RETURN_PC) | 0] = j[start];
    s[(frame + CALLER) | 0] = j[(start + 1) | 0];
    const before = (start + 1) | 0;
    for (let i = 1; i <= count; i++) s[(frame + s[(list + i) | 0]) | 0] = j[(before + i) | 0];
    return start;
  }

  protected put(index: number, value: number): void {
    const old = this.words[index];
    if (old === value) return;
    this.#reserve(5);
    const j = this.#journal;
    const top = this.#top | 0;
    j[top] = index;
    j[(top + 1) | 0] = old;
    j[(top + 2) | 0] = this.memoryHashLo;
    j[(top + 3) | 0] = this.memoryHashHi;
    j[(top + 4) | 0] = WORD_RECORD;
    this.#top = (top + 5) | 0;
    this.memoryHashLo ^= mixLo(index, old) ^ mixLo(index, value);
    this.memoryHashHi ^= mixHi(index, old) ^ mixHi(index, value);
    this.words[index] = value;
  }

  protected setGlobal(head: number, word: number, value: number): void {
    const s = this.state;
    const at = (this.globals(head) + word) | 0;
    const old = s[at];
    if (old === value) return;
    this.#reserve(3);
    const j = this.#journal;
    const top = this.#top | 0;
    j[top] = at;
    j[(top + 1) | 0] = old;
    j[(top + 2) | 0] = GLOBAL_RECORD;
    this.#top = (top + 3) | 0;
    s[(head + GLOBALS_LO) | 0] ^= mixLo(word, old) ^ mixLo(word, value);
    s[(head + GLOBALS_HI) | 0] ^= mixHi(word, old) ^ mixHi(word, value);
    this.changed(head);
    s[at] = value;
  }
}
