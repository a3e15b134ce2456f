/**
 * A world has some threads over one memory, and serves many runs. A run makes the objects of a program in a new arena,
 * and lets the scheduler run the operations. Whenever the library has nothing left to do, the ghosts check the objects.
 * At the end the run checks that nothing is left in the arena.
 */
import { Call } from './call.js';
import type { Choices } from './choices.js';
import { Failure } from './event.js';
import type { Ghost } from './ghosts.js';
import { kindOf } from './kinds/all.js';
import type { Kind } from './kinds/parts/kind.js';
import { libraryText, type Patch } from './library.js';
import { lineOf, type Operation, type Program, type Spec } from './program.js';
import { type Library, listenToRejections, Realm } from './realm.js';
import { Scheduler } from './schedule.js';
import { Signal } from './signal.js';
import type { Stage } from './stage.js';

/** The arena of a run fits in one page. */
const SIZES = { objects: 20, threads: 6, waiters: 40, slots: 4, chains: 1, watch: false };

/** How a run has ended. */
export interface Outcome {
  readonly failure: Error | undefined;
  /** Whether a thread has died. */
  readonly hasDeath: boolean;
  readonly steps: number;
  readonly trace: readonly string[];
}

class Run implements Stage {
  readonly scheduler: Scheduler;
  readonly program: Program;
  readonly ghosts: Ghost[];
  readonly objects = new Map<Realm, Library[]>();
  readonly signals: { readonly thread: Realm; readonly signal: Signal }[] = [];
  readonly errors = new Set<unknown>();
  isUnreaped = false;
  readonly #threads: readonly Realm[];
  readonly #shared = new Map<Realm, Signal>();
  readonly #busy = new Map<Realm, number>();
  readonly #arenas = new Map<Realm, Library>();
  readonly #handles: readonly unknown[];
  readonly #lost = new Set<Library>();

