/**
 * The machine: threads that run register code over one memory, one access at a time.
 *
 *              call                       step: wait, and the word is as expected
 *     IDLE ───────────► PENDING ◄──────► PARKED
 *       ▲               │    ▲              │  notify, timeOut
 *       └── returned ───┘    └── step ──────┘           kill: any of them ──► DEAD
 *
 * Between two accesses a thread runs through at once, so while it is PENDING its next access is known: where,
 * and with which operands. `step` performs it and runs on to the one after.
 *
 * Two int32 arrays hold everything: the memory (`words`), and in #state the program's image and then each
 * thread: header, frames, globals.
 *
 * Undo: whatever changes is put in a journal first. A word of memory or a global, as its old value; a
 * thread, as its header and the live words of its innermost frame; a caller's frame, when it is returned to.
 * Dead words are not restored: nobody reads them. That also keeps the hash honest, which covers the live ones
 * only.
 *
 * The hash of a thread is kept in its header until the thread moves, and comes back with undo.
 */
import * as format from '../wasm/code.js';
import type { AccessKind } from '../wasm/opcodes.js';
import * as hash from './hash.js';
import * as i64 from './i64.js';
import * as statuses from './status.js';

export { CMPXCHG, LOAD, NOTIFY, RMW, STORE, WAIT } from '../wasm/code.js';
export { DEAD, IDLE, PARKED, PENDING } from './status.js';

// Names of this module's own: the engine folds the value of such a one into the code, but looks up what is
// imported or exported each time. It is a third of the time of a step. In the same way `| 0` behind the sum of
// an index spares it the question whether that still is an int32.
const { A, B, C, DST, IMM, LIVE, META, STRIDE } = format;
const { AREA_SHIFT, BRANCHES, BYTES, NEGATED, PLAIN, RMW_SHIFT, SIGNED, WIDE, WORD } = format;
const { CALLER, FRAME_HEADER, RETURN_PC, OP_ACCESS } = format;
const { finishHi, finishLo, mixHi, mixLo, nextHi, nextLo } = hash;
const { ctz32, divide, mul, popcount, rotl, shl, shrS, shrU } = i64;
const { IDLE, PENDING, PARKED, DEAD } = statuses;

export interface Access {
  kind: AccessKind;
  /** What a read-modify-write does; empty otherwise. */
  op: string;
  /** Effective address, in bytes. */
  address: number;
  bytes: 1 | 2 | 4 | 8;
  plain: boolean;
  fn: string;
  /** Of the instruction, in the file. */
  offset: number;
}

export interface MachineOptions {
  /** Size of the shared memory: what memory.size tells, and where accesses trap. */
  bytes: number;
  threads: number;
  /** How much of it is really there; an access behind that is an error. All of it by default. */
  used?: number;
  /** Whether threads are killed: then where they can be belongs to the state, and is hashed. */
  kills?: boolean;
  /** Whether who is killed while parked stays in the queue, and swallows a notify. */
  deadSleepers?: boolean;
}

/** What ends an execution on the real engine too. */
export class Trap extends Error {
  override name = 'Trap';
}

export interface Snapshot {
  readonly words: Int32Array;
  readonly state: Int32Array;
  readonly hashLo: number;
  readonly hashHi: number;
}

/** Most instructions between two accesses. */
const PATIENCE = 100_000;

// Header of a thread.
const STATUS = 0;
/** Of the pending access, or of the wait; BETWEEN_CALLS. */
const PC = 1;
/** The innermost frame: index in the state. */
const FRAME = 2;
/** IDLE: low word of the result. PENDING, PARKED: address of the access, or slept on. */
const VALUE = 3;
/** IDLE: high word of the result. PENDING: whether it can be killed. PARKED: whether it can time out. */
const DETAIL = 4;
/** Place in the queue of its address, from 1 on, not without gaps; 0 if in none. */
const ORDER = 5;
/** Of the globals, kept as they change. */
const GLOBALS_LO = 6;
const GLOBALS_HI = 7;
/** Of all; both 0 if it has to be computed. */
const HASH_LO = 8;
const HASH_HI = 9;
const HEADER = 10;

// Where operands are, by their area: the first words of the state.
const FRAME_BASE = 0;
const GLOBALS_BASE = 1;
const CONSTANTS_BASE = 2;

const BETWEEN_CALLS = -1;
const PAGE = 65536;

// What wait answers.
const WOKEN = 0;
const NOT_EQUAL = 1;
const TIMED_OUT = 2;

// Records of the journal; the tag comes last, since they are read backwards.
const WORD_RECORD = 0;
const GLOBAL_RECORD = 1;
const FRAME_RECORD = 2;
const THREAD_RECORD = 3;

const FIRST_JOURNAL = 1 << 16;

/** Written out: a loop would take twice as long, and this is done twice a step. */
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

export class Machine {
  readonly program: format.Program;
  readonly threads: number;
  readonly words: Int32Array;
  memoryHashLo = 0;
  memoryHashHi = 0;
  /** What `threadHash` has found. */
  hashLo = 0;
  hashHi = 0;

