/** What the machine has beyond the runtime: steps, queues, kills, undo and hashes. */
import { describe, expect, it } from 'vitest';
import {
  DEAD,
  IDLE,
  Machine,
  type MachineOptions,
  PARKED,
  PENDING,
  Trap,
  WAIT,
} from '../../src/engine/machine/machine.js';
import { decode } from '../../src/engine/wasm/decode.js';
import { liveness } from '../../src/engine/wasm/liveness.js';
import { translate } from '../../src/engine/wasm/translate.js';
import { loadProgram } from '../../src/programs.js';
import { assemble, draws, PAGE, picture, signed, type TestFunction, type Type } from './machine-support.js';

const END = 0x0b;
const GET = 0x20;
const WAIT32 = [0xfe, 0x01, 2, 0];
const NOTIFY_OP = [0xfe, 0x00, 2, 0];
const LOAD32 = [0xfe, 0x10, 2, 0];
const STORE32 = [0xfe, 0x17, 2, 0];
const ADD32 = [0xfe, 0x1e, 2, 0];
const int = (value: number) => [0x41, ...signed(value)];

function machineOf(functions: TestFunction[], options: Partial<MachineOptions> = {}, globals: Type[] = []) {
  const program = translate(decode(assemble(functions, globals)));
  return new Machine(program, { bytes: PAGE, threads: 4, used: 1024, ...options });
}

const of = (body: number[], params: Type[] = [], result?: Type, locals: Type[] = []): TestFunction => ({
  params,
  result,
  locals,
  body: [...body, END],
});

/** wait(address, expected, timeout) and notify(address, count). */
const queue = [
  of([GET, 0, GET, 1, GET, 2, ...WAIT32], ['i32', 'i32', 'i64'], 'i32'),
  of([GET, 0, GET, 1, ...NOTIFY_OP], ['i32', 'i32'], 'i32'),
];
const FOREVER = [-1, -1];

function park(machine: Machine, t: number, address = 8, timeout = FOREVER) {
  machine.call(t, 0, address, 0, ...timeout);
  machine.step(t);
}

function notify(machine: Machine, t: number, address: number, count: number) {
  machine.call(t, 1, address, count);
  machine.step(t);
  return machine.resultLo(t);
}

const statuses = (machine: Machine) => Array.from({ length: machine.threads }, (_, t) => machine.status(t));

function hashOf(machine: Machine, t: number) {
  machine.threadHash(t);
  return `${machine.hashLo} ${machine.hashHi}`;
}