  constructor(scheduler: Scheduler, threads: readonly Realm[], program: Program) {
    this.scheduler = scheduler;
    this.program = program;
    this.#threads = threads;
    const first = threads[0] as Realm;
    const { Arena } = first.library;
    const arena = scheduler.as(first, () => new Arena(SIZES));
    for (const thread of threads) {
      const own = thread === first ? arena : scheduler.as(thread, () => thread.library.Arena.from(arena.handle));
      this.#arenas.set(thread, own);
    }
    this.ghosts = program.objects.map((spec, on) => kindOf(spec).ghost(this, on));
    const made: Library[] = [];
    scheduler.as(first, () => {
      program.objects.forEach((spec, on) => {
        made.push(kindOf(spec).make(first.library, spec, arena, made, this.ghosts[on] as Ghost));
      });
    });
    this.objects.set(first, made);
    this.#handles = made.map((object) => object.handle);
    for (const thread of threads.slice(1))
      this.objects.set(
        thread,
        scheduler.as(thread, () => made.map((_, on) => this.#attach(thread, on))),
      );
    for (const thread of threads) for (const ghost of this.ghosts) ghost.prepare(thread, ghost.objectOf(thread));
  }

  /** Makes the thread's library object for the shared object of this number. */
  #attach(thread: Realm, on: number): Library {
    const spec = this.program.objects[on] as Spec;
    const handle = this.#handles[on];
    return (
      kindOf(spec).from?.(thread.library, handle, this.ghosts[on] as Ghost) ?? thread.library[spec.kind].from(handle)
    );
  }

  renew(thread: Realm, on: number, attachesFirst: boolean): void {
    const objects = this.objects.get(thread) as Library[];
    const isOwned = this.program.objects.some(({ of }) => of !== undefined);
    if (isOwned || (this.#busy.get(thread) ?? 0) > 0 || this.#lost.has(objects[on])) return;
    const collect = thread.tools.collects(objects[on]);
    const attach = (): Library => {
      try {
        const made = this.#attach(thread, on);
        this.ghosts[on]?.prepare(thread, made);
        return made;
      } catch (error) {
        if ((error as Error).name !== 'DisposedError' || !this.ghosts[on]?.isDisposed) throw error;
        return undefined;
      }
    };
    if (attachesFirst) {
      const made = attach();
      if (made === undefined) return;
      objects[on] = made;
      this.scheduler.add(thread, () => 'a finalizer runs', collect());
    } else {
      collect()();
      objects[on] = attach() ?? this.#nothing();
    }
  }

  /** What stands for the library object of a thread that cannot attach, because the object has been disposed of. */
  #nothing(): Library {
    const get = (_: object, name: string | symbol): unknown => (typeof name === 'symbol' ? undefined : () => undefined);
    const nothing = new Proxy({}, { get });
    this.#lost.add(nothing);
    return nothing;
  }

  isClosed(on: number): boolean {
    // A thread that attaches to a condition also attaches to its mutex for good, so a trial is not possible.
    if ((this.program.objects[on] as Spec).of !== undefined) return false;
    try {
      this.#attach(this.scheduler.running as Realm, on);
      return false;
    } catch (error) {
      if ((error as Error).name === 'DisposedError') return true;
      throw error;
    }
  }

  error(thread: Realm): Error {
    const error = thread.tools.error('OwnError', 'thrown by the program');
    this.errors.add(error);
    return error;
  }

  busy(thread: Realm, more: number): void {
    this.#busy.set(thread, (this.#busy.get(thread) ?? 0) + more);
  }

  sharedSignal(thread: Realm): Signal {
    let signal = this.#shared.get(thread);
    if (signal === undefined || signal.isAborted) {
      const made = new Signal(thread.tools.error('Aborted', 'the shared signal is aborted'), false, () => {});
      this.scheduler.add(
        thread,
        () => 'the shared signal is aborted',
        () => made.abort(),
      );
      this.#shared.set(thread, made);
      this.signals.push({ thread, signal: made });
      signal = made;
    }
    return signal;
  }

  /** Runs the program. @throws what is wrong. */
  play(): void {
    const { program, scheduler } = this;
    program.threads.forEach((operations, i) => {
      for (const operation of operations) this.#add(this.#threads[i] as Realm, operation);
    });
    if (program.dies !== undefined) this.#addDeath(this.#threads[program.dies - 1] as Realm);
    const rested = (): void => {
      for (const ghost of this.ghosts) ghost.rested();
    };
    scheduler.run(rested);
    const alive = this.#threads.find(({ isDead }) => !isDead) as Realm;
    for (const ghost of this.ghosts)
      scheduler.add(
        alive,
        () => `the end of ${ghost.name}`,
        () => ghost.finish(alive),
      );
    scheduler.run(rested);
    for (const ghost of this.ghosts) ghost.ended(alive);
    this.#end();
  }

  #add(thread: Realm, operation: Operation): void {
    const kind = kindOf(this.program.objects[operation.on] as Spec);
    const { run, blocks } = kind.operations[operation.call] as Kind['operations'][string];
    const call = new Call(this, this.ghosts[operation.on] as Ghost, thread, operation);
    // A thread blocks only if it has nothing else under way, and while no other thread blocks.
    const isEnabled = blocks
      ? () => this.scheduler.isIdle && !this.isUnreaped && (this.#busy.get(thread) ?? 0) === 0
      : undefined;
    this.scheduler.add(
      thread,
      () => lineOf(this.program, operation),
      () => {
        if (!this.#lost.has(call.object)) run(call);
      },
      { isEnabled },
    );
  }

  #addDeath(thread: Realm): void {
    const { scheduler } = this;
    const handle = this.#arenas.get(thread).thread;
    const die = (): void => {
      scheduler.kill(thread);
      this.isUnreaped = true;
      for (const ghost of this.ghosts) ghost.died(thread);
      const alive = this.#threads.filter((other) => !other.isDead);
      // The thread at the bottom of the stack may sleep, or be about to sleep.
      const reaper = (alive.find((other) => other !== scheduler.first) ?? alive[0]) as Realm;
      const reap = (): void => {
        // During the call of `reap`, other threads already get what the dead thread had. So the ghosts are told before
        // the call.
        for (const ghost of this.ghosts) ghost.reaped(thread);
        this.#arenas.get(reaper).reap(handle);
        for (const ghost of this.ghosts) ghost.wasReaped(thread);
        this.isUnreaped = false;
      };
      scheduler.add(reaper, () => `thread ${thread.index} is reaped`, reap);
    };
    scheduler.add(undefined, () => `thread ${thread.index} dies`, die, { isEnabled: () => !thread.isSafe });
  }

  /** Checks, after all events, that nothing is left. */
  #end(): void {
    const { scheduler } = this;
    const alive = this.#threads.filter(({ isDead }) => !isDead);
    for (const { thread, signal } of this.signals)
      if (!thread.isDead && signal.listeners.size > 0) throw new Failure('a signal has a listener in the end');
    for (const thread of alive) {
      if (thread.reasons !== 0) throw new Failure(`thread ${thread.index} is kept alive in the end`);
      if (thread.events.some(({ at }) => at !== undefined)) throw new Failure('a timer is left in the end');
    }
    for (const thread of alive) scheduler.as(thread, () => this.#dispose(thread));
    const [first] = alive as [Realm];
    const { elements, objects, waiting } = this.#arenas.get(first).stats();
    if (objects.used > 0) throw new Failure(`${objects.used} objects are left in the end`);
    if (waiting > 0) throw new Failure(`${waiting} wait in the end`);
    // Each thread may keep two elements for its next requests. If it has used a lock or a semaphore of the papers, it
    // may also keep one element for its next wait on a chain, and up to five queue nodes (core/papers/nodes.ts).
    const kept = 2 + (this.program.objects.some((spec) => kindOf(spec).breaksByDeath) ? 1 + 5 : 0);
    if (elements.used > kept * alive.length) throw new Failure(`${elements.used} elements are in use in the end`);
    for (const thread of alive) scheduler.as(thread, () => this.#arenas.get(thread).dispose());
    scheduler.run(() => {});
  }

  #dispose(thread: Realm): void {
    for (const object of [...(this.objects.get(thread) ?? [])].reverse()) {
      if (this.#lost.has(object)) {
        // A party of a barrier stays attached without a library object. It lets go when it next attaches to an object.
        new thread.library.Semaphore(1, { arena: this.#arenas.get(thread) }).dispose();
        continue;
      }
      object.dispose();
      // A condition that was opened from its handle has made its own library object for the mutex.
      object.mutex?.dispose();
      // A CapacitorLock leaves its inner lock alone, which it has under a symbol.
      if (object instanceof thread.library.CapacitorLock) innerOf(object)?.dispose();
    }
  }
}

function innerOf(lock: object): { dispose(): void } | undefined {
  const parts = Object.getOwnPropertySymbols(lock).map((key) => Reflect.get(lock, key));
  return parts.find((part) => typeof part?.unlock === 'function');
}

export class World {
  readonly #text: string;
  /** A page for the arena, and two for metrics, which nothing touches here. */
  readonly #memory = new WebAssembly.Memory({ initial: 3, maximum: 3, shared: true });
  readonly #scheduler = new Scheduler(this.#memory);
  readonly #depth: number;
  #threads: Realm[] = [];
  #runs = 0;

  /** @param depth how many calls the stack trace of an error of the library has */
  constructor(patches: readonly Patch[] = [], depth = 0) {
    this.#text = libraryText(patches);
    this.#depth = depth;
    listenToRejections();
  }

  /** How many steps there were in all runs. */
  get steps(): number {
    return this.#scheduler.steps;
  }

  /** Runs a program. After every RUNS runs, the world makes new threads. */
  run(program: Program, choices: Choices, trace = false): Outcome {
    /** A thread keeps a little memory of each run in which it was, so it serves only this many runs. */
    const RUNS = 2000;
    if (++this.#runs % RUNS === 0) this.#threads = [];
    new Uint8Array(this.#memory.buffer, 0, 65536).fill(0);
    const scheduler = this.#scheduler;
    const { threads: all } = program;
    while (this.#threads.length < all.length)
      this.#threads.push(new Realm(scheduler, this.#threads.length + 1, this.#memory, this.#text, this.#depth));
    const threads = this.#threads.slice(0, all.length);
    for (const thread of threads) thread.tools.forget();
    const { steps } = scheduler;
    let failure: Error | undefined;
    let hasDeath = false;
    scheduler.begin(threads, choices, trace);
    try {
      new Run(scheduler, threads, program).play();
    } catch (error) {
      failure = error instanceof Error ? error : new Failure(String((error as Error)?.stack ?? error));
      // Calls of the failed run must not go on in the next run.
      for (const thread of threads) scheduler.kill(thread);
    }
    for (const thread of threads) if (thread.isDead) scheduler.bury(thread);
    for (const thread of threads) {
      if (!thread.isDead) continue;
      hasDeath = true;
      thread.revive();
    }
    return { failure, hasDeath, steps: scheduler.steps - steps, trace: scheduler.trace ?? [] };
  }
}
