/**
 * A life is a thread of a program, from its beginning to its end. Some tasks run in it, and each task does one thing
 * after the other. A task calls the library by `attempt`. An error that the call must not throw is a finding.
 */
import { inspect } from 'node:util';
import { ArenaFullError, CancelledError, DisposedError, SelfDeadlockError, TimeoutError } from 'taketurns';
import { BrokenBarrierError } from 'taketurns/sync';
import { HALF_WRITTEN, isTight, STRETCH, TASKS } from './board.mjs';
import { Draw } from './draw.mjs';
import { kinds } from './kinds/all.mjs';
import { UserCode } from './user-code.mjs';

export const ON_PURPOSE = 'on purpose';
const NAP = new Int32Array(new SharedArrayBuffer(4));

export const immediately = () => new Promise((resolve) => setImmediate(resolve));
export const nap = (milliseconds) => Atomics.wait(NAP, 0, 0, milliseconds);

export class Life {
  /** Whether the thread has left the arena. Then it notes nothing any more. */
  gone = false;
  /** Whether a call has been interrupted whose request stands in line until the thread ends. */
  haunted = false;
  /** Whether a call has been interrupted, and the thread has not returned to its event loop since. */
  pause = false;
  /** How many tasks run. */
  running = 0;
  /** Promises that user code has begun, and that no task awaits. */
  loose = new Set();

  constructor({ plan, board, number, handles, arena, report, say = () => {}, ends = false }) {
    Object.assign(this, { plan, board, number, arena, report, say, ends });
    this.draw = new Draw(plan.seed * 64 + number + 1);
    this.user = new UserCode(this);
    this.objects = plan.objects.map((shape, i) => {
      const kind = kinds[shape.kind];
      const object = { ...shape, kind, what: `${shape.kind} ${i}` };
      object.lib = this.attach(object, handles[i]);
      return object;
    });
  }

  /** Opens an object by its name or its handle. */
  attach(object, handle) {
    const { kind } = object;
    const byName = object.name !== undefined && kind.open !== undefined && !this.plan.disposes && this.draw.chance(0.7);
    const lib = byName ? kind.open(object, this.arena, this) : kind.from(handle, object, this);
    this.user.listenToDeaths(object, lib);
    return lib;
  }

  /** Returns the library object for the next call. Now and then it is a new one. */
  at(object, draw) {
    if (this.gone || this.board.isEnding || !draw.chance(0.05)) return object.lib;
    try {
      return this.attach(object, object.lib.handle);
    } catch (error) {
      if (!this.mayBeOver(error) && !this.mayBeFull(error)) throw error;
      return object.lib;
    }
  }

  /** Whether an error says that the object has been disposed of, at a time when this may happen. */
  mayBeOver(error) {
    return (this.gone || this.board.isEnding) && error instanceof DisposedError;
  }

  /** Whether an error says that the arena has no room, in a program where this may happen. */
  mayBeFull(error) {
    return isTight(this.plan) && error instanceof ArenaFullError;
  }

  find(what, error) {
    if (this.gone) return;
    this.board.count('found');
    this.report({ what, life: this.number, error: error === undefined ? undefined : inspect(error) });
  }

  /** Notes how a request has ended that others have overtaken. A suspicion of it tells so. */
  tellEnd(place, since, end) {
    if (!this.gone) this.say({ suspicion: { ofPlace: place, since, end: `${end}, in life ${this.number}` } });
  }

  /** Reports a suspicion. It is no finding if a thread in it turns out to have died. The end of the program decides. */
  suspect(suspicion) {
    if (!this.gone) this.say({ suspicion: { ...suspicion, life: this.number } });
  }

  /** Runs some tasks together, and then, while no task runs, a stretch of calls that may block. Repeats this. */
  async live(until) {
    const { draw, plan } = this;
    const over = () => this.gone || this.haunted || until();
    while (!over()) {
      const tasks = Array.from({ length: 1 + draw.upTo(plan.tasks) }, (_, i) => new Task(this, i));
      this.running = tasks.length;
      await Promise.all(tasks.map((task) => task.run(over).finally(() => this.running--)));
      if (over()) break;
      if (draw.chance(plan.stretches)) {
        const task = new Task(this, STRETCH);
        for (let i = 1 + draw.upTo(8); i > 0 && !over(); i--) {
          task.stepSync();
          if (this.pause) {
            await immediately();
            this.pause = false;
            this.user.afterInterrupt();
          }
        }
      }
      await immediately();
    }
    while (this.loose.size > 0) await Promise.all(this.loose);
    for (const { kind, lib } of this.objects) kind.leaves?.(lib);
    // From here on nothing keeps the thread alive, so it should end.
    this.board.doing(this.number, 0, 'the end');
  }

  /** Lets the thread leave the arena, as if it had ended. */
  leave() {
    this.gone = true;
    this.arena.dispose();
  }
}

export class Task {
  /**
   * The highest number of an object that the task holds. The task may wait without a limit only for an object with a
   * higher number. All tasks keep this order, so they never wait for each other in a circle.
   */
  top = -1;
  depth = 0;

  constructor(life, number, seed = life.draw.upTo(1e9)) {
    Object.assign(this, { life, board: life.board, plan: life.plan, number, draw: new Draw(seed) });
    /** The number that the task writes into the word of a lock that it holds. */
    this.id = 1 + life.number * TASKS + number;
  }

  async run(over) {
    for (let i = 1 + this.draw.upTo(12); i > 0 && !over(); i--) {
      await this.step();
      if (this.draw.chance(0.3)) await immediately();
    }
  }