describe('wait and notify', () => {
  it('park if the word is as expected, and wake in first-in, first-out order', () => {
    const machine = machineOf(queue);
    for (const t of [2, 0, 1]) park(machine, t);
    expect(statuses(machine)).toEqual([PARKED, PARKED, PARKED, IDLE]);
    expect(notify(machine, 3, 8, 1)).toBe(1);
    expect(statuses(machine)).toEqual([PARKED, PARKED, IDLE, IDLE]);
    expect(machine.resultLo(2)).toBe(0);
    expect(notify(machine, 3, 16, -1)).toBe(0);
    park(machine, 2);
    expect(notify(machine, 3, 8, 2)).toBe(2);
    expect(statuses(machine)).toEqual([IDLE, IDLE, PARKED, IDLE]);
    expect(machine.hostNotify(8, 5)).toBe(1);
    expect(statuses(machine)).toEqual([IDLE, IDLE, IDLE, IDLE]);
  });

  it('do not park if the word differs', () => {
    const machine = machineOf(queue);
    machine.hostStore32(8, 7);
    park(machine, 0);
    expect(machine.status(0)).toBe(IDLE);
    expect(machine.resultLo(0)).toBe(1);
  });

  it('time out if they have a time-out', () => {
    const machine = machineOf(queue);
    park(machine, 0);
    park(machine, 1, 8, [1000, 0]);
    expect([0, 1, 2].map((t) => machine.canTimeOut(t))).toEqual([false, true, false]);
    expect(() => machine.timeOut(0)).toThrow('waits for ever');
    machine.timeOut(1);
    expect(machine.resultLo(1)).toBe(2);
    expect(notify(machine, 2, 8, -1)).toBe(1);
  });

  it('let the host wait as well', () => {
    const machine = machineOf(queue);
    machine.hostWait(0, 8, 1);
    expect([machine.status(0), machine.resultLo(0)]).toEqual([IDLE, 1]);
    park(machine, 1);
    machine.hostWait(0, 8, 0);
    expect(machine.status(0)).toBe(PARKED);
    expect(machine.frames(0)).toEqual([]);
    expect(machine.hostNotify(8, 1)).toBe(1);
    expect(statuses(machine)).toEqual([PARKED, IDLE, IDLE, IDLE]);
    expect(machine.hostNotify(8, 1)).toBe(1);
    expect([machine.status(0), machine.resultLo(0)]).toEqual([IDLE, 0]);
    machine.hostWait(0, 8, 0);
    expect(() => machine.timeOut(0)).toThrow('waits for ever');
    machine.hostWait(2, 8, 0, 1);
    machine.timeOut(2);
    expect([machine.status(2), machine.resultLo(2)]).toEqual([IDLE, 2]);
  });

  it('hash the order in a queue, but not its history', () => {
    const one = machineOf(queue);
    for (const t of [0, 1, 2]) park(one, t);
    const hashes = [0, 1, 2].map((t) => hashOf(one, t));
    expect(new Set(hashes).size).toBe(3);
    const other = machineOf(queue);
    for (const t of [3, 0, 1]) park(other, t);
    expect(other.hostNotify(8, 1)).toBe(1);
    park(other, 2);
    expect([0, 1, 2].map((t) => hashOf(other, t))).toEqual(hashes);
    const swapped = machineOf(queue);
    for (const t of [1, 0, 2]) park(swapped, t);
    expect([0, 1, 2].map((t) => hashOf(swapped, t))).toEqual([hashes[1], hashes[0], hashes[2]]);
  });
});

describe('a kill', () => {
  // x = load; (call) ; add
  const spinning = [
    of([0x03, 0x40, ...int(8), ...LOAD32, 0x45, 0x0d, 0, END, ...int(8), ...int(1), ...ADD32, 0x1a, 0x10, 1]),
    of([...int(8), ...LOAD32, 0x1a]),
    of([...int(8), ...LOAD32, 0x1a, ...int(8), ...int(1), ...STORE32]),
    of([0x10, 1, ...int(8), ...int(1), ...STORE32]),
  ];

  it('may come where a function returns into another', () => {
    const machine = machineOf(spinning);
    machine.call(0, 3);
    machine.step(0);
    expect([machine.frames(0), machine.killable(0)]).toEqual([['f3'], true]);
  });

  it('may come at a function entry or in a loop, not in straight code', () => {
    const machine = machineOf(spinning);
    expect(machine.killable(0)).toBe(false);
    machine.call(0, 0);
    expect(machine.killable(0)).toBe(true);
    machine.step(0);
    expect(machine.killable(0)).toBe(true);
    machine.hostStore32(8, 1);
    machine.step(0);
    expect([machine.describe(0).op, machine.killable(0)]).toEqual(['add', false]);
    machine.step(0);
    expect(machine.frames(0)).toEqual(['f0', 'f1']);
    expect(machine.killable(0)).toBe(true);
    machine.call(1, 2);
    expect(machine.killable(1)).toBe(true);
    machine.step(1);
    expect(machine.killable(1)).toBe(false);
    machine.kill(1);
    expect([machine.status(1), machine.words[2]]).toEqual([DEAD, 2]);
    expect(() => machine.step(1)).toThrow('status');
  });

  it('is in the hash only where threads are killed', () => {
    const twoWays = [of([...int(8), ...LOAD32, 0x04, 0x40, 0x03, 0x40, END, END, ...int(8), ...LOAD32, 0x1a])];
    for (const kills of [false, true]) {
      const hashes = [0, 1].map((word) => {
        const machine = machineOf(twoWays, { kills });
        machine.hostStore32(8, word);
        machine.call(0, 0);
        machine.step(0);
        expect(machine.killable(0)).toBe(word === 1);
        return hashOf(machine, 0);
      });
      expect(hashes[0] === hashes[1]).toBe(!kills);
    }
  });

  it('takes a sleeper out of its queue, or leaves it there to swallow a notify', () => {
    for (const deadSleepers of [false, true]) {
      const machine = machineOf(queue, { deadSleepers });
      park(machine, 0);
      park(machine, 1);
      expect(machine.killable(0)).toBe(true);
      machine.kill(0);
      expect(machine.hostNotify(8, 1)).toBe(1);
      expect(statuses(machine).slice(0, 2)).toEqual([DEAD, deadSleepers ? PARKED : IDLE]);
      expect(machine.hostNotify(8, 1)).toBe(deadSleepers ? 1 : 0);
    }
  });
});

