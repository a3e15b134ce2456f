/**
 * Simulated worlds: the shipped client, which is session.ts and all that is above it, runs on the shipped script in a
 * world without time. A world has processes, connections, calls and messages under way, and a server whose data have a
 * history. What happens next is chosen at random, and the same seed gives the same choices. The search of protocol.ts
 * tries every order of steps, on the small model of client.ts. A simulation tries only some orders, but on the real
 * code.
 *
 * After each step the simulation checks the data of the server (invariants.ts), that no more permits are held than
 * there are, and that no rejection is unhandled. In the end no more faults happen. Then every request must be settled,
 * all permits must be back, and nothing may be left on the server.
 */

import type { Driver, Script, StopListening } from '../src/drivers/driver.js';
import type { Held } from '../src/objects/hold.js';
import type { Clock } from '../src/runtime/clock.js';
import { Space } from '../src/space/space.js';
import { Data, type Surroundings } from './data-model.js';
import { faultOf, heldOf, objectsOf, queueOf, recordsOf, SCRIPT_FAILS, stepOf } from './invariants.js';
import { type Reply, Server, turnChunk } from './server.js';

/** Milliseconds. */
const LEASE = 500;
const STEPS = 800;

/** The codes of errors by which the days of a server may end a call. */
const ENDS: readonly (string | undefined)[] = ['OOM', 'UNREACHABLE'];

export interface SimulationOptions {
  readonly seed: number;
  /** Whether the server may fall back to an older copy of its data, or lose all. More than `max` may hold then. */
  readonly failovers?: boolean;
  /** Whether connections may die without a notice: then they look open and carry nothing. */
  readonly silent?: boolean;
  /** Another script. */
  readonly server?: Server;
  /** Writes what happens. */
  readonly log?: (line: string) => void;
}

export interface SimulationResult {
  readonly fault: string | undefined;
  readonly steps: number;
  readonly grants: number;
  /** How often each kind of thing has happened. */
  readonly happened: ReadonlyMap<string, number>;
}

export type Random = (below: number) => number;

export function mulberry(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % below;
  };
}

/** Time that passes when it is told to. */
export class VirtualClock implements Clock {
  time = 1000;
  #next = 0;
  readonly timers = new Map<number, { at: number; run: () => void }>();

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): number {
    const id = ++this.#next;
    this.timers.set(id, { at: this.time + ms, run });
    return id;
  }

  stop(timer: unknown): void {
    this.timers.delete(timer as number);
  }

  get due(): number {
    return Math.min(...[...this.timers.values()].map(({ at }) => at));
  }

  /** Runs one timer that is due. */
  fire(): void {
    for (const [id, { at, run }] of [...this.timers].sort(([, a], [, b]) => a.at - b.at)) {
      if (at > this.time) return;
      this.timers.delete(id);
      run();
      return;
    }
  }
}

interface Pending {
  readonly args: readonly string[];
  answer: ((reply: unknown) => void) | undefined;
  reject: ((error: Error) => void) | undefined;
  reply: { readonly value: unknown } | undefined;
}

/** The two connections of a process, each of which stands or not. One that stands may be dead, and carry nothing. */
export class VirtualDriver implements Driver {
  readonly cluster = false;
  commands = true;
  messages = true;
  closed = false;
  up = false;
  events: Parameters<Driver['watch']>[0] | undefined;
  pipe: Pending[] = [];
  ghosts: Pending[] = [];
  readonly channels = new Map<string, (message: string) => void>();
  inbox: { channel: string; text: string }[] = [];
  readonly dead = new Set<'commands' | 'messages'>();
  #pings: ((error: Error) => void)[] = [];
  subscribing: { channel: string; heard: (message: string) => void; done: () => void; fail: (e: Error) => void }[] = [];
  readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  watch(events: Parameters<Driver['watch']>[0]): void {
    this.events = events;
  }

  run(_script: Script, _keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (!this.commands || this.closed) return Promise.reject(new Error('not connected'));
    return new Promise((answer, reject) => {
      this.pipe.push({ args, answer, reject, reply: undefined });
    });
  }

