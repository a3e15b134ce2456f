/**
 * The code of users that runs inside calls of the library: callbacks, listeners of signals, getters of options. This
 * code calls the library in turn. The module also has the interrupts of node:vm, and objects that any thread may
 * dispose of.
 */
import { runInThisContext } from 'node:vm';
import { CancelledError, DisposedError, SelfDeadlockError, TimeoutError } from 'taketurns';
import { BrokenBarrierError } from 'taketurns/sync';
import { ASKS_BEGUN, ASKS_DONE, HALF_WRITTEN, ofCallback } from './board.mjs';
import { kinds } from './kinds/all.mjs';
import { Task } from './life.mjs';

/** The reason of an abort. Each abort has its own. */
class Reason {}

/** An arena with this number of waiters is never full. */
const ROOM = 1000;

const DOCUMENTED = [TimeoutError, CancelledError, DisposedError, BrokenBarrierError];

export class UserCode {
  /** How many callbacks run, one inside the other. */
  depth = 0;
  /** How often `onOwnerDied` has thrown, so a request has given back what it had got. */
  refusals = 0;
  #pokes = 0;

  constructor(life) {
    this.life = life;
    this.draw = life.draw;
  }

  listenToDeaths(object, lib) {
    if (!object.kind.tells?.(object)) return;
    const { life, draw } = this;
    const { board } = life;
    const target = object.kind.telling(lib);
    target.onOwnerDied = (deaths) => {
      if (life.gone) return;
      board.count('told');
      if (!(Number.isInteger(deaths) && deaths > 0)) life.find(`onOwnerDied of ${object.what} was told ${deaths}`);
      if (draw.chance(0.1)) this.#refuse(object);
      object.kind.repair(life, object, lib);
      this.callback(object);
      if (draw.chance(0.1)) this.#refuse(object);
    };
  }

