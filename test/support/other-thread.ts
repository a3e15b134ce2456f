/**
 * Another thread of an arena, which the test runs by hand in its own thread. The other thread has its own registration
 * in the arena, and its own instances of the modules. So the test decides between which of its steps the other thread
 * uses a RwLock, and when it dies.
 */
import type { RwLock } from 'taketurns/sync';
import { KINDS } from '../../dist/border/kinds.js';
import { ADMITTED, REFUSED } from '../../dist/border/numbers.js';
import type { Sync } from '../../dist/border/sync.js';
import { embedded, instanceOf } from '../../dist/runtime/embedded.js';
import { instantiate } from '../../dist/runtime/instance.js';
import { Membership } from '../../dist/runtime/membership.js';
import { syncBytes } from '../../dist/sync/sync-bytes.js';

const syncModule = embedded(syncBytes);

export class OtherThread {
  readonly #core;
  readonly #sync: Sync;
  readonly #reap: () => void;
  readonly #at: number;
  readonly #number: number;
  /** The number of the other thread in the arena. */
  readonly thread: number;

  constructor(lock: RwLock) {
    const { arena, address, generation } = lock.handle;
    const memory = arena.memory as WebAssembly.Memory;
    const core = instantiate(memory);
    core.open();
    const thread = core.register(0);
    this.#sync = instanceOf<Sync>(syncModule(), { env: { memory } });
    this.#sync.adopt(thread);
    this.#number = core.attach(address, generation, KINDS.RwLock);
    this.#at = core.attachedTo(this.#number);
    this.#core = core;
    this.thread = thread;
    const life = core.lifeIfAlive(thread);
    this.#reap = () => (Membership.of(memory) as Membership).core.reap(thread, life, 0);
  }

  tryWrite(): boolean {
    if (this.#core.tryAcquireRobust(this.#at, 1, this.#number) !== ADMITTED) return false;
    if (this.#sync.shutGate(this.#at) === ADMITTED) return true;
    this.unlockWrite(true);
    return false;
  }

  unlockWrite(keepsDied = false): void {
    this.#sync.openGate(this.#at, keepsDied);
    const released = this.#core.releaseRobust(this.#at, 1, this.#number);
    if (released > 0) this.#core.finishRelease(this.#at, 1, released, this.#number);
  }

  tryRead(): boolean {
    return this.#sync.tryRead(this.#at, this.#sync.seatFor(this.#at)) !== REFUSED;
  }

  unlockRead(): void {
    this.#sync.endRead(this.#at, this.#sync.seatFor(this.#at));
  }

  dispose(): void {
    this.#core.disposeAgain(this.#at);
  }

  /** Which locks the other thread could get now. For this the other thread tries each lock, and gives it back. */
  get may(): { read: boolean; write: boolean } {
    const write = this.tryWrite();
    if (write) this.unlockWrite(true);
    const read = this.tryRead();
    if (read) this.unlockRead();
    return { read, write };
  }

  /** The other thread dies, and the thread of the test reaps it. */
  die(): void {
    this.#reap();
  }
}