  listen(channel: string, heard: (message: string) => void): Promise<StopListening> {
    if (!this.messages || this.closed) return Promise.reject(new Error('not connected'));
    return new Promise((resolve, reject) => {
      const stop = async (): Promise<void> => {
        this.channels.delete(channel);
      };
      this.subscribing.push({ channel, heard, done: () => resolve(stop), fail: reject });
    });
  }

  async ping(): Promise<void> {
    if (!this.messages || this.closed) throw new Error('not connected');
    if (this.dead.has('messages')) await new Promise<void>((_, reject) => this.#pings.push(reject));
  }

  async confirm(): Promise<number> {
    throw new Error('not part of the simulation');
  }

  async info(): Promise<undefined> {
    return undefined;
  }

  keepAlive(): void {}

  /** Cuts one connection. What was sent and not run may be run later, or never. */
  cut(which: 'commands' | 'messages', error = new Error('the connection was cut')): void {
    this.dead.delete(which);
    if (which === 'commands') {
      const { pipe } = this;
      this.pipe = [];
      this.commands = false;
      for (const call of pipe) {
        if (!call.reply && this.random(2) === 0) this.ghosts.push({ ...call, answer: undefined, reject: undefined });
      }
      for (const call of pipe) call.reject?.(error);
    } else {
      this.messages = false;
      this.inbox = [];
      for (const reject of this.#pings.splice(0)) reject(error);
      for (const { fail } of this.subscribing.splice(0)) fail(error);
    }
    if (this.up) {
      this.up = false;
      this.events?.down(error);
    }
  }

  /** Both connections stand again. */
  repair(): void {
    this.commands = true;
    this.messages = true;
    this.up = true;
    this.events?.up();
  }

  /** A dead connection is lost now. The others are only slow, and a probe changes nothing. */
  probe(_key: string, error: Error): void {
    if (!this.closed) for (const which of this.dead) this.cut(which, error);
  }

  reset(): void {
    if (this.closed) return;
    this.cut('commands');
    this.cut('messages');
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.pipe.splice(0)) reject?.(new Error('closed'));
    for (const { fail } of this.subscribing.splice(0)) fail(new Error('closed'));
  }
}

type Handle = {
  readonly name: string;
  hold(options: { timeout?: number; signal?: AbortSignal }): Promise<Held>;
  attempt(): Promise<Held | undefined>;
  cancelAll(): Promise<void>;
};

/** A task of a process: it asks, holds and gives back, again and again. */
interface Task {
  state: 'idle' | 'asking' | 'holding';
  held?: Held | undefined;
  handle?: Handle | undefined;
  abort?: AbortController | undefined;
  askedAt: number;
  timeout: number;
}

interface Process {
  readonly index: number;
  readonly clock: VirtualClock;
  readonly driver: VirtualDriver;
  space: Space | undefined;
  handles: Handle[];
  resize: ((permits: number) => Promise<void>) | undefined;
  revoke: (() => Promise<void>) | undefined;
  tasks: Task[];
  alive: boolean;
  paused: number;
  closing: boolean;
}

const MAX: Record<string, number> = { db: 3, m: 1, r: 2 ** 20 };

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const random = mulberry(options.seed);
  const { random: realRandom } = Math;
  const realBytes = crypto.getRandomValues.bind(crypto);
  Math.random = () => random(1 << 30) / (1 << 30);
  crypto.getRandomValues = ((bytes: Uint8Array) => bytes.map(() => random(256))) as typeof crypto.getRandomValues;
  const world = new World(random, options);
  const unhandled = (reason: unknown): void => {
    world.fault ??= `an unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`;
  };
  process.on('unhandledRejection', unhandled);
  try {
    await world.live();
  } finally {
    process.off('unhandledRejection', unhandled);
    Math.random = realRandom;
    crypto.getRandomValues = realBytes;
  }
  return { fault: world.fault, steps: world.steps, grants: world.grants, happened: world.happened };
}