describe('a pending access', () => {
  it('is described before it is made', () => {
    const machine = machineOf([
      of([GET, 0, ...int(5), 0xfe, 0x25, 2, 16, 0x1a], ['i32']),
      of([GET, 0, 0x2d, 0, 3, 0x1a], ['i32']),
    ]);
    machine.call(0, 0, 32);
    expect(machine.describe(0)).toMatchObject({
      kind: 'rmw',
      op: 'sub',
      address: 48,
      bytes: 4,
      plain: false,
      fn: 'f0',
    });
    expect([machine.pendingAddress(0), machine.pendingBytes(0), machine.pendingIsWrite(0)]).toEqual([48, 4, true]);
    expect(machine.words[12]).toBe(0);
    machine.step(0);
    expect(machine.words[12]).toBe(-5);
    machine.call(0, 1, 5);
    expect(machine.describe(0)).toMatchObject({ kind: 'load', address: 8, bytes: 1, plain: true, fn: 'f1' });
    expect([machine.pendingIsPlain(0), machine.pendingIsWrite(0)]).toEqual([true, false]);
  });

  it('traps out of bounds and off its alignment, and is an error where nothing is stored', () => {
    const machine = machineOf([of([GET, 0, ...LOAD32, 0x1a], ['i32']), of([0x00])]);
    expect(() => machine.call(0, 0, PAGE)).toThrow(Trap);
    expect(() => machine.call(0, 0, -4)).toThrow(/out of bounds.* in f0/);
    expect(() => machine.call(0, 0, 2)).toThrow(/unaligned/);
    expect(() => machine.call(0, 1)).toThrow(/unreachable/);
    expect(() => machine.call(0, 0, 1024)).toThrow('not stored');
    machine.call(0, 0, 1020);
    machine.step(0);
    expect(machine.status(0)).toBe(IDLE);
  });

  it('must come in bounded time', () => {
    const machine = machineOf([of([0x03, 0x40, 0x0c, 0, END])]);
    expect(() => machine.call(0, 0)).toThrow('without an access');
  });
});

describe('the hash', () => {
  // f(a, b): x = load 8 + a; store 12 = x * b. While the store is pending, a is dead and b is too.
  const program = [
    of(
      [...int(8), ...LOAD32, GET, 0, 0x6a, 0x21, 2, ...int(12), GET, 2, GET, 1, 0x6c, ...STORE32],
      ['i32', 'i32'],
      undefined,
      ['i32'],
    ),
    of([GET, 0, 0x24, 0, ...int(8), ...LOAD32, 0x1a], ['i32']),
    of([GET, 0, GET, 1, 0x10, 0], ['i32', 'i32']),
    of([...int(8), GET, 0, ...STORE32, GET, 1], ['i32', 'i32'], 'i32'),
  ];

  function hashes(index: number, steps: number, ...calls: number[][]) {
    return calls.map((args) => {
      const machine = machineOf(program, {}, ['i32']);
      machine.call(0, index, ...args);
      for (let i = 0; i < steps; i++) machine.step(0);
      return hashOf(machine, 0);
    });
  }

  it('ignores dead registers', () => {
    const [same, before] = [hashes(0, 1, [6, 1], [3, 2], [2, 3]), hashes(0, 0, [6, 1], [3, 2], [2, 3])];
    expect(new Set(same).size).toBe(1);
    expect(new Set(before).size).toBe(3);
    // The words of a caller of which nothing is read after the call do not count either.
    expect(new Set(hashes(2, 1, [6, 1], [3, 2])).size).toBe(1);
  });

  it('covers live registers, globals and results', () => {
    expect(new Set(hashes(0, 1, [6, 1], [3, 3])).size).toBe(2);
    expect(new Set(hashes(1, 0, [6], [3])).size).toBe(2);
    expect(new Set(hashes(1, 1, [6], [3])).size).toBe(2);
    expect(new Set(hashes(3, 1, [6, 1], [6, 2])).size).toBe(2);
    expect(new Set(hashes(3, 1, [6, 1], [7, 1])).size).toBe(1);
  });

  it('covers the words of the memory, but not their history', () => {
    const machine = machineOf(program, {}, ['i32']);
    const hash = () => `${machine.memoryHashLo} ${machine.memoryHashHi}`;
    const seen = [hash()];
    machine.hostStore32(8, 1);
    seen.push(hash());
    machine.hostStore32(12, 1);
    seen.push(hash());
    machine.hostStore32(8, 0);
    seen.push(hash());
    machine.hostStore32(12, 2);
    seen.push(hash());
    expect(new Set(seen).size).toBe(5);
    machine.hostStore32(12, 0);
    expect(hash()).toBe(seen[0]);
    expect([machine.memoryHashLo, machine.memoryHashHi]).toEqual([0, 0]);
  });
});