  readonly #bytes: number;
  readonly #kills: boolean;
  readonly #deadSleepers: boolean;
  readonly #state: Int32Array;
  /** Words of a thread: in all, and before its globals. */
  readonly #stride: number;
  readonly #own: number;
  readonly #first: number;
  #journal = new Int32Array(FIRST_JOURNAL);
  #top = 0;
  /** Words that the record of a frame takes at most. */
  readonly #record: number;
  // The value just read.
  #lo = 0;
  #hi = 0;

  constructor(program: format.Program, options: MachineOptions) {
    const { bytes, threads, used = bytes, kills = false, deadSleepers = false } = options;
    this.program = program;
    this.threads = threads;
    this.words = new Int32Array((used + 3) >>> 2);
    this.#bytes = bytes;
    this.#kills = kills;
    this.#deadSleepers = deadSleepers;
    this.#first = program.image.length;
    // Whoever is entered at the limit has a frame yet.
    this.#own = HEADER + program.stack + program.widest;
    this.#stride = this.#own + 2 * program.globals.length;
    this.#record = program.widest + 5;
    this.#state = new Int32Array(this.#first + threads * this.#stride);
    this.#state.set(program.image);
    this.#state[CONSTANTS_BASE] = program.constantsAt;
    for (let t = 0; t < threads; t++) {
      const head = this.#head(t);
      this.#state[head + PC] = BETWEEN_CALLS;
      for (const [i, { lo, hi }] of program.globals.entries()) {
        this.#setGlobal(head, 2 * i, lo);
        this.#setGlobal(head, 2 * i + 1, hi);
      }
      if (program.start !== undefined) {
        this.call(t, program.start);
        if (this.status(t) !== IDLE) throw new Error('the start function accesses memory');
      }
    }
    this.#top = 0;
  }

  // --- Threads ----------------------------------------------------------------------------------------

  /** Which instruction the pending access or the wait is; -1 if no call is under way. */
  instruction(t: number): number {
    return this.#state[this.#head(t) + PC];
  }

  status(t: number): number {
    return this.#state[this.#head(t) + STATUS];
  }

  /** Calls a function, by its index; an i64 among the arguments is two words. Runs to its first access or its return. */
  call(t: number, fn: number, ...args: number[]): void {
    const s = this.#state;
    const head = this.#expect(t, IDLE);
    const { entry, paramsEnd, localsEnd, name } = this.program.functions[fn];
    if (args.length !== paramsEnd - FRAME_HEADER)
      throw new Error(`${name} takes ${paramsEnd - FRAME_HEADER} words, not ${args.length}`);
    this.#save(head);
    const frame = head + HEADER;
    s[head + FRAME] = frame;
    s[frame + RETURN_PC] = BETWEEN_CALLS;
    s[frame + CALLER] = 0;
    for (let i = 0; i < args.length; i++) s[frame + FRAME_HEADER + i] = args[i];
    s.fill(0, frame + paramsEnd, frame + localsEnd);
    this.#run(head, entry, 1);
  }

