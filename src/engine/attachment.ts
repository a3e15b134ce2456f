/**
 * One thread's side of one arena: its core instance, its doorbell, and the references it holds.
 *
 * A thread attaches once to an arena however many handles of it arrive, since it must have one place in
 * the registry. A reference (core/objects.ts) is held for each library object of this thread that may
 * still use a shared object. It goes when the library object is disposed of, finds the shared one
 * disposed of, or is collected, and at the orderly end of the thread.
 */
import { host } from '#host';
import { ArenaFullError } from '../errors.js';
import { ANSWER_ENDED, ANSWER_FULL, type Core, instantiate } from './core.js';
import { Doorbell, type Promises } from './doorbell.js';

const attachments = new Map<bigint, Attachment>();
/** The same by memory object, of which each message brings a new one. */
const byMemory = new WeakMap<WebAssembly.Memory, Attachment>();

export class Attachment {
  readonly memory: WebAssembly.Memory;
  readonly core: Core;
  readonly id: bigint;
  /** Index of the thread in the arena's registry. */
  readonly thread: number;
  /** Whether the engine lets this thread block: a browser's main thread may not. */
  readonly mayBlock = mayBlock();
  readonly doorbell: Doorbell;
  readonly #references = new Map<number, { count: number; readonly promises: Promises }>();
  readonly #collected = new FinalizationRegistry<number>((address) => this.#drop(address));

  private constructor(memory: WebAssembly.Memory, core: Core) {
    this.memory = memory;
    this.core = core;
    this.id = core.id();
    this.thread = core.register();
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
   * Counts a reference that the core has just given, for as long as the owner lives or until `letGo`.
   * @returns where promises of this thread wait on the object.
   */
  hold(owner: object, address: number): Promises {
    let reference = this.#references.get(address);
    if (!reference) {
      reference = { count: 0, promises: this.doorbell.promises() };
      this.#references.set(address, reference);
    }
    // The core counts one for the thread, however many library objects it has.
    if (reference.count++ > 0) this.core.detachObject(address);
    this.#collected.register(owner, address, owner);
    return reference.promises;
  }

  /** Gives back the reference that `hold` counted. */
  letGo(owner: object, address: number): void {
    this.#collected.unregister(owner);
    this.#drop(address);
  }

  #drop(address: number): void {
    const reference = this.#references.get(address);
    if (!reference) return;
    if (--reference.count > 0) return;
    this.#references.delete(address);
    this.core.detachObject(address);
  }

  #end(): void {
    // With promises still waiting, the queue holds elements in this thread's name: its record must stay.
    if (this.doorbell.busy) return;
    for (const address of this.#references.keys()) this.core.detachObject(address);
    this.#references.clear();
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
  throw new TypeError(
    'this thread may not block (a browser forbids it on the main thread): use acquireAsync, holdAsync or tryAcquire',
  );
}