describe('undo', () => {
  const core = loadProgram('core');
  const index = (name: string) => core.exports.get(name) as number;

  /** A word for each thread, from here on, says whether its request is enqueued and must park. Undo restores it too. */
  const ENQUEUED = 16352;

  /** Three threads that acquire and release as the library does. */
  class Team {
    readonly machine = new Machine(core, {
      bytes: PAGE,
      threads: 3,
      used: 16384,
      kills: true,
      deadSleepers: true,
    });
    readonly #draw;
    readonly #object: number;

    constructor(seed: number) {
      this.#draw = draws(seed);
      this.#finish(0, 'create', 7, 0, 2, 4, 1 + this.#draw(2), 1, 9);
      for (let t = 0; t < 3; t++) {
        this.#finish(t, 'open');
        this.#finish(t, 'register', 0);
      }
      const made = this.#finish(0, 'createObject', 1, this.#draw(3), 9, this.#draw(3), 1, 0, 0, 0, -1, 0);
      this.#object = this.#finish(0, 'attachedTo', made);
      this.machine.forget();
    }

    #finish(t: number, name: string, ...args: number[]): number {
      this.machine.call(t, index(name), ...args);
      while (this.machine.status(t) === PENDING) this.machine.step(t);
      return this.machine.resultLo(t);
    }

    /** Does something at random, with a random thread. */
    act() {
      const { machine } = this;
      const t = this.#draw(3);
      const s = this.#object;
      const n = 1 + this.#draw(2);
      const status = machine.status(t);
      if (this.#draw(150) === 0 && machine.killable(t)) machine.kill(t);
      else if (status === PENDING) machine.step(t);
      else if (status === PARKED && this.#draw(20) === 0) machine.hostNotify(machine.pendingAddress(t), 1);
      else if (status === IDLE) {
        const answer = machine.resultLo(t);
        const choice = this.#draw(6);
        const enqueued = (machine.words[(ENQUEUED + 4 * t) >> 2] as number) !== 0;
        if (answer === 3) {
          machine.hostStore32(ENQUEUED + 4 * t, enqueued ? 0 : 1);
          if (enqueued) machine.call(t, index('park'), 0, 0);
          else machine.call(t, index('enqueue'), s, n, answer, 0);
          return;
        }
        if (enqueued) machine.hostStore32(ENQUEUED + 4 * t, 0);
        if (answer === 4) machine.call(t, index('finishRelease'), s, n, answer, 0);
        else if (choice < 2) machine.call(t, index('acquire'), s, n);
        else if (choice < 4) machine.call(t, index('release'), s, n);
        else if (choice === 4) machine.call(t, index('arrive'), s, n, 0, 0);
        else if (this.#draw(2)) machine.hostAdd32(16380, 1);
        else machine.hostWait(t, 16376, 0);
      }
    }
  }

  it('restores everything, any number of times, with nested marks', () => {
    let parked = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const team = new Team(Math.imul(seed, 0x9e3779b1));
      const { machine } = team;
      const marks: [number, ReturnType<typeof picture>][] = [];
      for (let round = 0; round < 6; round++) {
        marks.push([machine.mark(), picture(machine)]);
        for (let i = 0; i < 40; i++) team.act();
        if (statuses(machine).includes(PARKED)) parked++;
      }
      for (const [mark, then] of marks.reverse()) {
        machine.undo(mark);
        expect(picture(machine)).toEqual(then);
        // A mark can be used again.
        for (let i = 0; i < 20; i++) team.act();
        machine.undo(mark);
        expect(picture(machine)).toEqual(then);
      }
    }
    expect(parked).toBeGreaterThan(50);
  });

  it('makes no difference to what follows', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const straight = new Team(Math.imul(seed, 0x9e3779b1));
      const winding = new Team(Math.imul(seed, 0x9e3779b1));
      const astray = draws(seed);
      for (let i = 0; i < 150; i++) {
        const { machine } = winding;
        const mark = machine.mark();
        for (let k = astray(5); k > 0; k--) {
          const t = astray(3);
          if (machine.status(t) === PENDING) machine.step(t);
        }
        machine.undo(mark);
        straight.act();
        winding.act();
        // The hash is computed here, and must not outlive the state that it describes.
        for (let t = 0; t < machine.threads; t++) machine.threadHash(t);
      }
      expect(picture(winding.machine)).toEqual(picture(straight.machine));
    }
  });

  it('works with snapshots, which restore more', () => {
    const team = new Team(7);
    const { machine } = team;
    for (let i = 0; i < 100; i++) team.act();
    const snapshot = machine.snapshot();
    const then = picture(machine);
    for (let i = 0; i < 100; i++) team.act();
    machine.restore(snapshot);
    expect(picture(machine)).toEqual(then);
    const mark = machine.mark();
    for (let i = 0; i < 100; i++) team.act();
    machine.undo(mark);
    expect(picture(machine)).toEqual(then);
  });

  it('knows the core by its names', () => {
    const team = new Team(3);
    const { machine } = team;
    const release = (t: number) => {
      machine.call(t, index('acquire'), 3072, 9);
      while (machine.status(t) === PENDING) machine.step(t);
      machine.call(t, index('enqueue'), 3072, 9, machine.resultLo(t), 0);
      while (machine.status(t) === PENDING) machine.step(t);
      machine.call(t, index('park'), 0, 0);
      while (machine.status(t) === PENDING) machine.step(t);
    };
    release(1);
    expect(machine.frames(1)).toEqual(['queue/park', 'queue/parkFor', 'threads/sleepOn']);
    expect(machine.pendingKind(1)).toBe(WAIT);
    expect(machine.describe(1)).toMatchObject({ kind: 'wait', fn: 'threads/sleepOn' });
  });
});

