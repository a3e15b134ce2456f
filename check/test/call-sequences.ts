/**
 * Draws random sequences of calls of a module by three threads, one call at a time. Each call is made on the machine
 * and in the runtime, and must have the same answer or trap in both. Most of the calls are sane, but not all.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Machine } from '../src/engine/machine/machine.js';
import { decode } from '../src/engine/wasm/decode.js';
import { joined } from '../src/engine/wasm/link.js';
import { translate } from '../src/engine/wasm/translate.js';
import { type ProgramName, shortName } from '../src/programs.js';
import { constant } from '../src/scene/layout.js';
import {
  callMachine,
  callReal,
  type Draw,
  instantiate,
  type Outcome,
  PAGE,
  sameWords,
  type Type,
  type Value,
} from './engine/machine-support.js';

const REAPED = constant('REAPED');
const CANCELLED = constant('CANCELLED');
const QUEUED = constant('QUEUED');
const TIMED_OUT = constant('TIMED_OUT');
const MORE = constant('MORE');
const HEAD = constant('HEAD');
const INTERRUPTED = constant('INTERRUPTED');
const CUT_SHORT = constant('CUT_SHORT');
const MUTEX = constant('KIND_MUTEX');
const RW_LOCK = constant('KIND_RW_LOCK');
const CHANNEL = constant('KIND_CHANNEL');
const RECEIVING_END = constant('KIND_RECEIVING_END');
const WATCH = constant('KIND_WATCH');
const WATCHING_END = constant('KIND_WATCHING_END');
const SENDERS = constant('P_SENDERS');
const LENGTH = constant('PLACE_LENGTH');
const PLACE = 64;
export const THREADS = 3;
const NAME_BYTES = 20;
const NAME_LENGTH = constant('N_LENGTH');
const KINDS = ['KIND_SEMAPHORE', 'KIND_TICKET_SEMAPHORE', 'KIND_TWA_SEMAPHORE'].map(constant);

function read(name: string) {
  const bytes = readFileSync(new URL(`../../build/${name}.wasm`, import.meta.url));
  const text = readFileSync(new URL(`../../build/${name}.wat`, import.meta.url), 'utf8');
  return { decoded: decode(bytes, text, shortName), compiled: new WebAssembly.Module(bytes) };
}

/** Loads a module; with the core also the module of channels, of which each thread has an instance beside the core. */
export function load(name: ProgramName) {
  const { decoded: module, compiled } = read(name);
  if (name !== 'core') return { name, decoded: module, program: translate(module), compiled, beside: undefined };
  const { decoded: other, compiled: beside } = read('channel');
  // On the machine the two instances are one. So adopt has nothing to do, and sleepOn is that of the core.
  const own = [...other.exports.keys()].filter(
    (one) => !module.exports.has(one) && one !== 'adopt' && one !== 'sleepOn',
  );
  const decoded = joined(module, other, own);
  return { name, decoded, program: translate(decoded), compiled, beside };
}

type Loaded = ReturnType<typeof load>;

/** Most counts are sane, but not all. */
const counts = [1, 1, 1, 1, 2, 2, 3, 5, 0, -1, 0x7fffffff, -0x80000000];
const permits = [0, 0, 1, 1, 2, 3, 0x7fffffff, -1];
const firsts = [0n, 0n, 2n ** 32n - 2n, 2n ** 32n - 1n, 2n ** 53n - 1n, 2n ** 61n - 2n, -2n, 2n ** 63n - 2n];
/** A page for the arena, and what metrics take behind it. Between the two lie the places of channels. */
export const BYTES = PAGE + constant('METRICS_SIZE');
const strays = [0, 4, 60, 512, 2052, BYTES - 4, BYTES, -8];

interface Thread {
  readonly real: Record<string, (...args: Value[]) => Value | undefined>;
  /** Tells the instance of the module of channels which thread it is of. On the machine both modules have one `me`. */
  readonly adopt: ((thread: number) => unknown) | undefined;
  /** The last answer of acquire, which enqueue takes. */
  acquired: number;
  /** The last answer of release, which finishRelease takes. */
  released: number;
}

/** A run of promises of a thread on a semaphore, and how many promises are left. */
interface Run {
  readonly t: number;
  readonly s: number;
  readonly number: number;
  left: number;
}

/** Says that a thread is attached to a semaphore. */
interface Attachment {
  readonly t: number;
  readonly s: number;
  readonly number: number;
}

const LOCKS = ['tts', 'ticket', 'twa', 'mcs', 'clh', 'lifo', 'recip', 'capacitor', 'capacitor'];

const TRAP = Symbol('trap');