  #refuse(object) {
    const { board, number } = this.life;
    this.refusals++;
    board.givesBack(object.index, number);
    throw HALF_WRITTEN;
  }

  /** Is called when the library calls user code. Calls the library in turn, if the plan says so. */
  callback(object) {
    const { life, draw } = this;
    if (life.gone || this.depth > 1 || !draw.chance(life.plan.callbacks)) return;
    life.board.count('callbacks');
    this.poke(draw.chance(0.7) ? object : draw.of(life.objects));
  }

  /** Calls any method that does not wait for long, or begins something that ends soon. */
  poke(object) {
    const { life, draw } = this;
    if (life.gone || this.depth > 2) return;
    this.depth++;
    const task = new Task(life, ofCallback(this.#pokes++));
    task.depth = 2;
    try {
      const what = draw.next();
      if (what < 0.3) this.look(object);
      else if (what < 0.6) {
        task.bounded = true;
        object.kind.useSync(task, object);
      } else if (life.running > 0 && life.loose.size < 8) this.loosely(task.step(object, true));
    } finally {
      this.depth--;
    }
  }

  loosely(promise) {
    const { life } = this;
    const over = promise
      .catch((error) => life.find('a task of a callback has failed', error))
      .finally(() => life.loose.delete(over));
    life.loose.add(over);
  }

  /** Reads something from an object, or calls a method that only looks. */
  look(object) {
    const { life, draw } = this;
    const { lib } = object;
    try {
      const asked = [
        () => lib.inspect(),
        () => lib.waiting,
        () => lib.toString(),
        () => lib.disposed,
        () => life.attach(object, lib.handle),
        () => life.arena.stats(),
        () => object.kind.look?.(lib),
        () => object.cancels && object.kind.isLock && this.cancelAll(object, lib),
      ];
      draw.of(asked)();
    } catch (error) {
      if (!life.mayBeOver(error) && !life.mayBeFull(error)) life.find(`a look at ${object.what} has thrown`, error);
    }
  }

  cancelAll(object, lib) {
    const { board } = this.life;
    board.add(object.index, ASKS_BEGUN, 1);
    lib.cancelAll?.(new Error('a cause'));
    board.add(object.index, ASKS_DONE, 1);
  }

  // --- Requests --------------------------------------------------------------------------------------------

  request(task, object, isSync) {
    const { draw } = task;
    const { interrupts } = task.plan;
    const { life, depth } = task;
    const isAlone = depth + this.depth + life.running + life.loose.size === 0;
    const mayInterrupt = isSync && isAlone && life.number > 0;
    const interrupt = mayInterrupt && interrupts > 0 && draw.chance(interrupts) ? draw.upTo(8) + 1 : undefined;
    const isPatient = task.mayWait(object, isSync) && draw.chance(0.45);
    if (isPatient) {
      const options = draw.of([undefined, undefined, undefined, {}, { timeout: Infinity }]);
      return { options, isPatient, isSync, interrupt };
    }
    // The request has plain options: an interrupt during a callback would cut short what the callback does.
    if (interrupt !== undefined) return { options: { timeout: 20 }, timeout: 20, isSync, interrupt };
    const limit = draw.chance(0.2) ? 0 : draw.next() * (isSync ? 4 : 8);
    if (isSync && draw.chance(0.8)) return { options: this.#given({ timeout: limit }, object), timeout: limit, isSync };
    if (!isSync && draw.chance(0.4)) return { options: this.#given({ timeout: limit }, object), timeout: limit };
    const reason = new Reason();
    const timeout = isSync || draw.chance(0.4) ? limit * 2 : undefined;
    const signal = this.#signal(object, reason);
    return { options: this.#given({ timeout, signal }, object), timeout, reason, isSync };
  }

  /** Returns the options as they are, or as an object whose getters call back. */
  #given(options, object) {
    const { life, draw } = this;
    if (!draw.chance(life.plan.callbacks)) return options;
    const callback = () => this.callback(object);
    const given = {};
    for (const [name, value] of Object.entries(options)) {
      Object.defineProperty(given, name, {
        enumerable: true,
        get() {
          callback();
          return value;
        },
      });
    }
    if (draw.chance(0.5)) return given;
    const get = (target, key) => {
      callback();
      return target[key];
    };
    return new Proxy(given, { get });
  }

  #signal(object, reason) {
    const { life, draw } = this;
    const controller = new AbortController();
    const abort = () => controller.abort(reason);
    const listener = () => this.callback(object);
    if (draw.chance(life.plan.callbacks)) controller.signal.addEventListener('abort', listener);
    const how = draw.next();
    if (how < 0.15) abort();
    else if (how < 0.3) queueMicrotask(abort);
    else if (how < 0.6) setImmediate(abort);
    else setTimeout(abort, draw.upTo(8));
    if (!draw.chance(life.plan.callbacks)) return controller.signal;
    const { signal } = controller;
    return {
      get aborted() {
        listener();
        return signal.aborted;
      },
      get reason() {
        return signal.reason;
      },
      addEventListener(name, heard) {
        listener();
        signal.addEventListener(name, heard);
      },
      removeEventListener(name, heard) {
        listener();
        signal.removeEventListener(name, heard);
      },
    };
  }

  // --- Interrupts ------------------------------------------------------------------------------------------

  interrupted(call, timeout) {
    globalThis.soakCall = call;
    return runInThisContext('soakCall()', { timeout });
  }

  wasInterrupted(object, name) {
    const { life } = this;
    life.board.count('interrupts');
    life.pause = true;
    // An interrupted request for permits stands in line until the thread ends.
    if (object.kind.haunts) life.haunted = true;
    this.interruptedIn = { object, name };
  }

  /**
   * Is called after an interrupt, when the thread has returned to its event loop. Checks what the interrupt has left.
   */
  afterInterrupt() {
    const { life, interruptedIn } = this;
    if (interruptedIn === undefined || life.gone || life.board.isEnding) return;
    this.interruptedIn = undefined;
    const { object, name } = interruptedIn;
    const what = `after an interrupt of ${name}, ${object.what}`;
    const me = life.arena.thread.thread;
    for (let isOver = false; !isOver; ) {
      try {
        object.kind.letGo?.(object, object.lib, me, life.board);
        isOver = true;
      } catch (error) {
        // It is told of a death in this call, and its own `onOwnerDied` has thrown.
        isOver = error !== HALF_WRITTEN;
        if (isOver) life.find(`${what} cannot be given back`, error);
      }
    }
    // If the arena is full, the request leaves the queue only when there is room for the next request of the thread.
    if (object.kind.haunts || life.plan.waiters < ROOM) return;
    const stats = object.lib.inspect();
    // A channel and a watch have two queues each.
    const all = stats.waiters ?? object.kind.queues.flatMap((queue) => stats[queue].waiters);
    const rest = all.filter(({ thread }) => thread === me);
    if (rest.length > 0) life.find(`${what} has requests of this thread: ${JSON.stringify(rest)}`);
  }

  // --- Objects that anybody may dispose of -----------------------------------------------------------------

  #make() {
    const { life, draw } = this;
    const kind = draw.of(life.plan.kinds);
    const { mortal } = kinds[kind];
    if (mortal === undefined) return undefined;
    const isNamed = draw.chance(0.6);
    // If a thread makes an object for itself and is killed before it disposes of the object, nobody frees it.
    if (!life.gone) life.board.makes(life.number, 1);
    try {
      return { kind, isNamed, lib: mortal.make(isNamed ? `mortal ${kind}` : undefined, life.arena, draw) };
    } catch (error) {
      if (!life.gone) life.board.makes(life.number, -1);
      throw error;
    }
  }

  #expects(error, kind) {
    if (DOCUMENTED.some((Class) => error instanceof Class) || this.life.mayBeFull(error)) return;
    if (kinds[kind]?.mortal.mayThrow?.(error)) return;
    if (error instanceof SelfDeadlockError || /does not hold the lock any more/.test(error?.message)) return;
    this.life.find(`a call on a ${kind} that may be disposed of has thrown`, error);
  }

  async mortal() {
    const { draw } = this;
    const made = this.#made();
    if (made === undefined) return;
    const { kind, lib } = made;
    const calls = kinds[kind].mortal.calls(lib, { timeout: draw.next() * 3 });
    const begun = Promise.allSettled(Array.from({ length: 1 + draw.upTo(3) }, async () => draw.of(calls)()));
    if (draw.chance(0.3)) lib.dispose();
    if (draw.chance(0.5)) await new Promise((resolve) => setImmediate(resolve));
    if (draw.chance(0.3)) lib.dispose();
    for (const end of await begun) if (end.status === 'rejected') this.#expects(end.reason, kind);
    if (draw.chance(0.8) || !made.isNamed) lib.dispose();
    this.#madeNoMore();
  }

  mortalSync() {
    const { draw } = this;
    const made = this.#made();
    if (made === undefined) return;
    const { kind, lib } = made;
    try {
      const result = draw.of(kinds[kind].mortal.calls(lib, { timeout: draw.next() * 3 }))();
      result?.then?.(undefined, (error) => this.#expects(error, kind));
    } catch (error) {
      this.#expects(error, kind);
    }
    lib.dispose();
    this.#madeNoMore();
  }

  #madeNoMore() {
    const { life } = this;
    if (life.gone) return;
    life.board.count('disposed');
    life.board.makes(life.number, -1);
  }

  /** Disposes of the mortal objects that have a name. */
  disposeOfMortals() {
    const { plan, arena } = this.life;
    for (const kind of plan.kinds) kinds[kind].mortal?.make(`mortal ${kind}`, arena, this.draw).dispose();
  }

  #made() {
    try {
      return this.#make();
    } catch (error) {
      if (!this.life.gone) this.#expects(error, 'new object');
      return undefined;
    }
  }
}
