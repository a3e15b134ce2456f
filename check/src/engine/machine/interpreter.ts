/**
 * The interpreter runs a thread's register code (code.ts) from one access to memory to the next, or to the end of the
 * call. No thread can see what another thread does between two accesses, so the interpreter runs this code without a
 * break.
 */
import * as format from '../wasm/code.js';

import * as i64 from './i64.js';
import { MachineState } from './state.js';
import * as layout from './state-layout.js';
import * as statuses from './status.js';

// These constants are local for speed, as in state.ts.
const { A, B, C, DST, IMM, LIVE, META, STRIDE } = format;
const { AREA_SHIFT, BRANCHES, BYTES, NEGATED, PLAIN, WORD } = format;
const { CALLER, RETURN_PC } = format;
const { BETWEEN_CALLS, FRAME_BASE, GLOBALS_BASE } = layout;
const { DETAIL, FRAME, HEADER, PC, STATUS, VALUE } = layout;
const { ctz32, divide, mul, popcount, rotl, shl, shrS, shrU } = i64;
const { IDLE, PENDING } = statuses;

const PAGE = 65536;

export class Interpreter extends MachineState {
  /** The most instructions that a loop may run between two accesses. A loop that runs more counts as endless. */
  patience = 100_000;

  /**
   * Runs to the next access, or to the end of the call. The opcodes in the switch are literal numbers, because V8 makes
   * a jump table only from literals.
   */
  protected run(head: number, from: number, entered: number): void {
    const s = this.state;
    let frame = s[(head + FRAME) | 0];
    s[FRAME_BASE] = frame;
    s[GLOBALS_BASE] = this.globals(head);
    const limit = head + HEADER + this.program.stack;
    let killable = entered | 0;
    let patience = this.patience;
    let pc = from | 0;
    for (;;) {
      const ra = s[(pc + A) | 0];
      const rb = s[(pc + B) | 0];
      const a = (s[ra >>> AREA_SHIFT] + (ra & WORD)) | 0;
      const b = (s[rb >>> AREA_SHIFT] + (rb & WORD)) | 0;
      const d = (frame + s[(pc + DST) | 0]) | 0;
      let yes: boolean;
      // A comparison leaves the switch. Any other instruction goes straight on to the next instruction.
      switch (s[pc]) {
        case 0x00: // unreachable
          throw this.trap('unreachable', pc);
        case 0x01: // a loop begins: V8 looks for interrupts there too
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
            this.#checkAnswer(pc, lo);
            s[(head + STATUS) | 0] = IDLE;
            s[(head + PC) | 0] = BETWEEN_CALLS;
            s[(head + VALUE) | 0] = lo;
            s[(head + DETAIL) | 0] = hi;
            this.changed(head);
            return;
          }
          // V8 looks for interrupts here too, once the function has run so often that it may be compiled better.
          killable = 1;
          frame = s[(frame + CALLER) | 0];
          this.saveFrame(frame, s[(back + LIVE) | 0]);
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
          if (callee > limit) throw new Error(`too many calls within one another in ${this.functionAt(pc)}`);
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
          this.setGlobal(head, s[(pc + IMM) | 0], s[a]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x25: // global.set, i64
          this.setGlobal(head, s[(pc + IMM) | 0], s[a]);
          this.setGlobal(head, s[(pc + IMM) | 0] + 1, s[(a + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x28: // an access of any kind
        case 0x29:
        case 0x2a:
        case 0x2b:
        case 0x2c:
        case 0x2d:
          // #effective may throw. It is called first, so if it throws, the thread is unchanged.
          s[(head + VALUE) | 0] = this.#effective(pc, s[a]);
          s[(head + STATUS) | 0] = PENDING;
          s[(head + PC) | 0] = pc;
          s[(head + FRAME) | 0] = frame;
          s[(head + DETAIL) | 0] = killable;
          this.changed(head);
          return;
        case 0x3f: // memory.size
          s[d] = this.bytes / PAGE;
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
            s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 < s[b] >>> 0 : s[(a + 1) | 0] >>> 0 < s[(b + 1) | 0] >>> 0;
          break;
        case 0x55: // i64.gt_s
          yes = s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 > s[b] >>> 0 : s[(a + 1) | 0] > s[(b + 1) | 0];
          break;
        case 0x56: // i64.gt_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 > s[b] >>> 0 : s[(a + 1) | 0] >>> 0 > s[(b + 1) | 0] >>> 0;
          break;
        case 0x57: // i64.le_s
          yes = s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 <= s[b] >>> 0 : s[(a + 1) | 0] < s[(b + 1) | 0];
          break;
        case 0x58: // i64.le_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 <= s[b] >>> 0 : s[(a + 1) | 0] >>> 0 < s[(b + 1) | 0] >>> 0;
          break;
        case 0x59: // i64.ge_s
          yes = s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 >= s[b] >>> 0 : s[(a + 1) | 0] > s[(b + 1) | 0];
          break;
        case 0x5a: // i64.ge_u
          yes =
            s[(a + 1) | 0] === s[(b + 1) | 0] ? s[a] >>> 0 >= s[b] >>> 0 : s[(a + 1) | 0] >>> 0 > s[(b + 1) | 0] >>> 0;
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
          if (s[b] === 0) throw this.trap('division by zero', pc);
          if (s[a] === -0x80000000 && s[b] === -1) throw this.trap('quotient too large', pc);
          s[d] = s[a] / s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6e: // i32.div_u
          if (s[b] === 0) throw this.trap('division by zero', pc);
          s[d] = (s[a] >>> 0) / (s[b] >>> 0);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x6f: // i32.rem_s
          if (s[b] === 0) throw this.trap('division by zero', pc);
          s[d] = s[a] % s[b];
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x70: // i32.rem_u
          if (s[b] === 0) throw this.trap('division by zero', pc);
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
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.trap('division by zero', pc);
          if (s[a] === 0 && s[(a + 1) | 0] === -0x80000000 && s[b] === -1 && s[(b + 1) | 0] === -1)
            throw this.trap('quotient too large', pc);
          divide(s, d, true, false, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x80: // i64.div_u
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.trap('division by zero', pc);
          divide(s, d, false, false, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x81: // i64.rem_s
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.trap('division by zero', pc);
          divide(s, d, true, true, s[a], s[(a + 1) | 0], s[b], s[(b + 1) | 0]);
          pc = (pc + STRIDE) | 0;
          continue;
        case 0x82: // i64.rem_u
          if (s[b] === 0 && s[(b + 1) | 0] === 0) throw this.trap('division by zero', pc);
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

  /** Throws if a call ends with a result that the function must not return. */
  #checkAnswer(pc: number, lo: number): void {
    const { answers, owners } = this.program;
    if (answers.get(owners[pc / STRIDE])?.has(lo) === false) throw this.trap(`the undeclared answer ${lo}`, pc);
  }

  #endless(pc: number): Error {
    return new Error(`${this.functionAt(pc)} runs on without an access to memory`);
  }

  /** Returns the address of an access. Throws if the address is out of bounds or unaligned. */
  #effective(pc: number, base: number): number {
    const meta = this.state[pc + META];
    const address = (base >>> 0) + (this.state[pc + IMM] >>> 0);
    const bytes = meta & BYTES;
    if (address + bytes > this.bytes) throw this.trap(`access out of bounds: ${address}`, pc);
    if ((meta & PLAIN) === 0 && address % bytes !== 0) throw this.trap(`unaligned access: ${address}`, pc);
    if (address + bytes > this.words.length * 4)
      throw new Error(`${this.functionAt(pc)} uses memory that is not stored: ${address}`);
    return address | 0;
  }
}