  /** Does one thing without blocking. */
  async step(object = this.draw.of(this.life.objects), bounded = false) {
    const { draw, life } = this;
    this.bounded = bounded;
    if (draw.chance(this.plan.mortals)) await life.user.mortal();
    else if (draw.chance(0.12)) this.stepSync(object, true);
    else await object.kind.use(this, object);
    this.board.count('operations');
    this.mayEnd();
  }

  /** Does one thing with a call that may block. With `bounded` the call may not wait without a limit. */
  stepSync(object = this.draw.of(this.life.objects), bounded = false) {
    this.bounded = bounded;
    if (this.draw.chance(this.plan.mortals)) this.life.user.mortalSync();
    else object.kind.useSync(this, object);
    this.board.count('operations');
    this.mayEnd();
  }

  /**
   * Whether a call may wait without a limit: whoever lets the call go on must not wait for something that this task
   * holds.
   */
  mayWait(object, isSync) {
    const { life, depth, top } = this;
    if (this.bounded || life.haunted || life.user.depth > 0) return false;
    if (isSync && (life.number === 0 || life.running > 0 || life.loose.size > 0)) return false;
    return object.kind.isLock ? object.index > top : depth === 0;
  }

  /** Draws the options of a request. The result also says what the request may throw. */
  request(object, isSync) {
    return this.life.user.request(this, object, isSync);
  }

  doing(name, object) {
    this.board.doing(this.life.number, this.number, name, object.index);
  }

  doesNothing() {
    this.board.doing(this.life.number, this.number);
  }

  /** Makes a call. Returns its result in an object, or undefined if the call has thrown an error. */
  async attempt(name, object, request, call, after = () => {}) {
    this.doing(name, object);
    let outcome = 'is fulfilled';
    try {
      return { value: await call() };
    } catch (error) {
      outcome = `is rejected with ${error?.name}`;
      this.failed(name, object, request, error);
      return undefined;
    } finally {
      after(outcome);
      this.doesNothing();
    }
  }

  attemptSync(name, object, request, call) {
    this.doing(name, object);
    const { life } = this;
    let got;
    const note = () => {
      got = { value: call() };
    };
    try {
      if (request.interrupt === undefined) note();
      else life.user.interrupted(note, request.interrupt);
      return got;
    } catch (error) {
      // The runtime throws the time-out even if the time has passed only after the call had returned.
      if (got !== undefined) return got;
      if (error?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') life.user.wasInterrupted(object, name);
      else this.failed(name, object, request, error);
      return undefined;
    } finally {
      this.doesNothing();
    }
  }

  /** Counts an error that the call may throw, and reports any other as a finding. */
  failed(name, object, request, error) {
    const { life, board } = this;
    if (error instanceof TimeoutError && request.timeout !== undefined) board.count('timedOut');
    else if (request.reason !== undefined && error === request.reason) board.count('aborted');
    else if (error instanceof CancelledError && object.cancels) board.count('cancelled');
    else if (error === HALF_WRITTEN && object.kind.tells?.(object)) board.count('halfWritten');
    else if (life.mayBeOver(error)) board.count('disposed');
    else if (life.mayBeFull(error)) board.count('full');
    else if (error instanceof BrokenBarrierError && object.kind === kinds.barrier) board.count('refused');
    else if (request.isSync && error instanceof SelfDeadlockError) board.count('refused');
    else if (!(life.gone && error instanceof Error)) life.find(`${name} of ${object.what} has thrown`, error);
  }

  /** Gives back what the task holds. Any error is a finding. */
  give(name, object, call) {
    this.doing(name, object);
    try {
      call();
    } catch (error) {
      if (!this.life.mayBeOver(error)) this.life.find(`${name} of ${object.what} has thrown`, error);
    }
    this.doesNothing();
  }

  /** Does something while the task holds a lock or permits. */
  async inside(object) {
    const { draw, life } = this;
    const top = this.top;
    this.top = Math.max(top, object.index);
    this.depth++;
    const what = draw.next();
    if (what < 0.25) await immediately();
    else if (what < 0.33) await new Promise((resolve) => setTimeout(resolve, draw.upTo(3)));
    else if (what < 0.43) life.user.poke(object);
    else if (what < 0.6 && this.depth < 3) await this.#nested((other) => other.kind.use(this, other));
    else if (what < 0.65) await null;
    this.mayEnd();
    this.depth--;
    this.top = top;
  }

  insideSync(object) {
    const { draw, life } = this;
    const top = this.top;
    this.top = Math.max(top, object.index);
    this.depth++;
    const what = draw.next();
    if (what < 0.15) nap(draw.next());
    else if (what < 0.25) life.user.poke(object);
    else if (what < 0.4 && this.depth < 3) this.#nested((other) => other.kind.useSync(this, other));
    this.mayEnd();
    this.depth--;
    this.top = top;
  }

  #nested(use) {
    const { bounded } = this;
    const done = use(this.draw.of(this.life.objects));
    this.bounded = bounded;
    return done;
  }

  /** Ends the thread now and then, whatever it holds. */
  mayEnd() {
    const { life, draw, plan } = this;
    if (!life.ends || life.gone || this.board.hasStopped || !draw.chance(plan.ends)) return;
    const how = draw.next();
    if (how < 0.4) process.exit(0);
    else if (how < 0.7) {
      setImmediate(() => {
        throw new Error(ON_PURPOSE);
      });
    } else life.leave();
  }
}