describe('liveness', () => {
  it('follows loops, and ends at writes', () => {
    // 0: w1 = ; 1: loop: read w0; 2: w0 = ; 3: branch to 1 or on; 4: read w1
    const at = liveness([
      { reads: [], writes: [1, 1], next: [1] },
      { reads: [[0, 1]], writes: [0, 0], next: [2] },
      { reads: [], writes: [0, 1], next: [3] },
      { reads: [], writes: [0, 0], next: [1, 4] },
      { reads: [[1, 2]], writes: [0, 0], next: [] },
    ]);
    expect([0, 1, 2, 3, 4].map((i) => at(i).before)).toEqual([
      [0, 2],
      [0, 1, 2],
      [1, 2],
      [0, 1, 2],
      [1, 2],
    ]);
    expect(at(2).across).toEqual([1, 2]);
  });
});

describe('an instruction that the machine does not know', () => {
  it('is an error that names it, its place and its function', () => {
    const floats = assemble([of([0x43, 0, 0, 0, 0, 0x1a])]);
    expect(() => decode(floats)).toThrow(/opcode 0x43 in f0 at \d+ is not supported/);
    const copy = assemble([of([...int(0), ...int(0), ...int(0), 0xfc, 0x0a, 0, 0])]);
    expect(() => decode(copy)).toThrow(/0xfc0a in f0/);
  });
});