/** A sequence draws calls, and makes each call on the machine and in the runtime. */
export class Sequence {
  readonly #loaded: Loaded;
  readonly #machine: Machine;
  readonly #words: Int32Array;
  readonly #draw: Draw;
  readonly #threads: Thread[];
  readonly #objects: number[] = [];
  readonly #robust = new Set<number>();
  #attachments: Attachment[] = [];
  /** The runs with promises that are not settled. */
  #runs: Run[] = [];
  readonly #log: string[] = [];
  readonly #performed: Set<number>;

  constructor(loaded: Loaded, machine: Machine, memory: WebAssembly.Memory, draw: Draw, performed: Set<number>) {
    this.#loaded = loaded;
    this.#machine = machine;
    this.#words = new Int32Array(memory.buffer);
    this.#words.fill(0);
    this.#draw = draw;
    this.#performed = performed;
    this.#threads = Array.from({ length: THREADS }, () => {
      const core = instantiate(loaded.compiled, memory);
      const channel = loaded.beside && instantiate(loaded.beside, memory, core);
      return { real: { ...channel, ...core } as never, adopt: channel?.adopt as never, acquired: 0, released: 0 };
    });
  }

  /** A third of the sequences use a mutex, and half of the others a channel or a watch. */
  #isOfMutexes = false;
  #isOfChannels = false;

  /** Returns how many calls were made, and how many trapped. */
  run(): { calls: number; traps: number } {
    // The sizes are those of objects, threads, buckets, chains and elements.
    const pick = (...sizes: number[]) => sizes[this.#draw(sizes.length)] as number;
    const sizes = [pick(2, 3), pick(2, 3), pick(1, 2), pick(1, 2), pick(3, 8, 8, 24)];
    const algorithms = this.#loaded.name === 'algorithms';
    if (this.#draw(20)) this.#call(0, 'create', [BigInt(this.#draw(99)), ...sizes]);
    for (let t = 0; t < THREADS; t++) {
      if (algorithms) this.#call(t, 'adopt', [t + 1]);
      else this.#call(t, 'open', []);
      if (!algorithms) this.#threads[t]?.adopt?.(0);
      if (!algorithms && this.#draw(10)) this.#register(t);
    }
    this.#create(0);
    this.#isOfMutexes = !algorithms && this.#draw(3) === 0;
    this.#isOfChannels = !algorithms && !this.#isOfMutexes && this.#draw(2) === 0;
    let traps = 0;
    let calls = 0;
    for (const end = 5 + this.#draw(this.#draw(10) ? 30 : 150); calls < end; calls++) {
      const t = this.#draw(THREADS);
      if (this.#one(t) !== 'trap') continue;
      traps++;
      break;
    }
    expect(sameWords(this.#machine.words, this.#words), this.#log.join('\n')).toBe(true);
    return { calls, traps };
  }

  /** Makes one of the calls of the module, and what follows it. */
  #one(t: number): Outcome | 'stuck' {
    try {
      return this.#loaded.name === 'algorithms' ? this.#algorithm(t) : this.#any(t);
    } catch (error) {
      if (error !== TRAP) throw error;
      return 'trap';
    }
  }

  /** Makes a call after which others follow. A trap ends all of them. */
  #go(t: number, name: string, args: readonly Value[]): Outcome | 'stuck' {
    const outcome = this.#call(t, name, args);
    if (outcome === 'trap') throw TRAP;
    return outcome;
  }

  #call(t: number, name: string, args: readonly Value[]): Outcome | 'stuck' {
    const machine = this.#machine;
    const { real } = this.#threads[t] as Thread;
    const { program, decoded } = this.#loaded;
    const index = program.exports.get(name) as number;
    const result = decoded.functions[index]?.type.results[0] as Type | undefined;
    const mark = machine.mark();
    const found = callMachine(machine, t, index, args, result, () => this.#performed.add(machine.describe(t).offset));
    this.#log.push(`${t} ${name}(${args}) = ${found}`);
    if (found === 'stuck') {
      // The runtime would block, so the call is undone.
      machine.undo(mark);
      return found;
    }
    const expected = callReal(real[name] as never, args);
    if (found !== expected) expect(found, this.#log.join('\n')).toBe(expected);
    return found;
  }

  #from<T>(items: readonly T[]): T {
    return items[this.#draw(items.length)] as T;
  }

  #object(): number {
    if (this.#objects.length === 0 || this.#draw(100) === 0) return this.#from(strays);
    return this.#from(this.#objects);
  }

  /** Returns the runs of a thread on a semaphore, in order. Seldom returns a run that the thread does not have. */
  #runsOf(t: number, s: number): Run[] {
    if (this.#draw(200) === 0) return [{ t, s, number: 1 + this.#draw(4), left: 1 }];
    return this.#runs.filter((run) => run.t === t && run.s === s);
  }

  /** Returns where the thread counts its permits, if the semaphore is robust. Seldom returns a wrong place. */
  #counted(t: number, s: number): number {
    if (this.#draw(200) === 0) return 1 + this.#draw(8);
    if (!this.#robust.has(s)) return 0;
    return this.#attachments.find((each) => each.t === t && each.s === s)?.number ?? 0;
  }

  /** Notes the answer of an attempt to attach. If the attempt succeeded, notes the attachment and its semaphore. */
  #attached(t: number, number: Outcome | 'stuck', robust?: boolean) {
    if (typeof number !== 'number' || number <= 0) return number;
    const s = this.#call(t, 'attachedTo', [number]);
    if (typeof s !== 'number') return s;
    this.#attachments.push({ t, s, number });
    if (!this.#objects.includes(s)) this.#objects.push(s);
    if (robust === true) this.#robust.add(s);
    else if (robust === false) this.#robust.delete(s);
    return number;
  }

  /** Forgets what a thread had that was reaped or has ended. Mostly the thread registers anew. */
  #forget(t: number): Outcome | 'stuck' {
    this.#runs = this.#runs.filter((run) => run.t !== t);
    this.#attachments = this.#attachments.filter((each) => each.t !== t);
    if (this.#draw(8)) return this.#register(t);
    this.#threads[t]?.adopt?.(0);
    return 0;
  }

  #register(t: number): Outcome | 'stuck' {
    const outcome = this.#call(t, 'register', [t + 1]);
    if (typeof outcome === 'number' && outcome > 0) this.#threads[t]?.adopt?.(outcome);
    return outcome;
  }

  /** Lets thread t reap a thread, mostly another thread. */
  #reap(t: number) {
    const u = this.#draw(20) ? (t + 1 + this.#draw(THREADS - 1)) % THREADS : t;
    const me = this.#loaded.program.globals.findIndex(({ name }) => name === 'threads/me');
    const index = this.#machine.get(u, me);
    const life = this.#call(t, 'lifeIfAlive', [index]);
    if (typeof life !== 'number') return life;
    const outcome = this.#call(t, 'reap', [index, life + (this.#draw(8) ? 0 : 4), this.#draw(2)]);
    return outcome === REAPED ? this.#forget(u) : outcome;
  }

  /** Notes that `count` promises of a run have been settled. */
  #settled(run: Run | undefined, count: number): void {
    if (!run) return;
    run.left -= Math.max(count, 0);
    this.#runs = this.#runs.filter(({ left }) => left > 0);
  }

  #cancelRun(t: number, run: Run) {
    const outcome = this.#call(t, 'cancelRun', [run.number]);
    if (outcome === CANCELLED || outcome === MORE) this.#settled(run, run.left);
    // Now and then an exception ends the second call before it has begun.
    return outcome === MORE && this.#draw(10) ? this.#call(t, 'finishCancelRun', []) : outcome;
  }

  #finishRelease(t: number, s: number, n: number, released: number) {
    const [run] = this.#runsOf(t, s);
    const outcome = run
      ? this.#call(t, 'finishReleaseAndSettle', [s, n, released, run.number, this.#counted(t, s)])
      : this.#call(t, 'finishRelease', [s, n, released, this.#counted(t, s)]);
    if (typeof outcome === 'number') this.#settled(run, outcome);
    return outcome;
  }

  #arrive(t: number, s: number, n: number) {
    const last = this.#runsOf(t, s).at(-1);
    const outcome = this.#call(t, 'arrive', [s, n, last?.number ?? 0, this.#counted(t, s)]);
    if (typeof outcome !== 'number' || outcome <= 0) return outcome;
    if (last && outcome === last.number) last.left++;
    else this.#runs.push({ t, s, number: outcome, left: 1 });
    return outcome;
  }

  #settle(t: number, s: number) {
    const [run] = this.#runsOf(t, s);
    if (!run) return this.#arrive(t, s, 1);
    const outcome = this.#call(t, 'settle', [run.number, this.#counted(t, s)]);
    if (outcome === -1) {
      this.#settled(run, run.left);
      return this.#call(t, 'dropRun', [run.number]);
    }
    if (typeof outcome === 'number') this.#settled(run, outcome);
    return outcome === 0 ? this.#call(t, 'enterRun', [run.number]) : outcome;
  }

  #create(t: number) {
    const args = [
      this.#draw(8) ? this.#from(KINDS) : RW_LOCK,
      this.#from(permits),
      this.#from(permits),
      this.#draw(3),
      this.#draw(3),
    ];
    // The algorithms' semaphores are never robust. They have the hash in place of `robust`.
    const inCore = this.#loaded.program.exports.has('register');
    const robust = this.#draw(inCore ? 2 : 5);
    const made = this.#call(t, 'createObject', [...args, robust, this.#variant(inCore), this.#from(firsts)]);
    return this.#attached(t, made, inCore && robust === 1);
  }

  /** Draws the words O_WAKE and O_LAZY of an object of the algorithms. */
  #variant(inCore: boolean): bigint {
    return inCore ? 0n : BigInt(this.#draw(3)) | (BigInt(this.#draw(2)) << 32n);
  }

  /** Writes a name, as the library does before openName. */
  #name(t: number) {
    const draft = this.#call(t, 'draftName', []);
    if (typeof draft !== 'number') return draft;
    const length = this.#draw(24);
    const letter = this.#draw(2);
    this.#machine.hostStore32(draft + NAME_LENGTH, length);
    this.#words[(draft + NAME_LENGTH) >> 2] = length;
    for (let i = 0; i < length; i++) {
      const at = draft + NAME_BYTES + i;
      const bits = (97 + (i === length - 1 ? letter : 0)) << ((at & 3) * 8);
      const word = ((this.#words[at >> 2] as number) & ~(0xff << ((at & 3) * 8))) | bits;
      this.#machine.hostStore32(at & ~3, word);
      this.#words[at >> 2] = word;
    }
    const count = this.#from(permits);
    const kind = this.#from(KINDS);
    const max = this.#from([count, 2]);
    const robust = this.#draw(5) === 0;
    const args = [length, kind, count, max, 1, 1, Number(robust), 0];
    return this.#attached(t, this.#call(t, 'openName', args), robust);
  }

  readonly #mutexes: number[] = [];

  /** Makes a call on a mutex. If another call must follow, this call mostly follows. */
  #mutex(t: number): Outcome | 'stuck' {
    if (this.#mutexes.length === 0) {
      const number = this.#attached(
        t,
        this.#call(t, 'createObject', [MUTEX, 1, this.#from([0, 1, 3, 300]), 2, 0, 1, 0n, this.#from(firsts)]),
        true,
      );
      const made = this.#attachments.at(-1);
      if (typeof number !== 'number' || number <= 0 || !made) return number;
      this.#mutexes.push(made.s);
      this.#objects.splice(this.#objects.indexOf(made.s), 1);
      return number;
    }
    const m = this.#draw(100) ? (this.#mutexes[0] as number) : this.#object();
    const counted = this.#counted(t, m);
    if (counted === 0 && this.#draw(10)) {
      const generation = this.#call(t, 'generation', [m]);
      if (typeof generation !== 'number') return generation;
      return this.#attached(t, this.#call(t, 'attach', [m, generation, MUTEX]), true);
    }
    switch (this.#draw(16)) {
      case 0:
        return this.#call(t, 'tryLock', [m]);
      case 1:
        if (counted !== 0 && this.#draw(3) === 0) return this.#call(t, 'waitsSince', [counted, this.#draw(1000)]);
        return this.#call(t, this.#from(['ownerOf', 'waitersOf', 'ownersDied', 'wakeHead']), [m]);
      case 2:
        return this.#draw(5) ? this.#call(t, 'unlock', [m]) : this.#call(t, 'mutexDispose', [m]);
      case 3:
        return this.#draw(4)
          ? this.#call(t, this.#from(['cancelHead', 'reserveLock']), [m, counted])
          : this.#call(t, 'cancel', [m, counted]);
      case 4:
        return this.#reap(t);
      case 5:
      case 6: {
        const outcome = this.#arrive(t, m, 1);
        return outcome === 0 ? this.#call(t, 'reserveLock', [m, counted]) : outcome;
      }
      case 7: {
        const outcome = this.#settle(t, m);
        return outcome === 1 ? this.#call(t, 'reserveLock', [m, counted]) : outcome;
      }
      case 8: {
        const run = this.#from(this.#runs.filter((each) => each.t === t && each.s === m));
        if (!run) return this.#arrive(t, m, 1);
        return this.#cancelRun(t, run);
      }
      case 9:
      case 10:
      case 11:
      case 12: {
        const [run] = this.#runsOf(t, m);
        if (run && this.#draw(3)) {
          const given = this.#call(t, 'unlockToOwn', [m, run.number, counted]);
          if (given === 1) this.#settled(run, 1);
          if (given !== 0) return given;
        }
        const outcome = this.#call(t, 'unlock', [m]);
        return outcome === MORE && this.#draw(10) ? this.#call(t, 'wakeHead', [m]) : outcome;
      }
      default:
        return this.#lockMutex(t, m, counted);
    }
  }

  #lockMutex(t: number, m: number, counted: number): Outcome | 'stuck' {
    let outcome = this.#call(t, 'lock', [m]);
    if (outcome === 'trap' || outcome === 0 || this.#draw(20) === 0) return outcome;
    if (this.#draw(3) === 0) this.#call(t, 'turnLasted', [m, this.#draw(1000)]);
    outcome = this.#call(t, 'queue', [m, counted]);
    if (outcome === QUEUED) {
      outcome = this.#call(t, 'parkFor', [1n, this.#draw(9), counted]);
      if (outcome === TIMED_OUT && this.#draw(3)) outcome = this.#call(t, 'cancel', [m, counted]);
      return outcome;
    }
    if (outcome !== HEAD || this.#draw(20) === 0) return outcome;
    for (let tries = this.#draw(3); tries >= 0 && (outcome === HEAD || outcome === TIMED_OUT); tries--)
      outcome = this.#call(t, 'compete', [m, BigInt(this.#draw(4) - 1), counted]);
    return outcome === TIMED_OUT && this.#draw(2) ? this.#call(t, 'cancelHead', [m, counted]) : outcome;
  }

  /** The ends of the channel or watch of the sequence. */
  #ends: { readonly f: number; readonly m: number; readonly isWatch: boolean } | undefined;

  /** Makes both ends of a channel or a watch, and links them. */
  #makeEnds(t: number): Outcome | 'stuck' {
    const isWatch = this.#draw(3) === 0;
    const capacity = isWatch ? 4 : this.#from([1, 2, 4]);
    // Seldom there is no room for the places.
    const place = this.#draw(8) ? PLACE : PAGE;
    const make = (kind: number, permits: number, robust: number, peer: number) => {
      const args = [kind, permits, capacity - 1, this.#draw(2), place, robust, BigInt(peer), 0n];
      return this.#attached(t, this.#go(t, 'createObject', args), robust === 1);
    };
    const [ofF, ofM] = isWatch ? [WATCH, WATCHING_END] : [CHANNEL, RECEIVING_END];
    const first = make(ofF, isWatch ? 1 : capacity, 1, 0);
    if (typeof first !== 'number' || first <= 0) return first;
    const f = this.#attachments.at(-1)?.s as number;
    const second = make(ofM, 0, Number(!isWatch), f);
    if (typeof second !== 'number' || second <= 0) return second;
    const m = this.#attachments.at(-1)?.s as number;
    if (this.#go(t, 'claimPages', [m]) !== 1) return this.#go(t, 'freePages', []);
    if (!isWatch && this.#draw(2)) this.#store(m + SENDERS, 1 + this.#draw(2));
    this.#go(t, 'link', [f, m]);
    if (this.#draw(4)) this.#go(t, 'keep', [f]);
    if (this.#draw(4)) this.#go(t, 'keep', [m]);
    this.#ends = { f, m, isWatch };
    return this.#go(t, 'agree', [f, 1 + this.#draw(2)]);
  }

  #store(address: number, value: number): void {
    this.#machine.hostStore32(address, value);
    this.#words[address >> 2] = value;
  }

  /** Makes a call on a channel or a watch. If another call must follow, it mostly follows. */
  #channel(t: number): Outcome | 'stuck' {
    if (this.#ends === undefined) return this.#makeEnds(t);
    const { f, m, isWatch } = this.#ends;
    const [o, peer] = this.#draw(2) ? [f, m] : [m, f];
    const kinds = isWatch ? [WATCH, WATCHING_END] : [CHANNEL, RECEIVING_END];
    for (const [i, end] of [f, m].entries()) {
      if (this.#attachments.some((each) => each.t === t && each.s === end) || this.#draw(20) === 0) continue;
      const generation = this.#go(t, 'generation', [end]);
      if (typeof generation !== 'number') return generation;
      return this.#attached(t, this.#go(t, 'attach', [end, generation, kinds[i] as number]), i === 0 || !isWatch);
    }
    const attachment = this.#attachments.find((each) => each.t === t && each.s === o)?.number ?? 1;
    switch (this.#draw(24)) {
      case 0:
        return this.#reap(t);
      case 1:
        return this.#go(t, 'dispose', [o]);
      case 2:
        if (this.#draw(3) === 0) return this.#go(t, 'asks', [o]);
        this.#go(t, ...((isWatch ? ['closeWatch', [f]] : ['close', [f, m]]) as [string, Value[]]));
        return this.#draw(4) ? this.#go(t, 'finishClose', [f, m]) : 0;
      case 3:
        if (this.#draw(4) === 0) return this.#go(t, 'freePages', []);
        return this.#go(t, this.#from(['takeUntold', 'settleUp', 'generation', 'pollFor']), [o]);
      case 4: {
        const ofF = this.#attachments.find((each) => each.t === t && each.s === f)?.number ?? 1;
        if (isWatch) return this.#go(t, 'isWhole', [f, this.#draw(5)]);
        return this.#draw(2) ? this.#go(t, 'beginSending', [ofF]) : this.#go(t, 'leaveSenders', [f, ofF]);
      }
      case 5:
      case 6:
        return this.#arrive(t, o, 1);
      case 7:
      case 8:
        return this.#settle(t, o);
      case 9: {
        const run = this.#from(this.#runs.filter((each) => each.t === t && each.s === o));
        if (!run) return this.#arrive(t, o, 1);
        return this.#cancelRun(t, run);
      }
      case 10:
      case 11:
      case 12: {
        // A thread that waits for places.
        const n = this.#from([1, 1, 2]);
        const counted = this.#counted(t, o);
        let outcome = this.#go(t, 'acquireRobust', [o, n, counted]);
        if (outcome === 'trap') return outcome;
        if (outcome !== 0) outcome = this.#go(t, 'enqueue', [o, n, outcome as number, counted]);
        if (outcome === QUEUED) outcome = this.#go(t, 'parkFor', [1n, this.#draw(9), counted]);
        if (outcome === TIMED_OUT && this.#draw(4)) outcome = this.#go(t, 'cancel', [o, counted]);
        if (outcome !== 0 || isWatch || this.#draw(20) === 0) return outcome;
        const place = this.#go(t, 'claim', [o, attachment, n]);
        return this.#pass(t, o, peer, attachment, place === CUT_SHORT);
      }
      default:
        return isWatch ? this.#setWatch(t, f, m) : this.#transfer(t, o, peer, attachment);
    }
  }

  /** Sends or receives without waiting. Sometimes the thread keeps its places. */
  #transfer(t: number, o: number, peer: number, attachment: number): Outcome | 'stuck' {
    if (this.#draw(6) === 0) return this.#pass(t, o, peer, attachment);
    if (this.#draw(3) === 0) {
      const { f } = this.#ends as { readonly f: number };
      return this.#go(t, o === f ? 'sendWord' : 'takeWord', [o, attachment]);
    }
    const place = this.#go(t, 'tryClaim', [o, attachment, 1 + this.#draw(2)]);
    if (place === CUT_SHORT && this.#draw(4)) return this.#pass(t, o, peer, attachment, true);
    if (typeof place !== 'number' || place % PLACE !== 0 || this.#draw(3) === 0) return place;
    if (this.#draw(2)) this.#store(place + LENGTH, this.#from([8, -1]));
    return this.#pass(t, o, peer, attachment);
  }

  /** Passes on the places that the thread has claimed, or drops them, as after a call that was cut short. */
  #pass(t: number, o: number, peer: number, attachment: number, drops = this.#draw(10) === 0): Outcome | 'stuck' {
    const outcome = drops
      ? this.#go(t, 'abandon', [o, attachment])
      : this.#go(t, 'pass', [o, attachment, this.#draw(2)]);
    return this.#finish(t, peer, 'channel/given', outcome);
  }

  #setWatch(t: number, f: number, m: number): Outcome | 'stuck' {
    const ofF = this.#attachments.find((each) => each.t === t && each.s === f)?.number ?? 1;
    const taken = this.#go(t, 'tryAcquireRobust', [f, 1, ofF]);
    if (taken !== 0 && this.#draw(4)) return taken;
    this.#go(t, 'beginSet', []);
    const outcome = this.#go(t, this.#draw(6) ? 'publish' : 'tell', [this.#draw(6) ? f : m]);
    const finished = this.#finish(t, m, 'watch/told', outcome);
    if (finished === 'trap' || this.#draw(10) === 0) return finished;
    const released = this.#go(t, 'releaseRobust', [f, 1, ofF]);
    return released === MORE ? this.#finishRelease(t, f, 1, MORE) : released;
  }

  /** Ends a release that the module of channels has begun. */
  #finish(t: number, o: number, given: string, outcome: Outcome | 'stuck'): Outcome | 'stuck' {
    if ((outcome !== MORE && outcome !== INTERRUPTED) || this.#draw(20) === 0) return outcome;
    const { program } = this.#loaded;
    const n = this.#machine.get(
      t,
      program.globals.findIndex(({ name }) => name === given),
    );
    return this.#finishRelease(t, o, n, outcome);
  }

  #inspect(t: number, s: number) {
    const [name, ...args] = this.#from<readonly [string, ...number[]]>([
      ...['added', 'balance', 'deaths', 'initial', 'timeouts', 'waiting'].map((name) => [name, s] as const),
      ...['liveObjects', 'mostElements', 'mostObjects', 'usedElements'].map((name) => [name] as const),
    ]);
    return this.#call(t, name, args);
  }

  #any(t: number): Outcome | 'stuck' {
    if (this.#isOfMutexes) return this.#draw(12) ? this.#mutex(t) : this.#anyOfSemaphores(t);
    if (this.#isOfChannels) return this.#draw(5) ? this.#channel(t) : this.#anyOfSemaphores(t);
    return this.#anyOfSemaphores(t);
  }

  #anyOfSemaphores(t: number): Outcome | 'stuck' {
    const thread = this.#threads[t] as Thread;
    const s = this.#object();
    const n = this.#from(counts);
    const number = (outcome: Outcome | 'stuck') => (typeof outcome === 'number' ? outcome : 0);
    const counted = this.#counted(t, s);
    const robust = counted !== 0 && this.#draw(10) > 0;
    switch (this.#draw(35)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const outcome = robust
          ? this.#call(t, 'acquireRobust', [s, n, counted])
          : n === 1 && this.#draw(2) > 0
            ? this.#call(t, 'acquireOne', [s])
            : this.#call(t, 'acquire', [s, n]);
        thread.acquired = number(outcome);
        // Mostly enqueue follows, and then parkFor, as they should. If parkFor would block, it is undone.
        if (this.#draw(4) === 0 || outcome === 'trap') return outcome;
        const enqueued = this.#call(t, 'enqueue', [s, n, thread.acquired, counted]);
        if (enqueued !== QUEUED || this.#draw(8) === 0) return enqueued;
        const parked = this.#call(t, 'parkFor', [BigInt(this.#draw(2)) - 1n, this.#draw(9), counted]);
        return (parked === 'stuck' || parked === TIMED_OUT) && this.#draw(3)
          ? this.#call(t, 'cancel', [s, counted])
          : parked;
      }
      case 4:
        return this.#draw(2)
          ? this.#call(t, 'enqueue', [s, n, thread.acquired, counted])
          : this.#call(t, 'park', [this.#draw(9), counted]);
      case 5:
      case 6:
      case 7:
      case 8: {
        const outcome = robust
          ? this.#call(t, 'releaseRobust', [s, n, counted])
          : n === 1 && this.#draw(2) > 0
            ? this.#call(t, this.#from(['releaseOne', 'releaseOneWithin']), [s])
            : this.#call(t, this.#from(['release', 'releaseWithin', 'add']), [s, n]);
        // After a refusal nothing is to be finished.
        thread.released = Math.max(number(outcome), 0);
        if (outcome === 'trap' || !thread.released || !this.#draw(6)) return outcome;
        return this.#finishRelease(t, s, n, thread.released);
      }
      case 9:
        return this.#finishRelease(t, s, n, thread.released);
      case 10:
      case 11:
        if (this.#draw(4) === 0) return this.#call(t, 'drain', [s, robust ? counted : 0]);
        return robust ? this.#call(t, 'tryAcquireRobust', [s, n, counted]) : this.#call(t, 'tryAcquire', [s, n]);
      case 12:
      case 13:
      case 14:
      case 15:
        return this.#arrive(t, s, n);
      case 16:
      case 17: {
        const [run] = this.#runsOf(t, s);
        if (run && this.#draw(4) === 0) {
          const given = this.#call(t, 'releaseToOwn', [s, n, run.number, counted]);
          if (given === 1) this.#settled(run, 1);
          return given;
        }
        return this.#settle(t, s);
      }
      case 18: {
        // Sometimes the generation is wrong by one.
        const generation = this.#call(t, 'generation', [s]);
        if (generation === 'trap') return generation;
        const stale = number(generation) + Math.max(this.#draw(5) - 3, 0);
        return this.#attached(t, this.#call(t, 'attach', [s, stale, this.#from(KINDS)]));
      }
      case 19: {
        const attachment = this.#from(this.#attachments.filter((each) => each.t === t));
        if (!attachment) return this.#call(t, 'mostThreads', []);
        this.#attachments = this.#attachments.filter((each) => each !== attachment);
        return this.#call(t, 'letGo', [attachment.number, this.#draw(2)]);
      }
      case 20:
        return this.#call(t, this.#draw(3) ? 'asks' : this.#from(['dispose', 'askAll']), [s]);
      case 21:
        return this.#call(t, this.#from(['exceeds', 'reduce', 'tryAcquire']), [s, n]);
      case 22:
        return this.#call(
          t,
          this.#from(['available', 'maxOf', 'generation', 'keep', 'isRobust', 'isDisposed', 'ownersDied']),
          [s],
        );
      case 23:
        return this.#draw(3)
          ? this.#call(t, this.#from(['threadCount', 'mostThreads', 'id', 'doorbell', 'open']), [])
          : this.#call(t, this.#from(['runtimeIdOf', 'lifeIfAlive', 'isAsleep']), [this.#draw(THREADS + 1)]);
      case 24:
        return this.#create(t);
      case 25:
        if (this.#draw(8)) return this.#name(t);
        if (this.#draw(2)) return this.#register(t);
        return this.#call(t, 'unregister', []) === 'trap' ? 'trap' : this.#forget(t);
      case 26:
        return this.#call(t, 'draftName', []);
      case 27:
        return this.#call(t, 'cancel', [s, counted]);
      case 28:
        return this.#reap(t);
      case 29:
        return this.#inspect(t, s);
      case 30:
        if (this.#draw(4) === 0) return this.#call(t, 'restoreOwnerDeaths', [s, this.#draw(3)]);
        return this.#call(t, 'held', [this.#attachments.find((each) => each.t === t)?.number ?? 1]);
      default: {
        const run = this.#from(this.#runs.filter((each) => each.t === t));
        if (!run) return this.#arrive(t, s, n);
        return this.#cancelRun(t, run);
      }
    }
  }

  /** Calls any function of the module, on an object of any kind. */
  #anyOf(t: number): Outcome | 'stuck' {
    const { program, decoded } = this.#loaded;
    const name = this.#from([...program.exports.keys()].filter((each) => !/^(create|measure|adopt)/.test(each)));
    const params = decoded.functions[program.exports.get(name) as number]?.type.params ?? [];
    const args = params.map((type, i) => {
      if (type === 'i64') return BigInt(this.#draw(4));
      return i === 0 ? this.#object() : this.#draw(4);
    });
    return this.#call(t, name, args);
  }

  /** The index of the kind of lock for which the first object serves; -1 before it is drawn. */
  #first = -1;

  /** Calls a lock. Each object serves for one kind of lock, so that its first word has one meaning. */
  #lock(t: number, s: number): Outcome | 'stuck' {
    if (this.#first < 0) this.#first = this.#draw(LOCKS.length);
    const kind = LOCKS[((s >>> 7) + this.#first) % LOCKS.length] as string;
    if (kind === 'capacitor') {
      const [name, ...args] = this.#from<readonly [string, ...number[]]>([
        ['capacitorDepart', s, 2],
        ['capacitorDepart', s, 1],
        ['capacitorIsIdle', s, 2],
        ['takeIfDue', s],
        ['ticketAcquire', s],
        ['laneOf', 3],
        ['lanesRelease', s, 1 + this.#draw(3), 3],
        ['laneOpen', s, s, this.#draw(3), 3],
        ['ticketAwait', s],
        ['ticketDispose', s],
      ]);
      return this.#call(t, name, args);
    }
    switch (this.#draw(24)) {
      case 0:
        return this.#call(t, this.#from(['closeObject', 'ttsDispose', 'ticketLockDispose', 'twaLockDispose']), [s]);
      case 1:
        return this.#call(t, this.#from(['neverPark', 'returnNodes']), []);
      default:
        return this.#call(t, `${kind}${this.#from(['Lock', 'Lock', 'TryLock', 'Unlock', 'Unlock'])}`, [s]);
    }
  }

  /** Calls the counter of a semaphore of P0514. */
  #counter(t: number, s: number): Outcome | 'stuck' {
    const count = this.#from(['countDown', 'tryCountDown', 'countUp', 'counted', 'cancelWaiting', 'closeCounter']);
    const args = { countUp: [this.#from(counts), this.#draw(4)], counted: [], closeCounter: [] }[count];
    return this.#call(t, count, [s, ...(args ?? [this.#from(counts)])]);
  }

  #algorithm(t: number): Outcome | 'stuck' {
    const s = this.#object();
    if (this.#draw(3) > 0) return this.#lock(t, s);
    switch (this.#draw(19)) {
      case 18:
        return this.#counter(t, s);
      case 12:
      case 13:
      case 14:
      case 15:
      case 16:
      case 17:
        return this.#anyOf(t);
      case 0:
        return this.#create(t);
      case 1:
        return this.#call(t, this.#from(['ticketDispose', 'twaDispose']), [s]);
      case 2:
      case 3:
      case 4:
        return this.#call(t, this.#from(['ticketAcquire', 'ticketAwait', 'ticketAwaitDelayed']), [s]);
      case 5:
      case 6:
      case 7:
        return this.#call(t, this.#from(['twaAcquire', 'twaAcquireSequestered', 'twaAwait']), [s]);
      default:
        return this.#draw(3)
          ? this.#call(t, this.#from(['ticketRelease', 'twaRelease', 'twaReleaseConservative']), [s, 1 + this.#draw(3)])
          : this.#call(t, this.#from(['twaAvailableSequestered', 'ticketPost', 'twaPost']), [s]);
    }
  }
}
