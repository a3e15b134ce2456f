/** RwLock: readers, writers, and threads that have the writers' turn without writing, and may become writers. */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Random } from '../random.js';
import type { Library, Realm } from '../realm.js';
import { dispose, type Kind, type Kinds, type OperationKind, patience, plainly } from './parts/kind.js';

type Mode = 'read' | 'write' | 'update' | 'upgrade';

class RwLockGhost extends Ghost {
  readonly #modes = new WeakMap<Request, Mode>();
  readonly #readers = new Map<Realm, number>();
  /** The thread that has the writers' turn, and whether it writes. */
  #turn: { readonly thread: Realm; readonly writes: boolean } | undefined;
  /** Whether a writer has died, and no writer since then has unlocked. */
  #isHalfWritten = false;
  /** The threads that have learned of the death. A thread is taken out when it has nothing of the lock any more. */
  readonly #learned = new Set<Realm>();
  /** For a reader: the writers whose turn had come for certain when the reader came. The reader must not pass them. */
  readonly #ahead = new WeakMap<Request, readonly Request[]>();
  readonly #first = new WeakSet<Request>();
  /** Counts how often a thread has got something of the lock, or has asked for it. */
  #moves = 0;

  override prepare(_thread: Realm, object: Library): void {
    object.onOwnerDied = () => this.ownerDied();
  }

  override callsBack(thread: Realm): void {
    this.objectOf(thread).tryRead()?.unlock();
  }