let compiled: Server | undefined;

/** The script as it is shipped. */
export const shipped = (): Server => {
  compiled ??= new Server(turnChunk());
  return compiled;
};

class World {
  fault: string | undefined;
  steps = 0;
  grants = 0;
  readonly happened = new Map<string, number>();
  readonly #random: Random;
  readonly #failovers: boolean;
  readonly #silent: boolean;
  readonly #log: ((line: string) => void) | undefined;
  readonly #server: Server;
  /** The most permits that each object ever had. */
  readonly #most = { ...MAX };
  #data = new Data();
  #copy: Data | undefined;
  #history = 1;
  /** How far the server's clock is from the true time, in milliseconds. */
  #skew = 1_700_000_000_000;
  /** The server's clock jumps before each call, back and forth by a lease or a day. */
  readonly #flaps: boolean;
  #lossless = true;
  /** Whether a process has asked the server to revoke a grant. The answer may still be under way. */
  #hasRevoked = false;
  /** Nothing goes wrong any more. */
  #calm = false;
  readonly #processes: Process[] = [];

  constructor(random: Random, { failovers = false, silent = false, server = shipped(), log }: SimulationOptions) {
    this.#random = random;
    this.#failovers = failovers;
    this.#silent = silent;
    this.#flaps = random(4) === 0;
    this.#log = log;
    this.#server = server;
  }

