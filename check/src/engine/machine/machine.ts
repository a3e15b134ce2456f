/**
 * The machine: threads that run register code over one memory, one access at a time.
 *
 *              call                       step: wait, and the word is as expected
 *     IDLE ───────────► PENDING ◄──────► PARKED
 *       ▲               │    ▲              │  notify, timeOut
 *       └── returned ───┘    └── step ──────┘           kill: any status ──► DEAD      cut: any status ──► IDLE
 *
 * A thread stops only before an access (interpreter.ts). So the machine knows the next access of a PENDING thread: its
 * kind, its address and its operands. `step` performs this access, and runs on to the next access or to the end of the
 * call. Every change can be undone (state.ts).
 */
import * as format from '../wasm/code.js';
import type { AccessKind } from '../wasm/opcodes.js';

import { Interpreter } from './interpreter.js';
import type { MachineOptions } from './state.js';
import * as layout from './state-layout.js';
import * as statuses from './status.js';

export { CMPXCHG, LOAD, NOTIFY, RMW, STORE, WAIT } from '../wasm/code.js';
export { type MachineOptions, type Snapshot, Trap } from './state.js';
export { DEAD, IDLE, PARKED, PENDING } from './status.js';

// V8 folds the values of these local constants into the code, as in state.ts.
const { B, C, DST, LIVE, META, STRIDE } = format;
const { AREA_SHIFT, BYTES, PLAIN, RMW_SHIFT, SIGNED, WIDE, WORD } = format;
const { CALLER, FRAME_HEADER, RETURN_PC, OP_ACCESS } = format;
const { BETWEEN_CALLS, FRAME_BASE, GLOBALS_BASE } = layout;
const { DETAIL, FRAME, HEADER, ORDER, PC, STATUS, VALUE } = layout;
const { IDLE, PENDING, PARKED, DEAD } = statuses;

// The answers of wait.
const WOKEN = 0;
const NOT_EQUAL = 1;
const TIMED_OUT = 2;

export interface Access {
  kind: AccessKind;
  /** The operation of a read-modify-write; empty otherwise. */
  op: string;
  /** The effective address in bytes. */
  address: number;
  bytes: 1 | 2 | 4 | 8;
  plain: boolean;
  fn: string;
  /** The offset of the instruction in the file. */
  offset: number;
}

export class Machine extends Interpreter {
  readonly #deadSleepers: boolean;
  // The value just read.
  #lo = 0;
  #hi = 0;

  constructor(program: format.Program, options: MachineOptions) {
    super(program, options);
    this.#deadSleepers = options.deadSleepers ?? false;
    for (let t = 0; t < this.threads && program.start !== undefined; t++) {
      this.call(t, program.start);
      if (this.status(t) !== IDLE) throw new Error('the start function accesses memory');
    }
    this.forget();
  }

  // --- Threads ----------------------------------------------------------------------------------------

  /** Returns the instruction of the pending access or the wait; -1 if no call is under way. */
  instruction(t: number): number {
    return this.state[this.head(t) + PC];
  }

  status(t: number): number {
    return this.state[this.head(t) + STATUS];
  }

  /** Calls a function by its index, and runs to its first access or its return. An i64 argument is two words. */
  call(t: number, fn: number, ...args: number[]): void {
    const s = this.state;
    const head = this.expect(t, IDLE);
    const { entry, paramsEnd, localsEnd, name } = this.program.functions[fn];
    if (args.length !== paramsEnd - FRAME_HEADER)
      throw new Error(`${name} takes ${paramsEnd - FRAME_HEADER} words, not ${args.length}`);
    this.save(head);
    const frame = head + HEADER;
    s[head + FRAME] = frame;
    s[frame + RETURN_PC] = BETWEEN_CALLS;
    s[frame + CALLER] = 0;
    for (let i = 0; i < args.length; i++) s[frame + FRAME_HEADER + i] = args[i];
    s.fill(0, frame + paramsEnd, frame + localsEnd);
    this.run(head, entry, 1);
  }