  /** Performs the pending access, and runs on to the next one or the return. */
  step(t: number): void {
    const head = this.#expect(t, PENDING);
    this.#save(head);
    const s = this.#state;
    const pc = s[head + PC];
    if (this.#perform(head, pc)) this.#run(head, pc + STRIDE, 0);
  }

  /** Low word of what the last call has returned, or hostWait answered: 0 woken, 1 not equal, 2 timed out. */
  resultLo(t: number): number {
    return this.#state[this.#head(t) + VALUE];
  }

  resultHi(t: number): number {
    return this.#state[this.#head(t) + DETAIL];
  }

  /** LOAD, STORE, RMW, CMPXCHG, WAIT or NOTIFY. */
  pendingKind(t: number): number {
    return this.#state[this.#pc(t)] - OP_ACCESS;
  }

  pendingAddress(t: number): number {
    return this.#state[this.#head(t) + VALUE] >>> 0;
  }

  pendingBytes(t: number): number {
    return this.#state[this.#pc(t) + META] & BYTES;
  }

  /** Whether it may change the word, or who sleeps on it: all but a load. */
  pendingIsWrite(t: number): boolean {
    return this.#state[this.#pc(t)] !== OP_ACCESS;
  }

  pendingIsPlain(t: number): boolean {
    return (this.#state[this.#pc(t) + META] & PLAIN) !== 0;
  }

  /** The pending access, or the wait of a parked thread. */
  describe(t: number): Access {
    const pc = this.#pc(t);
    const meta = this.#state[pc + META];
    const kind = format.KINDS[this.#state[pc] - OP_ACCESS];
    return {
      kind,
      op: kind === 'rmw' ? format.RMW_OPS[meta >> RMW_SHIFT] : '',
      address: this.pendingAddress(t),
      bytes: (meta & BYTES) as Access['bytes'],
      plain: (meta & PLAIN) !== 0,
      fn: this.#functionAt(pc),
      offset: this.program.origins[pc / STRIDE],
    };
  }

  /** Names of the functions under way, innermost last. */
  frames(t: number): string[] {
    const s = this.#state;
    const head = this.#head(t);
    const names = [];
    let frame = s[head + FRAME];
    for (let pc = s[head + PC]; pc !== BETWEEN_CALLS; pc = s[frame + RETURN_PC], frame = s[frame + CALLER])
      names.unshift(this.#functionAt(pc));
    return names;
  }

  // --- Choices of the explorer ------------------------------------------------------------------------

  /** A parked thread's wait comes to its time. */
  timeOut(t: number): void {
    const head = this.#expect(t, PARKED);
    if (!this.canTimeOut(t)) throw new Error(`thread ${t} waits for ever`);
    this.#save(head);
    this.#resume(head, TIMED_OUT);
  }

  /** Whether the thread is parked with a time-out. */
  canTimeOut(t: number): boolean {
    const head = this.#head(t);
    return this.#state[head + STATUS] === PARKED && this.#state[head + DETAIL] !== 0;
  }

  /** Whether an engine may stop the thread where it is: it sleeps, or has passed an entry of a function or loop since its last access. */
  killable(t: number): boolean {
    const head = this.#head(t);
    const status = this.#state[head + STATUS];
    return status === PARKED || (status === PENDING && this.#state[head + DETAIL] !== 0);
  }

  /** Ends the thread, before its pending access. */
  kill(t: number): void {
    const s = this.#state;
    const head = this.#head(t);
    if (s[head + STATUS] === DEAD) throw new Error(`thread ${t} is dead`);
    this.#save(head);
    s[head + STATUS] = DEAD;
    if (!this.#deadSleepers) s[head + ORDER] = 0;
    s[head + PC] = BETWEEN_CALLS;
    this.#changed(head);
  }

  /** Low word of one of the thread's globals. */
  get(t: number, global: number): number {
    return this.#state[this.#globals(this.#head(t)) + 2 * global];
  }

  getHi(t: number, global: number): number {
    return this.#state[this.#globals(this.#head(t)) + 2 * global + 1];
  }

  set(t: number, global: number, lo: number, hi = 0): void {
    const head = this.#head(t);
    this.#save(head);
    this.#setGlobal(head, 2 * global, lo | 0);
    this.#setGlobal(head, 2 * global + 1, hi | 0);
  }

  // --- The host's own accesses ------------------------------------------------------------------------

  hostLoad32(address: number): number {
    return this.words[address >>> 2];
  }

  hostStore32(address: number, value: number): void {
    this.#put(address >>> 2, value | 0);
  }

  /** Adds, and returns what was there. */
  hostAdd32(address: number, value: number): number {
    const old = this.words[address >>> 2];
    this.hostStore32(address, old + value);
    return old;
  }

  /** Wakes up to `count` threads; returns how many. */
  hostNotify(address: number, count: number): number {
    return this.#notify(address | 0, count);
  }

  /** An IDLE thread sleeps on a word if it is as expected. IDLE again when notified, or `finite` and timed out. */
  hostWait(t: number, address: number, expected: number, finite = 0): void {
    const s = this.#state;
    const head = this.#expect(t, IDLE);
    this.#save(head);
    this.#changed(head);
    s[head + VALUE] = NOT_EQUAL;
    s[head + DETAIL] = 0;
    if (this.words[address >>> 2] === (expected | 0)) this.#park(head, address | 0, finite);
  }

  // --- Undo -------------------------------------------------------------------------------------------

  mark(): number {
    return this.#top;
  }

  /** Back to the state at the mark, which stays good. */
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
        this.#state[j[top]] = j[(top + 1) | 0];
      } else if (tag === FRAME_RECORD) {
        top = this.#bringFrameBack(top);
      } else {
        top = (top - HEADER - 2) | 0;
        copyHeader(j, top, this.#state, j[(top + HEADER) | 0]);
      }
    }
    this.#top = top;
  }

  /** Makes everything up to now impossible to undo, so that the journal starts anew. Marks are void. */
  forget(): void {
    this.#top = 0;
  }

  snapshot(): Snapshot {
    return {
      words: this.words.slice(),
      state: this.#state.slice(this.#first),
      hashLo: this.memoryHashLo,
      hashHi: this.memoryHashHi,
    };
  }

  /** Back to a snapshot. It cannot be undone: marks are void. */
  restore(snapshot: Snapshot): void {
    this.words.set(snapshot.words);
    this.#state.set(snapshot.state, this.#first);
    this.memoryHashLo = snapshot.hashLo;
    this.memoryHashHi = snapshot.hashHi;
    this.forget();
  }

  // --- Hash -------------------------------------------------------------------------------------------

  /** Hashes all of a thread that decides its future, into hashLo and hashHi. */
  threadHash(t: number): void {
    const s = this.#state;
    const head = this.#head(t);
    if ((s[head + HASH_LO] | s[head + HASH_HI]) === 0) this.#hashThread(head);
    let lo = s[head + HASH_LO];
    let hi = s[head + HASH_HI];
    if (s[head + ORDER] !== 0) {
      // How many are before it is not its own doing, so not in the hash that is kept.
      const place = this.#place(head) + 1;
      lo = nextLo(lo, place);
      hi = nextHi(hi, place);
    }
    this.hashLo = finishLo(lo);
    this.hashHi = finishHi(hi);
  }

  #hashThread(head: number): void {
    const s = this.#state;
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
      let list = this.#liveList(head, pc);
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

  // --- Within -----------------------------------------------------------------------------------------

  #head(t: number): number {
    return (this.#first + Math.imul(t, this.#stride)) | 0;
  }

  #globals(head: number): number {
    return (head + this.#own) | 0;
  }

  #pc(t: number): number {
    return this.#state[this.#head(t) + PC];
  }

  #expect(t: number, status: number): number {
    const head = this.#head(t);
    if (this.#state[head + STATUS] !== status)
      throw new Error(`thread ${t} has status ${this.#state[head + STATUS]}, not ${status}`);
    return head;
  }

  #functionAt(pc: number): string {
    return this.program.functions[this.program.owners[pc / STRIDE]].name;
  }

  /** Where the list is of the words that are live in the innermost frame. */
  #liveList(head: number, pc: number): number {
    const list = this.#state[pc + LIVE];
    return this.#state[head + STATUS] === PARKED ? list + this.#state[list] + 1 : list;
  }

  /** Its hash is not valid any more. */
  #changed(head: number): void {
    const s = this.#state;
    s[(head + HASH_LO) | 0] = 0;
    s[(head + HASH_HI) | 0] = 0;
  }