  #note(kind: string, more = ''): void {
    this.happened.set(kind, (this.happened.get(kind) ?? 0) + 1);
    this.#log?.(`${this.steps} ${kind} ${more}`);
  }

  #time = 1000;

  #surroundings(): Surroundings {
    const flap = this.#flaps ? ([0, 2 * LEASE, 86_400_000][this.#random(3)] as number) : 0;
    return {
      time: Math.floor(this.#time + this.#skew + flap) * 1000,
      history: this.#history.toString(16).padStart(40, '0'),
    };
  }

  async live(): Promise<void> {
    const count = 2 + this.#random(2);
    for (let i = 0; i < count; i++) await this.#start();
    for (let step = 0; step < STEPS && !this.fault; step++) await this.#step();
    if (this.fault) return;
    await this.#end();
  }

  async #start(): Promise<void> {
    const clock = new VirtualClock();
    clock.time = this.#time;
    const driver = new VirtualDriver(this.#random);
    const process: Process = {
      ...{ index: this.#processes.length, clock, driver, space: undefined, handles: [], tasks: [] },
      resize: undefined,
      revoke: undefined,
      ...{ alive: true, paused: 0, closing: false },
    };
    this.#processes.push(process);
    const opening = (async () => {
      const space = await Space.connect(driver, {
        clock,
        lease: LEASE,
        space: 'x',
        label: 'sim',
        turn: this.#random(20),
      });
      process.space = space;
      const db = await space.semaphore('db', MAX.db as number);
      process.resize = (permits) => db.resize(permits);
      const m = await space.mutex('m', { bypass: 3, robust: true });
      const r = await space.rwLock('r');
      process.handles = [
        {
          name: 'db',
          hold: (options) => db.holdAsync(1 + this.#random(3), options),
          attempt: () => db.tryHold(1 + this.#random(3)),
          cancelAll: () => db.cancelAll(),
        },
        {
          name: 'm',
          hold: (options) => m.holdAsync(options),
          attempt: () => m.tryHold(),
          cancelAll: () => m.cancelAll(),
        },
        {
          name: 'r',
          hold: (options) => (this.#random(3) === 0 ? r.writeAsync(options) : r.readAsync(options)),
          attempt: () => (this.#random(2) === 0 ? r.tryWrite() : r.tryRead()),
          cancelAll: () => r.cancelAll(),
        },
        {
          name: 'all',
          hold: (options) => space.holdAll([r, m, db], options) as Promise<unknown> as Promise<Held>,
          attempt: () =>
            space.holdAll([db, [r, 'read']], { timeout: 0 }).catch((error: unknown) => {
              if ((error as Error).name !== 'TimeoutError') throw error;
            }) as Promise<unknown> as Promise<Held | undefined>,
          cancelAll: () => m.cancelAll(),
        },
      ];
      process.revoke = async () => {
        const handle = [db, m, r][this.#random(3)] as typeof db;
        const [holder] = (await handle.inspect())?.holders ?? [];
        if (!holder) return;
        this.#hasRevoked = true;
        if (await handle.revoke(holder.proof)) this.#note('revoke');
      };
      process.tasks = Array.from({ length: 1 + this.#random(3) }, () => ({ state: 'idle', askedAt: 0, timeout: 0 }));
    })();
    opening.catch((error: unknown) => {
      // It may have found no server for too long.
      process.alive = false;
      this.#note('not connected', String(error));
    });
    // `connect` first loads the part for the client. How long that takes must not change what happens in the world.
    while (!driver.events) await settled();
    driver.repair();
    // A quiet start: what happens while it connects is part of the reconnects.
    for (let i = 0; i < 200 && process.handles.length === 0 && !this.fault; i++) {
      this.#serve(process);
      this.#deliver(process);
      await settled();
    }
  }

  /** A process comes, tries once, and is gone, without a word. */
  async #visit(): Promise<void> {
    await this.#start();
    const visitor = this.#processes.at(-1) as Process;
    for (const task of visitor.tasks) this.#ask(visitor, task);
    await settled();
    this.#serve(visitor);
    this.#deliver(visitor);
    await settled();
    this.#kill(visitor);
    this.#note('visit');
  }

  /** The server runs the next call of a process. */
  #serve({ driver }: Process, ghost = false): boolean {
    if (!ghost && driver.dead.has('commands')) return false;
    const call = ghost ? driver.ghosts.shift() : driver.pipe.find(({ reply }) => reply === undefined);
    if (!call) return false;
    if (!ghost && !this.#calm && this.#random(150) === 0) {
      const error = this.#random(2) === 0 ? 'TRYAGAIN later' : 'OOM command not allowed';
      // Only a call whose first write may grow memory is refused for want of it.
      if (error.startsWith('TRY') || /^[AT]$/.test(call.args[3] as string)) {
        this.#note('refuse', error);
        call.reply = { value: new Error(error) };
        return true;
      }
    }
    const { args } = call;
    const turn = this.#server.turn(this.#data, args, this.#surroundings());
    const step = stepOf(this.#data, turn, args).fault;
    // The deaths that a call counts are known for calls of one operation.
    this.fault ??=
      faultOf(turn.data) ?? (step?.includes('deaths') && !step.startsWith(SCRIPT_FAILS) ? undefined : step);
    this.#log?.(
      `${this.steps} server: ${args.slice(0, 2).join(' ')} ${args.slice(3).join(' ')} -> ${JSON.stringify(turn.reply)}`,
    );
    this.#data = turn.data;
    for (const { channel, text } of turn.published)
      for (const { driver: other } of this.#processes)
        if (other.channels.has(channel) && !other.dead.has('messages')) other.inbox.push({ channel, text });
    const { reply } = turn;
    call.reply = { value: reply && typeof reply === 'object' && 'error' in reply ? new Error(reply.error) : reply };
    return true;
  }

  /** An answer, or what a subscription waits for, reaches a process. */
  #deliver({ driver }: Process): boolean {
    const [call] = driver.dead.has('commands') ? [] : driver.pipe;
    if (call?.reply && (driver.subscribing.length === 0 || this.#random(2) === 0)) {
      driver.pipe.shift();
      const { value } = call.reply;
      if (value instanceof Error) call.reject?.(value);
      else call.answer?.(structuredClone(value as Reply));
      return true;
    }
    const next = driver.dead.has('messages') ? undefined : driver.subscribing.shift();
    if (!next) return false;
    driver.channels.set(next.channel, next.heard);
    next.done();
    return true;
  }

  #hear({ driver }: Process): boolean {
    const message = driver.dead.has('messages') ? undefined : driver.inbox.shift();
    if (message) driver.channels.get(message.channel)?.(message.text);
    return message !== undefined;
  }

  #passTime(ms: number): void {
    this.#time += ms;
    for (const { clock } of this.#processes) clock.time = this.#time;
  }

  /** Moves on to the next timer of a process that runs. */
  #nextTimer(): void {
    const due = Math.min(...this.#running().map(({ clock }) => clock.due));
    if (due !== Infinity && due > this.#time) this.#passTime(due - this.#time);
  }

  #running(): Process[] {
    return this.#processes.filter(({ alive, paused }) => alive && paused === 0);
  }

  async #step(): Promise<void> {
    this.steps++;
    const running = this.#running();
    const { [this.#random(this.#processes.length)]: process } = this.#processes;
    if (!process) return;
    const { driver, clock } = process;
    for (const each of this.#processes) if (each.paused > 0) each.paused--;
    const roll = this.#random(100);
    if (roll < 24) this.#serve(process);
    else if (roll < 28) this.#serve(process, true);
    else if (!running.includes(process)) return;
    else if (roll < 48) this.#deliver(process);
    else if (roll < 58) this.#hear(process);
    else if (roll < 80) this.#act(process);
    else if (roll < 85) {
      if (clock.due <= this.#time) clock.fire();
      else if (this.#random(3) === 0) this.#nextTimer();
      else this.#passTime(1 + this.#random(10));
    } else if (roll < 90) {
      if (!driver.up) driver.repair();
      else if (this.#random(2) === 0) {
        const which = this.#random(2) === 0 ? 'commands' : 'messages';
        if (this.#silent && this.#random(2) === 0) {
          this.#note(`${which} die silently`, String(process.index));
          driver.dead.add(which);
        } else {
          this.#note(`cut ${which}`, String(process.index));
          driver.cut(which);
        }
      }
    } else if (roll < 92) {
      // Few messages are under way at a time, so the next process that has one loses it.
      const hearing = running.find((each) => each.driver.inbox.length > 0);
      if (hearing?.driver.inbox.shift()) this.#note('lose a message', String(hearing.index));
    } else if (roll < 93) {
      process.paused = 1 + this.#random(60);
      this.#note('pause', String(process.index));
    } else if (roll < 94) {
      this.#passTime(50 + this.#random(LEASE));
    } else if (roll < 95) {
      if (this.#random(3) === 0) {
        const jump = [1, -1][this.#random(2)] as number;
        this.#skew += jump * ([1000, 86_400_000, 31_536_000_000][this.#random(3)] as number);
        this.#note('the clock jumps');
      }
    } else if (roll < 96) {
      if (this.#random(4) === 0 && this.#processes.filter(({ alive }) => alive).length > 1) this.#kill(process);
    } else if (roll < 97) {
      if (this.#random(3) === 0) await this.#start();
      else if (this.#random(2) === 0) await this.#visit();
    } else if (this.#failovers && roll < 98) {
      if (this.#copy === undefined) this.#copy = this.#random(6) === 0 ? new Data() : this.#data;
      else if (this.#random(3) === 0) {
        this.#note('failover');
        this.#data = this.#copy;
        this.#copy = undefined;
        this.#history++;
        this.#lossless = false;
        for (const each of this.#processes) {
          each.driver.reset();
          each.driver.ghosts = [];
        }
      }
    } else if (roll < 99) {
      if (this.#random(6) === 0) {
        const handle = process.handles[this.#random(process.handles.length)];
        this.#note('cancel all');
        handle?.cancelAll().catch((error: unknown) => {
          // A failover that has lost all has lost the object too.
          const isLost = !this.#lossless && (error as Error).name === 'DisposedError';
          // The call that it was part of was refused, or the server was away for too long.
          const isRefused = ENDS.includes((error as { code?: string }).code);
          if (!process.closing && !isLost && !isRefused) this.fault ??= `cancelAll: ${error}`;
        });
      } else {
        const resizes = this.#random(3) === 0;
        if (resizes) this.#resize(process);
        else if (this.#random(3) === 0) {
          process.revoke?.().catch((error: unknown) => {
            const isRefused = ENDS.includes((error as { code?: string }).code);
            if (!process.closing && !isRefused) this.fault ??= `revoke: ${error}`;
          });
        }
      }
    } else if (this.#random(4) === 0 && this.#processes.filter(({ alive }) => alive).length > 1) {
      this.#note('close', String(process.index));
      process.closing = true;
      process.tasks = [];
      void process.space?.close();
    }
    await settled();
    this.#check();
  }

  #resize(process: Process): void {
    const permits = 1 + this.#random(5);
    this.#note('resize', String(permits));
    this.#most.db = Math.max(this.#most.db as number, permits);
    process.resize?.(permits).catch((error: unknown) => {
      const isLost = !this.#lossless && (error as Error).name === 'DisposedError';
      if (!process.closing && !isLost && !ENDS.includes((error as { code?: string }).code))
        this.fault ??= `resize: ${error}`;
    });
  }

  #kill(process: Process): void {
    this.#note('kill', String(process.index));
    process.alive = false;
    process.driver.channels.clear();
    process.driver.inbox = [];
    process.clock.timers.clear();
    // What it has sent may arrive.
    process.driver.ghosts.push(...process.driver.pipe.filter(({ reply }) => !reply));
    process.driver.pipe = [];
  }

  /** A task goes on. */
  #act(process: Process): void {
    const task = process.tasks[this.#random(process.tasks.length)];
    if (!task) return;
    if (task.state === 'idle') this.#ask(process, task);
    else if (task.state === 'holding') this.#giveBack(task);
    else if (task.abort && this.#random(8) === 0) {
      this.#note('abort');
      task.abort.abort('aborted');
    }
  }

  #ask(process: Process, task: Task): void {
    const handle = process.handles[this.#random(process.handles.length)];
    if (!handle) return;
    task.state = 'asking';
    task.handle = handle;
    task.askedAt = this.#time;
    task.timeout = this.#random(3) === 0 ? 1 + this.#random(LEASE) : Infinity;
    task.abort = this.#random(3) === 0 ? new AbortController() : undefined;
    const tries = this.#random(6) === 0;
    const promise: Promise<Held | undefined> = tries
      ? handle.attempt()
      : handle.hold({
          ...(task.timeout !== Infinity && { timeout: task.timeout }),
          ...(task.abort && { signal: task.abort.signal }),
        });
    promise.then(
      (held) => {
        if (!held) task.state = 'idle';
        else {
          this.grants++;
          task.state = 'holding';
          task.held = held;
        }
      },
      (error: unknown) => {
        task.state = 'idle';
        const name = (error as Error | undefined)?.name ?? String(error);
        this.#note(`rejected: ${name}`);
        const allowed = ['TimeoutError', 'CancelledError', 'aborted', 'RangeError'];
        if (process.closing) allowed.push('DisposedError', 'LeaseLostError');
        if (name === 'SpaceError' && ENDS.includes((error as { code: string }).code)) return;
        if (!this.#lossless) allowed.push('LeaseLostError', 'DisposedError');
        if (name === 'LeaseLostError') return;
        if (!allowed.includes(name)) this.fault ??= `a request fails: ${(error as Error).stack ?? error}`;
      },
    );
  }

  #giveBack(task: Task): void {
    const { held } = task;
    task.state = 'idle';
    task.held = undefined;
    if (!held) return;
    if ('downgrade' in held && this.#random(2) === 0) {
      task.held = (held as unknown as { downgrade(): Held }).downgrade();
      task.state = 'holding';
      return;
    }
    if ('release' in held && 'permits' in held && (held.permits as number) > 1 && this.#random(2) === 0) {
      const partly = held as unknown as { release(n: number): Promise<void> };
      void partly.release(1);
      task.held = held;
      task.state = 'holding';
      return;
    }
    void held[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]();
  }

  #check(): void {
    // Who has not heard yet that it was revoked believes that it holds.
    if (this.fault || !this.#lossless || this.#hasRevoked) return;
    for (const [name, max] of Object.entries(this.#most)) {
      const sum = (look: boolean): number => {
        let total = 0;
        for (const { alive, paused, tasks } of this.#processes) {
          if (!alive || paused > 0) continue;
          for (const { state, held, handle } of tasks)
            if (state === 'holding' && held && handle?.name === name && (!look || held.held)) total += held.left;
        }
        return total;
      };
      if (sum(false) > max && sum(true) > max) this.fault = `${sum(true)} permits of ${name} are held of ${max}`;
    }
  }

  /** Nothing goes wrong any more. Everybody is served, and all comes back. */
  async #end(): Promise<void> {
    this.#calm = true;
    this.#log?.('calm');
    for (const process of this.#processes) {
      process.paused = 0;
      if (process.alive && !process.driver.up) process.driver.repair();
    }
    // Somebody lives, and finds the dead.
    await this.#start();
    const living = this.#processes.filter(({ alive, closing }) => alive && !closing);
    const until = this.#time + 12 * LEASE;
    let gentle = 0;
    for (let round = 0; !this.fault; round++) {
      for (const process of this.#processes) {
        while (this.#serve(process, true));
        if (!process.alive) continue;
        for (let turns = 0; this.#serve(process) || this.#deliver(process) || this.#hear(process); turns++) {
          await settled();
          if (this.fault) return;
          if (turns < 2000) continue;
          this.fault = 'a process never rests';
          return;
        }
        if (!process.driver.up && !process.driver.closed) process.driver.repair();
        for (const task of process.tasks) if (task.state === 'holding') this.#giveBack(task);
        for (let fired = 0; process.clock.due <= this.#time && fired < 100; fired++) {
          process.clock.fire();
          await settled();
        }
      }
      await settled();
      this.#check();
      // Somebody asks now and then, so that beats go on until the dead are found.
      const idle = living.every(({ tasks }) => tasks.every(({ state }) => state === 'idle'));
      if (this.#time < until && idle && round % 40 === 0)
        for (const each of living) if (each.tasks[0]) this.#ask(each, each.tasks[0]);
      if (this.#time >= until && idle && ++gentle > 50) break;
      if (this.#time > until + 40 * LEASE) {
        const stuck = living.flatMap(({ tasks }) => tasks.filter(({ state }) => state !== 'idle'));
        this.fault = `${stuck.length} requests wait for ever: ${stuck.map(({ handle }) => handle?.name)}, ${objects(this.#data)}`;
        return;
      }
      const due = Math.min(...this.#running().map(({ clock }) => clock.due));
      this.#passTime(Math.max(1, Math.min(due - this.#time, 20)));
    }
    if (this.fault) return;
    for (const [name, { free, max, waiting }] of objectsOf(this.#data))
      if (free !== max || waiting !== 0) {
        this.fault = `${name} has ${free} of ${max} free and ${waiting} waiting at the end: ${objects(this.#data)}`;
        return;
      }
    if (recordsOf(this.#data).length + queueOf(this.#data).length > 0) this.fault = 'a record is left at the end';
    if ([...this.#data.hash('meta').keys()].some((key) => key.length === 26)) this.fault = 'a mark is left at the end';
    if (heldOf(this.#data).length > 0) this.fault = 'permits are held at the end';
    for (const { space, alive } of this.#processes) {
      if (!alive) continue;
      const closed = space?.close();
      for (let i = 0; i < 20; i++) {
        for (const each of this.#processes) {
          this.#serve(each);
          this.#deliver(each);
        }
        await settled();
      }
      await closed;
    }
  }
}

function objects(data: Data): string {
  return JSON.stringify({
    objects: [...data.hash('objects')],
    records: data.sorted('records'),
    queue: data.sorted('queue'),
  });
}