  /** Performs the pending access, and runs to the next access or to the return. */
  step(t: number): void {
    const head = this.expect(t, PENDING);
    this.save(head);
    const s = this.state;
    const pc = s[head + PC];
    if (this.#perform(head, pc)) this.run(head, pc + STRIDE, 0);
  }

  /** Returns the low word of the last call's result, or hostWait's answer: 0 woken, 1 not equal, 2 timed out. */
  resultLo(t: number): number {
    return this.state[this.head(t) + VALUE];
  }

  resultHi(t: number): number {
    return this.state[this.head(t) + DETAIL];
  }

  /** Returns LOAD, STORE, RMW, CMPXCHG, WAIT or NOTIFY. */
  pendingKind(t: number): number {
    return this.state[this.pcOf(t)] - OP_ACCESS;
  }

  pendingAddress(t: number): number {
    return this.state[this.head(t) + VALUE] >>> 0;
  }

  /** Returns the address of the pending access or of the wait; -1 if there is none. */
  accesses(t: number): number {
    const status = this.status(t);
    return status === PENDING || status === PARKED ? this.pendingAddress(t) : -1;
  }

  pendingBytes(t: number): number {
    return this.state[this.pcOf(t) + META] & BYTES;
  }

  /** Says whether the access may change the word, or the set of threads that sleep on the word: all but loads may. */
  pendingIsWrite(t: number): boolean {
    return this.state[this.pcOf(t)] !== OP_ACCESS;
  }

  pendingIsPlain(t: number): boolean {
    return (this.state[this.pcOf(t) + META] & PLAIN) !== 0;
  }

  /** Describes the pending access, or the wait of a parked thread. */
  describe(t: number): Access {
    const pc = this.pcOf(t);
    const meta = this.state[pc + META];
    const kind = format.KINDS[this.state[pc] - OP_ACCESS];
    return {
      kind,
      op: kind === 'rmw' ? format.RMW_OPS[meta >> RMW_SHIFT] : '',
      address: this.pendingAddress(t),
      bytes: (meta & BYTES) as Access['bytes'],
      plain: (meta & PLAIN) !== 0,
      fn: this.functionAt(pc),
      offset: this.program.origins[pc / STRIDE],
    };
  }

  /** Returns the names of the functions under way, innermost last. */
  frames(t: number): string[] {
    const s = this.state;
    const head = this.head(t);
    const names = [];
    let frame = s[head + FRAME];
    for (let pc = s[head + PC]; pc !== BETWEEN_CALLS; pc = s[frame + RETURN_PC], frame = s[frame + CALLER])
      names.unshift(this.functionAt(pc));
    return names;
  }

  // --- Choices of the explorer ------------------------------------------------------------------------

  /** Ends a parked thread's wait by its time-out. */
  timeOut(t: number): void {
    const head = this.expect(t, PARKED);
    if (!this.canTimeOut(t)) throw new Error(`thread ${t} waits for ever`);
    this.save(head);
    this.#resume(head, TIMED_OUT);
  }

  /** Says whether the thread is parked with a time-out. */
  canTimeOut(t: number): boolean {
    const head = this.head(t);
    return this.state[head + STATUS] === PARKED && this.state[head + DETAIL] !== 0;
  }

  /**
   * Says whether the runtime may stop the thread here, for good or by an exception: if the thread sleeps, or if it has
   * entered a function or a loop, or has returned from a function, since its last access.
   */
  killable(t: number): boolean {
    const head = this.head(t);
    const status = this.state[head + STATUS];
    return status === PARKED || (status === PENDING && this.state[head + DETAIL] !== 0);
  }

  /** Kills the thread, before its pending access. */
  kill(t: number): void {
    const s = this.state;
    const head = this.head(t);
    if (s[head + STATUS] === DEAD) throw new Error(`thread ${t} is dead`);
    this.save(head);
    s[head + STATUS] = DEAD;
    if (!this.#deadSleepers) s[head + ORDER] = 0;
    s[head + PC] = BETWEEN_CALLS;
    this.changed(head);
  }

  /** Ends the call of the thread before its pending access, or its sleep. The thread lives on, and has no result. */
  cut(t: number): void {
    const s = this.state;
    const head = this.head(t);
    // The next call of the thread writes over all frames of this one.
    let frame = s[head + FRAME];
    let back = s[head + PC] === BETWEEN_CALLS ? BETWEEN_CALLS : s[frame + RETURN_PC];
    while (back !== BETWEEN_CALLS) {
      frame = s[frame + CALLER];
      this.saveFrame(frame, s[back + LIVE]);
      back = s[frame + RETURN_PC];
    }
    this.save(head);
    s[head + STATUS] = IDLE;
    s[head + ORDER] = 0;
    s[head + PC] = BETWEEN_CALLS;
    s[head + VALUE] = 0;
    s[head + DETAIL] = 0;
    this.changed(head);
  }

  /** Returns the low word of one of the thread's globals. */
  get(t: number, global: number): number {
    return this.state[this.globals(this.head(t)) + 2 * global];
  }

  getHi(t: number, global: number): number {
    return this.state[this.globals(this.head(t)) + 2 * global + 1];
  }

  set(t: number, global: number, lo: number, hi = 0): void {
    const head = this.head(t);
    this.save(head);
    this.setGlobal(head, 2 * global, lo | 0);
    this.setGlobal(head, 2 * global + 1, hi | 0);
  }

  // --- The host's own accesses ------------------------------------------------------------------------

  hostLoad32(address: number): number {
    return this.words[address >>> 2];
  }

  hostStore32(address: number, value: number): void {
    this.put(address >>> 2, value | 0);
  }

  /** Adds `value` to a word, and returns the value that the word had before. */
  hostAdd32(address: number, value: number): number {
    const old = this.words[address >>> 2];
    this.hostStore32(address, old + value);
    return old;
  }

  /** Wakes up to `count` threads, and returns how many. */
  hostNotify(address: number, count: number): number {
    return this.#notify(address | 0, count);
  }

  /** Lets an IDLE thread sleep on a word if the word is as expected. With `finite` the wait may time out. */
  hostWait(t: number, address: number, expected: number, finite = 0): void {
    const s = this.state;
    const head = this.expect(t, IDLE);
    this.save(head);
    this.changed(head);
    s[head + VALUE] = NOT_EQUAL;
    s[head + DETAIL] = 0;
    if (this.words[address >>> 2] === (expected | 0)) this.#park(head, address | 0, finite);
  }

  // --- Within -----------------------------------------------------------------------------------------

  /** Reads up to 8 bytes into lo and hi. */
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
      this.put(index, lo);
      if (bytes === 8) this.put(index + 1, hi);
      return;
    }
    for (let i = 0; i < bytes; i++) {
      const byte = ((i < 4 ? lo >>> (i * 8) : hi >>> (i * 8 - 32)) & 0xff) >>> 0;
      const at = (address + i) >>> 2;
      const shift = ((address + i) & 3) * 8;
      this.put(at, (this.words[at] & ~(0xff << shift)) | (byte << shift));
    }
  }

