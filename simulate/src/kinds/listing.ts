/**
 * The locks, semaphores and event counts of `taketurns/algorithms`. All their waits block. What a dead thread has of
 * such an object is lost, so no thread dies in a program with one of these objects.
 */
import type { Call } from '../call.js';
import { Ghost, type Request } from '../ghosts.js';
import type { Spec } from '../program.js';
import type { Random } from '../random.js';
import type { Library } from '../realm.js';
import type { Stage } from '../stage.js';
import { dispose, type Kind, type Kinds, plainly } from './parts/kind.js';

class ListingGhost extends Ghost {
  #free: number;

  constructor(stage: Stage, on: number, free = 1) {
    super(stage, on);
    this.#free = free;
  }

  took(_call?: Call): void {
    if (--this.#free < 0) this.fail('more are in the section than may be');
  }

  gives(n = 1, _call?: Call): void {
    this.#free += n;
  }

  protected due(): Request | undefined {
    const [first] = this.pending;
    return this.#free > 0 ? first : undefined;
  }
}

/** The ghost of a lock. A thread that disposes of a lock gives it back, and its unlock does nothing afterwards. */
class LockGhost extends ListingGhost {
  /** The call by which a thread has got the lock; undefined if no thread has the lock. */
  #holds: Call | undefined;

  override took(call?: Call): void {
    super.took();
    this.#holds = call;
  }