  #trap(what: string, pc: number): Trap {
    return new Trap(`${what} in ${this.#functionAt(pc)} at ${this.program.origins[pc / STRIDE]}`);
  }

  /** Room in the journal. */
  #reserve(words: number): void {
    if (this.#top + words <= this.#journal.length) return;
    const longer = new Int32Array(2 * this.#journal.length + words);
    longer.set(this.#journal);
    this.#journal = longer;
  }

  /** Puts a thread in the journal. Of its frames, the innermost: another is put there when it is returned to. */
  #save(head: number): void {
    const s = this.#state;
    const pc = s[(head + PC) | 0];
    if (pc !== BETWEEN_CALLS) this.#saveFrame(s[(head + FRAME) | 0], this.#liveList(head, pc));
    this.#reserve(HEADER + 2);
    const j = this.#journal;
    const top = this.#top | 0;
    copyHeader(s, head, j, top);
    j[(top + HEADER) | 0] = head;
    j[(top + HEADER + 1) | 0] = THREAD_RECORD;
    this.#top = (top + HEADER + 2) | 0;
  }

  #saveFrame(frame: number, list: number): void {
    this.#reserve(this.#record);
    const s = this.#state;
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

  /** The reverse, for the frame whose record ends there. Returns where it begins. */
  #bringFrameBack(end: number): number {
    const s = this.#state;
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

  #put(index: number, value: number): void {
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

  #setGlobal(head: number, word: number, value: number): void {
    const s = this.#state;
    const at = (this.#globals(head) + word) | 0;
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
    this.#changed(head);
    s[at] = value;
  }

  /** Reads up to 8 bytes into #lo and #hi. */
  #read(address: number, meta: number): void {
    const bytes = meta & BYTES;
    const index = address >>> 2;
    if (bytes >= 4 && (address & 3) === 0) {
      this.#lo = this.words[index];
      this.#hi = bytes === 8 ? this.words[index + 1] : meta & SIGNED ? this.#lo >> 31 : 0;
      return;
    }
    let lo = 0;
    let hi = 0;
    for (let i = 0; i < bytes; i++) {
      const byte = (this.words[(address + i) >>> 2] >>> (((address + i) & 3) * 8)) & 0xff;
      if (i < 4) lo |= byte << (i * 8);
      else hi |= byte << (i * 8 - 32);
    }
    if (meta & SIGNED) {
      const unused = Math.max(32 - bytes * 8, 0);
      lo = (lo << unused) >> unused;
      if (bytes <= 4) hi = lo >> 31;
    }
    this.#lo = lo;
    this.#hi = hi;
  }

  #write(address: number, bytes: number, lo: number, hi: number): void {
    const index = address >>> 2;
    if (bytes >= 4 && (address & 3) === 0) {
      this.#put(index, lo);
      if (bytes === 8) this.#put(index + 1, hi);
      return;
    }
    for (let i = 0; i < bytes; i++) {
      const byte = ((i < 4 ? lo >>> (i * 8) : hi >>> (i * 8 - 32)) & 0xff) >>> 0;
      const at = (address + i) >>> 2;
      const shift = ((address + i) & 3) * 8;
      this.#put(at, (this.words[at] & ~(0xff << shift)) | (byte << shift));
    }
  }

  /** Performs an access. Whether the thread goes on. */
  #perform(head: number, pc: number): boolean {
    const s = this.#state;
    const frame = s[(head + FRAME) | 0];
    s[FRAME_BASE] = frame;
    s[GLOBALS_BASE] = this.#globals(head);
    const address = s[(head + VALUE) | 0] >>> 0;
    const meta = s[(pc + META) | 0];
    const bytes = meta & BYTES;
    const dst = (frame + s[(pc + DST) | 0]) | 0;
    const b = (s[s[(pc + B) | 0] >>> AREA_SHIFT] + (s[(pc + B) | 0] & WORD)) | 0;
    const c = (s[s[(pc + C) | 0] >>> AREA_SHIFT] + (s[(pc + C) | 0] & WORD)) | 0;
    const wide = (meta & WIDE) !== 0;
    switch (s[pc]) {
      case 0x28: // load
        this.#read(address, meta);
        break;
      case 0x29: // store
        this.#write(address, bytes, s[b], s[(b + 1) | 0]);
        return true;
      case 0x2a: // rmw
        this.#read(address, meta);
        this.#modify(address, meta, s[b], wide ? s[(b + 1) | 0] : 0);
        break;
      case 0x2b: // cmpxchg
        this.#read(address, meta);
        // Of what is expected, only as many bytes count.
        if (((this.#lo ^ s[b]) & (bytes < 4 ? (1 << (8 * bytes)) - 1 : -1)) === 0)
          if (bytes < 8 || this.#hi === s[(b + 1) | 0])
            this.#write(address, bytes, s[c], wide ? s[(c + 1) | 0] : 0);
        break;
      case 0x2c: // wait
        this.#read(address, meta);
        if (this.#lo === s[b] && (!wide || this.#hi === s[(b + 1) | 0])) {
          this.#park(head, address | 0, s[(c + 1) | 0] >= 0 ? 1 : 0);
          return false;
        }
        s[dst] = NOT_EQUAL;
        return true;
      default: {
        // notify
        const count = s[b] >>> 0;
        s[dst] = this.#notify(address | 0, count);
        return true;
      }
    }
    s[dst] = this.#lo;
    if (wide) s[(dst + 1) | 0] = this.#hi;
    return true;
  }

  /** A read-modify-write's second half: what has been read is in #lo and #hi, and stays there. */
  #modify(address: number, meta: number, bl: number, bh: number): void {
    const al = this.#lo;
    const ah = this.#hi;
    let lo = bl;
    let hi = bh;
    switch (meta >> RMW_SHIFT) {
      case 0: // add
        lo = (al + bl) | 0;
        hi = (ah + bh + (lo >>> 0 < al >>> 0 ? 1 : 0)) | 0;
        break;
      case 1: // sub
        lo = (al - bl) | 0;
        hi = (ah - bh - (al >>> 0 < bl >>> 0 ? 1 : 0)) | 0;
        break;
      case 2: // and
        lo = al & bl;
        hi = ah & bh;
        break;
      case 3: // or
        lo = al | bl;
        hi = ah | bh;
        break;
      case 4: // xor
        lo = al ^ bl;
        hi = ah ^ bh;
        break;
    }
    this.#write(address, meta & BYTES, lo, hi);
  }

  // The queue of an address: whoever has an order there.

  #park(head: number, address: number, finite: number): void {
    const s = this.#state;
    let order = 1;
    for (let t = 0; t < this.threads; t++) {
      const other = this.#head(t);
      if (s[other + VALUE] === address && s[other + ORDER] >= order) order = s[other + ORDER] + 1;
    }
    s[head + STATUS] = PARKED;
    s[head + VALUE] = address;
    s[head + DETAIL] = finite;
    s[head + ORDER] = order;
    this.#changed(head);
  }

  /** How many are before it in its queue. */
  #place(head: number): number {
    const s = this.#state;
    let before = 0;
    for (let t = 0; t < this.threads; t++) {
      const other = this.#head(t);
      const order = s[other + ORDER];
      if (order !== 0 && order < s[head + ORDER] && s[other + VALUE] === s[head + VALUE]) before++;
    }
    return before;
  }

  #notify(address: number, count: number): number {
    const s = this.#state;
    let woken = 0;
    while (woken < count) {
      let first = -1;
      for (let t = 0; t < this.threads; t++) {
        const head = this.#head(t);
        if (s[head + ORDER] === 0 || s[head + VALUE] !== address) continue;
        if (first < 0 || s[head + ORDER] < s[first + ORDER]) first = head;
      }
      if (first < 0) break;
      this.#save(first);
      this.#resume(first, WOKEN);
      woken++;
    }
    return woken;
  }

  /** A sleeper leaves its queue; it has been saved. */
  #resume(head: number, answer: number): void {
    const s = this.#state;
    s[head + ORDER] = 0;
    this.#changed(head);
    if (s[head + STATUS] === DEAD) return;
    const pc = s[head + PC];
    if (pc === BETWEEN_CALLS) {
      s[head + STATUS] = IDLE;
      s[head + VALUE] = answer;
      s[head + DETAIL] = 0;
      return;
    }
    s[s[head + FRAME] + this.#state[pc + DST]] = answer;
    this.#run(head, pc + STRIDE, 0);
  }

  /**
   * Runs to the next access, or to the end of the call. The opcodes are written out as numbers, since the
   * engine makes a jump table only of a switch over literals.
   */
  #run(head: number, from: number, entered: number): void {
    const s = this.#state;
    let frame = s[(head + FRAME) | 0];
    s[FRAME_BASE] = frame;
    s[GLOBALS_BASE] = this.#globals(head);
    const limit = head + HEADER + this.program.stack;
    let killable = entered | 0;
    let patience = PATIENCE;
    let pc = from | 0;
    for (;;) {
      const ra = s[(pc + A) | 0];
      const rb = s[(pc + B) | 0];
      const a = (s[ra >>> AREA_SHIFT] + (ra & WORD)) | 0;
      const b = (s[rb >>> AREA_SHIFT] + (rb & WORD)) | 0;
      const d = (frame + s[(pc + DST) | 0]) | 0;
      let yes: boolean;
      // A comparison leaves the switch; all else goes on with the next instruction.
      switch (s[pc]) {
        case 0x00: // unreachable
          throw this.#trap('unreachable', pc);
        case 0x01: // a loop begins: the engine looks for interrupts there too
          killable = 1;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x0c: {
          // br
          const target = s[(pc + IMM) | 0];
          if (target <= pc) {
            killable = 1;
            patience -= (pc - target) / STRIDE + 1;
            if (patience < 0) throw this.#endless(pc);
          }
          pc = target;
          continue;
        }
        case 0x0e: {
          // br_table
          const last = s[(pc + META) | 0] - 1;
          const index = s[a] >>> 0;
          pc = s[s[(pc + IMM) | 0] + (index < last ? index : last)];
          continue;
        }
        case 0x0f: {
          // return
          const words = s[(pc + META) | 0];
          const lo = words > 0 ? s[a] : 0;
          const hi = words > 1 ? s[(a + 1) | 0] : 0;
          const back = s[(frame + RETURN_PC) | 0];
          if (back === BETWEEN_CALLS) {
            s[(head + STATUS) | 0] = IDLE;
            s[(head + PC) | 0] = BETWEEN_CALLS;
            s[(head + VALUE) | 0] = lo;
            s[(head + DETAIL) | 0] = hi;
            this.#changed(head);
            return;
          }
          frame = s[(frame + CALLER) | 0];
          this.#saveFrame(frame, s[(back + LIVE) | 0]);
          s[FRAME_BASE] = frame;
          const result = frame + s[back + DST];
          if (words > 0) s[result] = lo;
          if (words > 1) s[(result + 1) | 0] = hi;
          pc = back + STRIDE;
          continue;
        }
        case 0x10: {
          // call
          const callee = frame + rb;
          if (callee > limit) throw new Error(`too many calls within one another in ${this.#functionAt(pc)}`);
          s[(callee + RETURN_PC) | 0] = pc;
          s[(callee + CALLER) | 0] = frame;
          for (let i = callee + s[(pc + C) | 0]; i < callee + ra; i++) s[i] = 0;
          killable = 1;
          patience--;
          frame = callee;
          s[FRAME_BASE] = frame;
          pc = s[(pc + IMM) | 0];
          continue;
        }
        case 0x1b: {
          // select
          const rc = s[(pc + C) | 0];
          s[d] = s[(s[rc >>> AREA_SHIFT] + (rc & WORD)) | 0] !== 0 ? s[a] : s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x1c: {
          // select, i64
          const rc = s[(pc + C) | 0];
          const chosen = s[(s[rc >>> AREA_SHIFT] + (rc & WORD)) | 0] !== 0 ? a : b;
          const lo = s[chosen];
          s[(d + 1) | 0] = s[(chosen + 1) | 0];
          s[d] = lo;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x20: // move
          s[d] = s[a];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x21: // move, i64
          s[d] = s[a];
          s[(d + 1) | 0] = s[(a + 1) | 0];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x24: // global.set
          this.#setGlobal(head, s[(pc + IMM) | 0], s[a]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x25: // global.set, i64
          this.#setGlobal(head, s[(pc + IMM) | 0], s[a]);
          this.#setGlobal(head, s[(pc + IMM) | 0] + 1, s[(a + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x28: // an access of whatever kind
        case 0x29:
        case 0x2a:
        case 0x2b:
        case 0x2c:
        case 0x2d:
          // First, since it may throw: then the thread is where it was.
          s[(head + VALUE) | 0] = this.#effective(pc, s[a]);
          s[(head + STATUS) | 0] = PENDING;
          s[(head + PC) | 0] = pc;
          s[(head + FRAME) | 0] = frame;
          s[(head + DETAIL) | 0] = killable;
          this.#changed(head);
          return;
        case 0x3f: // memory.size
          s[d] = this.#bytes / PAGE;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x44: // not zero
          yes = s[a] !== 0;
          break;
        case 0x45: // i32.eqz
          yes = s[a] === 0;
          break;
        case 0x46: // i32.eq
          yes = s[a] === s[b];
          break;
        case 0x47: // i32.ne
          yes = s[a] !== s[b];
          break;
        case 0x48: // i32.lt_s
          yes = s[a] < s[b];
          break;
        case 0x49: // i32.lt_u
          yes = s[a] >>> 0 < s[b] >>> 0;
          break;
        case 0x4a: // i32.gt_s
          yes = s[a] > s[b];
          break;
        case 0x4b: // i32.gt_u
          yes = s[a] >>> 0 > s[b] >>> 0;
          break;
        case 0x4c: // i32.le_s
          yes = s[a] <= s[b];
          break;
        case 0x4d: // i32.le_u
          yes = s[a] >>> 0 <= s[b] >>> 0;
          break;
        case 0x4e: // i32.ge_s
          yes = s[a] >= s[b];
          break;
        case 0x4f: // i32.ge_u
          yes = s[a] >>> 0 >= s[b] >>> 0;
          break;
        case 0x50: // i64.eqz
          yes = s[a] === 0 && s[(a + 1) | 0] === 0;
          break;
        case 0x51: // i64.eq
          yes = s[a] === s[b] && s[(a + 1) | 0] === s[(b + 1) | 0];
          break;
        case 0x52: // i64.ne
          yes = s[a] !== s[b] || s[(a + 1) | 0] !== s[(b + 1) | 0];
          break;
        case 0x53: // i64.lt_s
          yes = s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 < s[b] >>> 0 : s[(a + 1) | 0] < s[(b + 1) | 0];
          break;
        case 0x54: // i64.lt_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0]
              ? s[a] >>> 0 < s[b] >>> 0
              : s[(a + 1) | 0] >>> 0 < s[(b + 1) | 0] >>> 0;
          break;
        case 0x55: // i64.gt_s
          yes = s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 > s[b] >>> 0 : s[(a + 1) | 0] > s[(b + 1) | 0];
          break;
        case 0x56: // i64.gt_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0]
              ? s[a] >>> 0 > s[b] >>> 0
              : s[(a + 1) | 0] >>> 0 > s[(b + 1) | 0] >>> 0;
          break;
        case 0x57: // i64.le_s
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 <= s[b] >>> 0 : s[(a + 1) | 0] < s[(b + 1) | 0];
          break;
        case 0x58: // i64.le_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0]
              ? s[a] >>> 0 <= s[b] >>> 0
              : s[(a + 1) | 0] >>> 0 < s[(b + 1) | 0] >>> 0;
          break;
        case 0x59: // i64.ge_s
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 >= s[b] >>> 0 : s[(a + 1) | 0] > s[(b + 1) | 0];
          break;
        case 0x5a: // i64.ge_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0]
              ? s[a] >>> 0 >= s[b] >>> 0
              : s[(a + 1) | 0] >>> 0 > s[(b + 1) | 0] >>> 0;
          break;
        case 0x67: // i32.clz
          s[d] = Math.clz32(s[a]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x68: // i32.ctz
          s[d] = ctz32(s[a]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x69: // i32.popcnt
          s[d] = popcount(s[a]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6a: // i32.add
          s[d] = s[a] + s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6b: // i32.sub
          s[d] = s[a] - s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6c: // i32.mul
          s[d] = Math.imul(s[a], s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6d: // i32.div_s
          if (s[b] === 0) throw this.#trap('division by zero', pc);
          if (s[a] === -0x80000000 && s[b] === -1) throw this.#trap('quotient too large', pc);
          s[d] = s[a] / s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6e: // i32.div_u
          if (s[b] === 0) throw this.#trap('division by zero', pc);
          s[d] = (s[a] >>> 0) / (s[b] >>> 0);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6f: // i32.rem_s
          if (s[b] === 0) throw this.#trap('division by zero', pc);
          s[d] = s[a] % s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x70: // i32.rem_u
          if (s[b] === 0) throw this.#trap('division by zero', pc);
          s[d] = (s[a] >>> 0) % (s[b] >>> 0);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x71: // i32.and
          s[d] = s[a] & s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x72: // i32.or
          s[d] = s[a] | s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x73: // i32.xor
          s[d] = s[a] ^ s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x74: // i32.shl
          s[d] = s[a] << s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x75: // i32.shr_s
          s[d] = s[a] >> s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x76: // i32.shr_u
          s[d] = s[a] >>> s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x77: // i32.rotl
          s[d] = (s[a] << s[b]) | (s[a] >>> -s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x78: // i32.rotr
          s[d] = (s[a] >>> s[b]) | (s[a] << -s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x79: // i64.clz
          s[d] = s[(a + 1) | 0] !== 0 ? Math.clz32(s[(a + 1) | 0]) : 32 + Math.clz32(s[a]);
          s[(d + 1) | 0] = 0;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x7a: // i64.ctz
          s[d] = s[a] !== 0 ? ctz32(s[a]) : 32 + ctz32(s[(a + 1) | 0]);
          s[(d + 1) | 0] = 0;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x7b: // i64.popcnt
          s[d] = popcount(s[a]) + popcount(s[(a + 1) | 0]);
          s[(d + 1) | 0] = 0;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x7c: {
          // i64.add
          const al = s[a];
          const lo = (al + s[b]) | 0;
          s[(d + 1) | 0] = s[(a + 1) | 0] + s[(b + 1) | 0] + (lo >>> 0 < al >>> 0 ? 1 : 0);
          s[d] = lo;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x7d: {
          // i64.sub
          const al = s[a];
          const bl = s[b];
          s[(d + 1) | 0] = s[(a + 1) | 0] - s[(b + 1) | 0] - (al >>> 0 < bl >>> 0 ? 1 : 0);
          s[d] = al - bl;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x7e: // i64.mul
          mul(s, d, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x7f: // i64.div_s
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.#trap('division by zero', pc);
          if (s[a] === 0 && s[(a + 1) | 0] === -0x80000000 && s[b] === -1 && s[(b + 1) | 0] === -1)
            throw this.#trap('quotient too large', pc);
          divide(s, d, true, false, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x80: // i64.div_u
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.#trap('division by zero', pc);
          divide(s, d, false, false, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x81: // i64.rem_s
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.#trap('division by zero', pc);
          divide(s, d, true, true, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x82: // i64.rem_u
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.#trap('division by zero', pc);
          divide(s, d, false, true, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x83: {
          // i64.and
          const lo = s[a] & s[b];
          s[(d + 1) | 0] = s[(a + 1) | 0] & s[(b + 1) | 0];
          s[d] = lo;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x84: {
          // i64.or
          const lo = s[a] | s[b];
          s[(d + 1) | 0] = s[(a + 1) | 0] | s[(b + 1) | 0];
          s[d] = lo;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x85: {
          // i64.xor
          const lo = s[a] ^ s[b];
          s[(d + 1) | 0] = s[(a + 1) | 0] ^ s[(b + 1) | 0];
          s[d] = lo;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0x86: // i64.shl
          shl(s, d, s[a], s[(a + 1) | 0], s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x87: // i64.shr_s
          shrS(s, d, s[a], s[(a + 1) | 0], s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x88: // i64.shr_u
          shrU(s, d, s[a], s[(a + 1) | 0], s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x89: // i64.rotl
          rotl(s, d, s[a], s[(a + 1) | 0], s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x8a: // i64.rotr
          rotl(s, d, s[a], s[(a + 1) | 0], -s[b]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0xac: {
          // i64.extend_i32_s
          const lo = s[a];
          s[d] = lo;
          s[(d + 1) | 0] = lo >> 31;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0xad: // i64.extend_i32_u
          s[d] = s[a];
          s[(d + 1) | 0] = 0;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0xc0: // i32.extend8_s
          s[d] = (s[a] << 24) >> 24;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0xc1: // i32.extend16_s
          s[d] = (s[a] << 16) >> 16;
          pc = (pc + STRIDE) | 0;
          continue;
        case 0xc2: {
          // i64.extend8_s
          const lo = (s[a] << 24) >> 24;
          s[d] = lo;
          s[(d + 1) | 0] = lo >> 31;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0xc3: {
          // i64.extend16_s
          const lo = (s[a] << 16) >> 16;
          s[d] = lo;
          s[(d + 1) | 0] = lo >> 31;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        case 0xc4: {
          // i64.extend32_s
          const lo = s[a];
          s[d] = lo;
          s[(d + 1) | 0] = lo >> 31;
          pc = (pc + STRIDE) | 0;
          continue;
        }
        default:
          throw new Error(`no such instruction: ${s[pc]}`);
      }
      const mode = s[(pc + META) | 0];
      if ((mode & NEGATED) !== 0) yes = !yes;
      if ((mode & BRANCHES) === 0) {
        s[d] = yes ? 1 : 0;
        pc = (pc + STRIDE) | 0;
      } else if (yes) {
        const target = s[(pc + IMM) | 0];
        if (target <= pc) {
          killable = 1;
          patience -= (pc - target) / STRIDE + 1;
          if (patience < 0) throw this.#endless(pc);
        }
        pc = target;
      } else pc = (pc + STRIDE) | 0;
    }
  }

  #endless(pc: number): Error {
    return new Error(`${this.#functionAt(pc)} runs on without an access to memory`);
  }

  /** Where an access goes, if it may. */
  #effective(pc: number, base: number): number {
    const meta = this.#state[pc + META];
    const address = (base >>> 0) + (this.#state[pc + IMM] >>> 0);
    const bytes = meta & BYTES;
    if (address + bytes > this.#bytes) throw this.#trap(`access out of bounds: ${address}`, pc);
    if ((meta & PLAIN) === 0 && address % bytes !== 0) throw this.#trap(`unaligned access: ${address}`, pc);
    if (address + bytes > this.words.length * 4)
      throw new Error(`${this.#functionAt(pc)} uses memory that is not stored: ${address}`);
    return address | 0;
  }
}