  /** Performs an access. Returns whether the thread goes on. */
  #perform(head: number, pc: number): boolean {
    const s = this.state;
    const frame = s[(head + FRAME) | 0];
    s[FRAME_BASE] = frame;
    s[GLOBALS_BASE] = this.globals(head);
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
        // Of the expected value, only the bytes that the access covers count.
        if (((this.#lo ^ s[b]) & (bytes < 4 ? (1 << (8 * bytes)) - 1 : -1)) === 0)
          if (bytes < 8 || this.#hi === s[(b + 1) | 0]) this.#write(address, bytes, s[c], wide ? s[(c + 1) | 0] : 0);
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

  /** Does the second half of a read-modify-write. The value read is in lo and hi, and stays there. */
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

  // The queue of an address consists of the threads that sleep there, in the order of their ORDER.

  #park(head: number, address: number, finite: number): void {
    const s = this.state;
    let order = 1;
    for (let t = 0; t < this.threads; t++) {
      const other = this.head(t);
      if (s[other + VALUE] === address && s[other + ORDER] >= order) order = s[other + ORDER] + 1;
    }
    s[head + STATUS] = PARKED;
    s[head + VALUE] = address;
    s[head + DETAIL] = finite;
    s[head + ORDER] = order;
    this.changed(head);
  }

  #notify(address: number, count: number): number {
    const s = this.state;
    let woken = 0;
    while (woken < count) {
      let first = -1;
      for (let t = 0; t < this.threads; t++) {
        const head = this.head(t);
        if (s[head + ORDER] === 0 || s[head + VALUE] !== address) continue;
        if (first < 0 || s[head + ORDER] < s[first + ORDER]) first = head;
      }
      if (first < 0) break;
      this.save(first);
      this.#resume(first, WOKEN);
      woken++;
    }
    return woken;
  }

  /** Takes a sleeper out of its queue. The caller has saved it. */
  #resume(head: number, answer: number): void {
    const s = this.state;
    s[head + ORDER] = 0;
    this.changed(head);
    if (s[head + STATUS] === DEAD) return;
    const pc = s[head + PC];
    if (pc === BETWEEN_CALLS) {
      s[head + STATUS] = IDLE;
      s[head + VALUE] = answer;
      s[head + DETAIL] = 0;
      return;
    }
    s[s[head + FRAME] + this.state[pc + DST]] = answer;
    this.run(head, pc + STRIDE, 0);
  }
}
