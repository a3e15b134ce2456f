/**
 * One thread's side of one arena: its core instance, its doorbell, and the objects it is attached to.
 *
 * A thread attaches once to an arena however many handles of it arrive, since it must have one place in
 * the registry. It is attached to a shared object (core/attachments.ts) for as long as a library object of its
 * own may still use that: until the last one is disposed of, finds the shared object disposed of, or is
 * collected, and until the end of the thread.
 */
import { host } from '#host';
import { ArenaFullError } from '../errors.js';
import { ANSWER_ENDED, ANSWER_FULL, type Core, instantiate, REAPED, STILL_AWAKE } from './core.js';
import { Doorbell, type Promises } from './doorbell.js';

/** Milliseconds after which a thread that was terminated, and not asleep, has ended for sure. */
const GRACE = 1000;

const attachments = new Map<bigint, Attachment>();
/** The same by memory object, of which each message brings a new one. */
const byMemory = new WeakMap<WebAssembly.Memory, Attachment>();

/** What this thread knows of a shared object that it is attached to. */
export interface Shared {
  /** The number of the attachment in the core. */
  readonly number: number;
  /** The same if the object is robust, so that the permits held are counted there; else 0, and at the thread's end. */
  robust: number;
  /** Where promises of this thread wait on the object. */
  readonly promises: Promises;
}

export class Attachment {
  readonly memory: WebAssembly.Memory;
  readonly core: Core;
  readonly id: bigint;
  /** Index of the thread in the arena's registry. */
  readonly thread: number;
  /** Whether the engine lets this thread block: a browser's main thread may not. */
  readonly mayBlock = mayBlock();
  readonly doorbell: Doorbell;
  readonly #shared = new Map<number, { count: number; readonly shared: Shared }>();
  readonly #collected = new FinalizationRegistry<number>((address) => this.#drop(address));

  private constructor(memory: WebAssembly.Memory, core: Core) {
    this.memory = memory;
    this.core = core;
    this.id = core.id();
    this.thread = core.register(host.threadName);
    if (this.thread === ANSWER_FULL) {
      throw new ArenaFullError(
        'the arena has no room for another thread: make it with more `threads` or `waiters`',
      );
    }
    this.doorbell = new Doorbell(core, memory);
    if (!this.mayBlock) core.acquire = refuseToBlock;
    host.onExit(() => this.#end());
  }

  /** This thread's attachment to the arena in the memory, made if there is none yet. Undefined: no arena in it. */
  static of(memory: WebAssembly.Memory): Attachment | undefined {
    let attachment = byMemory.get(memory);
    if (attachment) return attachment;
    const core = instantiate(memory);
    if (!core.open()) return undefined;
    attachment = attachments.get(core.id()) ?? new Attachment(memory, core);
    attachments.set(attachment.id, attachment);
    byMemory.set(memory, attachment);
    return attachment;
  }

  /**
   * Stays attached to an object for as long as the owner lives or until `letGo`.
   * @param number of an attachment that the core has just made.
   */
  hold(owner: object, address: number, number: number): Shared {
    let entry = this.#shared.get(address);
    if (entry) {
      // One serves the thread, however many library objects it has.
      entry.count++;
      this.core.detach(number);
    } else {
      const robust = this.core.isRobust(address) ? number : 0;
      entry = { count: 1, shared: { number, robust, promises: this.doorbell.promises(robust) } };
      this.#shared.set(address, entry);
    }
    this.#collected.register(owner, address, owner);
    return entry.shared;
  }

  /** Ends what `hold` began. */
  letGo(owner: object, address: number): void {
    this.#collected.unregister(owner);
    this.#drop(address);
  }

  #drop(address: number): void {
    const entry = this.#shared.get(address);
    if (!entry || --entry.count > 0) return;
    const { number, robust } = entry.shared;
    // Who holds permits of a robust object stays attached: it may come back by handle or name to release them.
    if (robust && this.core.held(number) > 0 && !this.core.isDisposed(address)) return;
    this.#shared.delete(address);
    this.core.detach(number);
  }

  /** What tells this thread from all others that have or had its index. */
  get identity(): { readonly thread: number; readonly life: number } {
    const thread = this.core.self();
    return { thread, life: this.core.lifeIfAlive(thread) };
  }

  /** Reaps a thread that was registered with this life. Whether it was alive until now. */
  reap(thread: number, life: number): boolean {
    return this.core.reap(thread, life, 0) === REAPED;
  }

  /** Reaps the thread that the runtime has called so, if it is attached: at once, or when it is surely gone. */
  reapHost(name: number): void {
    for (let i = this.core.mostThreads(); i > 0; i--) {
      const life = this.core.lifeIfAlive(i);
      if (life === 0 || this.core.hostOf(i) !== name) continue;
      if (this.core.reap(i, life, Number(!host.exitIsDeath)) !== STILL_AWAKE) continue;
      setTimeout(() => this.core.reap(i, life, 0), GRACE);
    }
  }

  #end(): void {
    for (const { shared } of this.#shared.values()) {
      shared.robust = 0;
      shared.promises.forget();
    }
    this.#shared.clear();
    this.core.unregister();
    // Handlers of the same event that come later may still acquire and release: the core registers the thread
    // again if it has to block. A promise would never be told.
    this.core.arrive = () => ANSWER_ENDED;
  }
}

function mayBlock(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}

/** Stands in for what would block. */
export function refuseToBlock(): never {
  refuse('acquireAsync, holdAsync or tryAcquire');
}

/** The same, of a lock. */
export function refuseToLock(): never {
  refuse('tryLock');
}

function refuse(instead: string): never {
  throw new TypeError(`this thread may not block (a browser forbids it on the main thread): use ${instead}`);
}