  get #isFree(): boolean {
    return this.#turn === undefined && this.#readers.size === 0;
  }

  #waiting(...modes: Mode[]): Request[] {
    return [...this.pending].filter((request) => modes.includes(this.#modes.get(request) as Mode));
  }

  /** Notes that a request of this mode begins. Returns what to do when the request stands in the queue. */
  enters(request: Request, mode: Mode): () => void {
    this.#modes.set(request, mode);
    const moves = ++this.#moves;
    const ahead = this.#waiting('write').filter((writer) => this.#first.has(writer));
    if (mode === 'read') this.#ahead.set(request, ahead);
    // If another call is under way, it may be just about to take the lock or to give it back. A thread that has died
    // may have got the lock in its last call. In these cases the ghost does not know whether the lock is free.
    const isAlone = () =>
      !this.stage.scheduler.isNested &&
      !this.stage.isUnreaped &&
      this.#isFree &&
      this.#waiting('write', 'update').length === 1;
    const { timeout, signal } = request.call.operation;
    const wasAlone = mode === 'write' && timeout === undefined && signal === undefined && isAlone();
    return () => {
      // If another call has got the lock in the meantime, the writer has queued up behind it.
      const hasStayed = moves === this.#moves;
      if (wasAlone && isAlone() && hasStayed && this.pending.has(request)) this.#first.add(request);
    };
  }

  reads(thread: Realm, request?: Request): void {
    if (this.#turn?.writes) this.fail(`thread ${thread.index} reads while thread ${this.#turn.thread.index} writes`);
    const passed = request && this.#ahead.get(request)?.find((writer) => this.pending.has(writer) && !writer.mustEnd);
    // A writer whose callback throws has given its turn back already.
    if (passed && !this.isDisposed && this.spec.callback !== 'throws')
      this.fail(`${request.call} has passed ${passed.call}, whose turn had come`);
    this.#checkLearned(thread);
    this.#moves++;
    this.#readers.set(thread, (this.#readers.get(thread) ?? 0) + 1);
  }

  protected override learned(thread: Realm): void {
    this.#learned.add(thread);
  }

  #checkLearned(thread: Realm): void {
    if (this.#isHalfWritten && !this.#learned.has(thread))
      this.fail(`thread ${thread.index} has it, and has not learned that a writer has died`);
  }

  /** If the thread has nothing of the lock any more, its next call must learn again that data may be half-written. */
  #forgets(thread: Realm): void {
    const has = this.#readers.has(thread) || this.#turn?.thread === thread;
    if (!has && ![...this.pending].some(({ call }) => call.thread === thread)) this.#learned.delete(thread);
  }

  leaves(thread: Realm): void {
    const reads = (this.#readers.get(thread) ?? 0) - 1;
    if (reads > 0) this.#readers.set(thread, reads);
    else this.#readers.delete(thread);
    this.#forgets(thread);
  }

  /** Notes that a thread has got the turn. */
  turns(thread: Realm, writes: boolean): void {
    if (this.#turn) this.fail(`threads ${this.#turn.thread.index} and ${thread.index} both have the turn`);
    const [reader] = this.#readers.keys();
    if (writes && reader) this.fail(`thread ${thread.index} writes while thread ${reader.index} reads`);
    this.#checkLearned(thread);
    this.#moves++;
    this.#turn = { thread, writes };
  }

  givesTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn?.writes) this.#isHalfWritten = false;
    if (turn) this.#forgets(turn.thread);
  }

  /** Notes that the thread that has the turn becomes a writer. `turns` is called next. */
  upgrades(): void {
    this.#turn = undefined;
  }

  protected due(): Request | undefined {
    const [reader] = this.#waiting('read');
    const [writer] = this.#waiting('write', 'update');
    const [upgrade] = this.#waiting('upgrade');
    if (this.#isFree && writer) return writer;
    if (this.#readers.size === 0 && upgrade) return upgrade;
    if (this.#turn?.writes || upgrade || (writer && !this.#turn)) return undefined;
    return reader;
  }

  override reaped(thread: Realm): void {
    super.reaped(thread);
    this.#readers.delete(thread);
    if (this.#turn?.thread !== thread) return;
    if (this.#turn.writes) this.#isHalfWritten = true;
    this.#turn = undefined;
  }

  override ended(thread: Realm): void {
    super.ended(thread);
    if (this.isDisposed || this.stage.isUnreaped) return;
    const { readers, writer, writing, waiters } = this.objectOf(thread).inspect();
    if (readers.length > 0 || writer !== undefined || writing || waiters.length > 0)
      this.fail(`${readers.length} readers, writer ${writer}, ${waiters.length} who wait in the end`);
  }
}

const ghostOf = ({ ghost }: Call): RwLockGhost => ghost as RwLockGhost;

type Guard = Library;

function hasRead(call: Call, guard: Guard, request?: Request): void {
  const ghost = ghostOf(call);
  ghost.reads(call.thread, request);
  call.later('unlock', () => {
    ghost.leaves(call.thread);
    call.now(() => (guard ? guard.unlock() : call.object.unlockRead()));
  });
}

/** Notes that the call writes. Later it unlocks, or goes on as a reader. */
function hasWritten(call: Call, guard: Guard): void {
  const ghost = ghostOf(call);
  ghost.turns(call.thread, true);
  call.later('unlock', () => {
    ghost.givesTurn();
    const reads = call.operation.goesOn === 'downgrade' && guard;
    if (!reads) call.now(() => (guard ? guard.unlock() : call.object.unlockWrite()));
    else {
      ghost.reads(call.thread);
      const reader = call.now<Guard>(() => guard.downgrade());
      call.later('unlock', () => {
        ghost.leaves(call.thread);
        call.now(() => reader?.unlock());
      });
    }
  });
}

/** Notes that the call has the turn. Later it gives the turn back, or becomes a writer first. */
function hasTurn(call: Call, guard: Guard): void {
  const ghost = ghostOf(call);
  ghost.turns(call.thread, false);
  const unlock = (): void => {
    ghost.givesTurn();
    call.now(() => guard.unlock());
  };
  call.later(call.operation.goesOn ?? 'unlock', () => {
    if (call.operation.goesOn !== 'upgrade' || ghost.isDisposed) unlock();
    else
      waits(
        call,
        'upgrade',
        (options) => guard.upgradeAsync(options),
        (writer) => {
          ghost.upgrades();
          hasWritten(call, writer);
        },
        () => call.later('unlock', unlock),
      );
  });
}

function waits(
  call: Call,
  mode: Mode,
  start: (options: object | undefined) => unknown,
  got: (guard: Guard, request: Request) => void,
  refused?: () => void,
): void {
  let queued = (): void => {};
  call.waits(start, got, 1, refused, (request) => {
    const enters = queued;
    if (request.queued === Infinity) queued = ghostOf(call).enters(request, mode);
    else enters();
  });
}

/** Makes an operation that waits by a promise. */
const async = (
  weight: number,
  mode: Mode,
  name: string,
  has: (call: Call, guard: Guard, request: Request) => void,
  draw: OperationKind['draw'] = patience,
): OperationKind => ({
  weight,
  draw,
  run(call) {
    waits(
      call,
      mode,
      (options) => call.object[name](options),
      (guard, request) => has(call, guard, request),
    );
  },
});

/** Makes an operation that blocks. */
const blocking = (
  weight: number,
  mode: Mode,
  name: string,
  has: (call: Call, guard: Guard) => void,
): OperationKind => ({
  weight,
  blocks: true,
  draw: (random: Random) => ({
    ...(random.once(2) ? { timeout: random.below(4) } : {}),
    ...(random.once(4) ? { cut: true } : {}),
  }),
  run(call) {
    call.blocks(
      (options) => call.object[name](options),
      (guard) => has(call, guard),
      1,
      (request) => void ghostOf(call).enters(request, mode),
    );
  },
});

/** Makes an operation that takes the lock only if the lock is free. */
const trying = (name: string, has: (call: Call, guard: Guard) => void): OperationKind => ({
  weight: 1,
  draw: plainly,
  run(call) {
    const guard = call.now(() => call.object[name]());
    if (guard) has(call, guard);
  },
});

const goesOn = (what: 'downgrade' | 'upgrade') => (random: Random) => ({
  ...patience(random),
  ...(random.once(2) ? { goesOn: what } : {}),
});

const READS = (call: Call): void => hasRead(call, undefined);
const WRITES = (call: Call): void => hasWritten(call, undefined);

const rwLock: Kind = {
  draw: (random) => (random.once(2) ? {} : { callback: random.of(['throws', 'calls back']) }),
  make: ({ RwLock }, _spec, arena) => new RwLock({ arena }),
  ghost: (stage, on) => new RwLockGhost(stage, on),
  outlives: () => true,
  operations: {
    readAsync: async(5, 'read', 'readAsync', hasRead),
    lockReadAsync: async(2, 'read', 'lockReadAsync', (call, _guard, request) => hasRead(call, undefined, request)),
    writeAsync: async(4, 'write', 'writeAsync', hasWritten, goesOn('downgrade')),
    lockWriteAsync: async(2, 'write', 'lockWriteAsync', WRITES),
    updateAsync: async(3, 'update', 'updateAsync', hasTurn, goesOn('upgrade')),
    lockRead: blocking(2, 'read', 'lockRead', READS),
    lockWrite: blocking(2, 'write', 'lockWrite', WRITES),
    write: blocking(1, 'write', 'write', hasWritten),
    update: blocking(1, 'update', 'update', hasTurn),
    tryRead: trying('tryRead', hasRead),
    tryWrite: trying('tryWrite', hasWritten),
    dispose,
  },
};

export const kinds: Kinds = { RwLock: rwLock };