  override gives(n?: number, call?: Call): void {
    if (this.isDisposed && call !== this.#holds) return;
    super.gives(n);
    this.#holds = undefined;
  }

  override disposes(dispose: () => void): void {
    if (this.#holds?.thread === this.stage.scheduler.running) this.gives(1, this.#holds);
    super.disposes(dispose);
  }
}

const ghostOf = ({ ghost }: Call): ListingGhost => ghost as ListingGhost;

/** Notes that the call has got what it asked for, and adds an event that gives this back. */
function has(call: Call, giveBack: () => void): void {
  const ghost = ghostOf(call);
  ghost.took(call);
  call.later('gives back', () => {
    ghost.gives(1, call);
    call.now(giveBack);
  });
}

type Make = (library: Library, arena: Library, n: number) => Library;

const common = (make: Make) => ({
  breaksByDeath: true,
  make: (library: Library, { n = 0 }: Spec, arena: Library) => make(library, arena, n),
  outlives: () => false,
});

const lock = (make: Make, draw: Kind['draw'] = plainly): Kind => ({
  ...common(make),
  draw,
  ghost: (stage, on) => new LockGhost(stage, on),
  operations: {
    lock: {
      weight: 6,
      blocks: true,
      draw: plainly,
      run(call) {
        call.blocks(
          () => call.object.lock(),
          () => has(call, () => call.object.unlock()),
        );
      },
    },
    tryLock: {
      weight: 4,
      draw: plainly,
      run(call) {
        if (call.now(() => call.object.tryLock())) has(call, () => call.object.unlock());
      },
    },
    run: {
      weight: 3,
      blocks: true,
      draw: (random) => ({ callback: random.of(['throws', 'calls back', undefined]) }),
      run(call) {
        const ghost = ghostOf(call);
        const section = (): void => {
          ghost.took();
          if (call.object.tryLock()) ghost.fail('the owner has got the lock once more');
          ghost.gives();
          if (call.operation.callback === 'throws') throw call.stage.error(call.thread);
          if (call.operation.callback === 'calls back') ghost.disposes(() => call.object.dispose());
        };
        call.blocks(
          () => call.object.run(section),
          () => {},
        );
      },
    },
    dispose,
  },
});

const semaphore = (make: Make, release = 'release'): Kind => ({
  ...common(make),
  draw: (random) => ({ n: 1 + random.below(2) }),
  ghost: (stage, on) => new ListingGhost(stage, on, stage.program.objects[on]?.n as number),
  operations: {
    acquire: {
      weight: 8,
      blocks: true,
      draw: plainly,
      run(call) {
        call.blocks(
          () => call.object.acquire(),
          () => has(call, () => call.object.release()),
        );
      },
    },
    release: {
      weight: 3,
      draw: plainly,
      run(call) {
        ghostOf(call).gives();
        call.now(() => call.object[release]());
      },
    },
    releaseMany: {
      weight: 1,
      draw: (random) => ({ n: 2 + random.below(2) }),
      run(call) {
        const { n } = call.operation;
        ghostOf(call).gives(n);
        call.now(() => call.object.release(n));
      },
    },
    dispose,
  },
});

const INNER = ['twa', 'ticket', 'chain'];
const parks = (arena: Library) => ({ arena, spin: 0 });

const locks: Kinds = {
  TtsLock: lock(({ TtsLock }, arena) => new TtsLock(parks(arena))),
  TicketLock: lock(({ TicketLock }, arena) => new TicketLock(parks(arena))),
  TwaLock: lock(({ TwaLock }, arena) => new TwaLock(parks(arena))),
  McsLock: lock(({ McsLock }, arena) => new McsLock(parks(arena))),
  ClhLock: lock(({ ClhLock }, arena) => new ClhLock(parks(arena))),
  LifoLock: lock(({ LifoLock }, arena) => new LifoLock(parks(arena))),
  ReciprocatingLock: lock(({ ReciprocatingLock }, arena) => new ReciprocatingLock(parks(arena))),
  /** The number says what is inside the capacitor, and whether a thread goes past the capacitor while nobody waits. */
  CapacitorLock: {
    ...lock(
      ({ CapacitorLock, TtsLock }, arena, n) =>
        new CapacitorLock(new TtsLock(parks(arena)), {
          ...parks(arena),
          bypass: 2,
          semaphore: INNER[n >> 1],
          whenContended: (n & 1) === 1,
        }),
      (random) => ({ n: random.below(2 * INNER.length) }),
    ),
    hasParts: true,
  },
};

const semaphores: Kinds = {
  TicketSemaphore: semaphore(({ TicketSemaphore }, arena, n) => new TicketSemaphore(n, parks(arena))),
  TwaSemaphore: semaphore(({ TwaSemaphore }, arena, n) => new TwaSemaphore(n, parks(arena)), 'releaseConservative'),
  ChainSemaphore: semaphore(
    ({ ChainSemaphore }, arena, n) => new ChainSemaphore(n, parks(arena)),
    'releaseConservative',
  ),
  ChannelSemaphore: semaphore(({ ChannelSemaphore }, arena, n) => new ChannelSemaphore(n, parks(arena))),
  LocationSemaphore: semaphore(({ LocationSemaphore }, arena, n) => new LocationSemaphore(n, parks(arena))),
  MultilaneSemaphore: {
    ...semaphore(({ MultilaneSemaphore }, arena, n) => new MultilaneSemaphore(n, parks(arena))),
    hasParts: true,
  },
};

class CountGhost extends Ghost {
  /** The highest number that the count may be. */
  #most = 0;
  /** The lowest number that the count may be. */
  #least = 0;

  advances(n: number, advance: () => void): void {
    this.#most += n;
    advance();
    this.#least += n;
  }

  saw(value: number): void {
    if (value > this.#most) this.fail(`the count is ${this.#most} at most, and ${value} was reached`);
  }

  protected due(): Request | undefined {
    return [...this.pending].find(({ n }) => n <= this.#least);
  }
}

const steps = (random: Random) => ({ n: 1 + random.below(3) });

const eventCount: Kind = {
  ...common(({ EventCount }, arena) => new EventCount(parks(arena))),
  draw: plainly,
  ghost: (stage, on) => new CountGhost(stage, on),
  operations: {
    await: {
      weight: 6,
      blocks: true,
      draw: steps,
      run(call) {
        const { n = 1 } = call.operation;
        const ghost = call.ghost as CountGhost;
        const { stage, thread } = call;
        // In the end, another thread lets the waiting thread go on.
        const other = [...stage.objects.keys()].find((one) => one !== thread);
        if (other === undefined) return;
        const advance = (): void => ghost.advances(n, () => call.now(() => ghost.objectOf(other).advance(n)));
        stage.scheduler.add(other, () => `advance(${n}) for ${call}`, advance);
        call.blocks(
          () => call.object.await(BigInt(n)),
          () => ghost.saw(n),
          n,
        );
      },
    },
    advance: {
      weight: 4,
      draw: steps,
      run(call) {
        const { n = 1 } = call.operation;
        (call.ghost as CountGhost).advances(n, () => call.now(() => call.object.advance(n)));
      },
    },
    read: {
      weight: 2,
      draw: plainly,
      run(call) {
        (call.ghost as CountGhost).saw(Number(call.now<bigint>(() => call.object.read()) ?? 0n));
      },
    },
    dispose,
  },
};

export const kinds: Kinds = { EventCount: eventCount, ...locks, ...semaphores };
