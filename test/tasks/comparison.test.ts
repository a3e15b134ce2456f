/**
 * Random programs of the tasks of one thread, on the classes of `taketurns/tasks` and on the shared classes. Both must
 * give the same answers, in the same order, and then tell the same about themselves.
 */
import fc from 'fast-check';
import * as threads from 'taketurns';
import * as channels from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as sync from 'taketurns/sync';
import * as tasks from 'taketurns/tasks';
import { describe, expect, it } from 'vitest';
import { roundsInCi } from '../support/rounds.js';
import { reactions, turn } from '../support/until.js';

/** What a program sees of an object: the answers of its calls, in their order. */
class Journal {
  readonly entries: string[] = [];
  #calls = 0;

  /** Notes what a call has answered: at once, or when its promise is settled. */
  note(call: () => unknown): void {
    const number = this.#calls++;
    const say = (what: string) => this.entries.push(`${number}: ${what}`);
    try {
      const answer = call();
      if (!(answer instanceof Promise)) {
        say(show(answer));
        return;
      }
      answer.then(
        (value) => say(`fulfilled ${show(value)}`),
        (error) => say(`rejected ${error.name}`),
      );
    } catch (error) {
      say((error as Error).name);
    }
  }
}

function show(value: unknown): string {
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value);
}

/** A step of a program: the name of a call, and two numbers that it may use. */
type Step = readonly [call: string, n: number, which: number];

/** The calls of one class, on an object that a program has made. */
interface Subject {
  readonly calls: Record<string, (n: number, which: number) => unknown>;
  /** What the object tells of itself. */
  state(): unknown;
  /** Ends the object, so that the thread keeps nothing of it. */
  end(): void;
}

/** Signals that the steps of one program share. */
class Signals {
  readonly #controllers = [0, 1, 2].map(() => new AbortController());
  of(which: number): AbortSignal {
    return (this.#controllers[which % 3] as AbortController).signal;
  }
  abort(which: number): void {
    this.#controllers[which % 3]?.abort(new SyntaxError('enough'));
    this.#controllers[which % 3] = new AbortController();
  }
}

/** Guards that the steps of one program give back: in the order of the calls that have made them. */
class Guards<G> {
  readonly #guards: (G | undefined)[] = [];

  keep(made: Promise<G> | G | undefined): unknown {
    const slot = this.#guards.length;
    this.#guards.push(undefined);
    const note = (guard: G | undefined): string => {
      this.#guards[slot] = guard;
      return String(guard);
    };
    return made instanceof Promise ? made.then(note) : note(made);
  }

  end(which: number, end: (guard: G) => unknown): unknown {
    const made = this.#guards.filter((guard) => guard !== undefined);
    const guard = made[which % Math.max(made.length, 1)];
    return guard && end(guard);
  }
}

const KEYS: readonly tasks.Key[] = ['a', 1, '1'];

/** The keys, in no order: one side has them in the order in which they came, and the other as they lie in the arena. */
function keysIn({ size, waiting, timeouts, keys }: tasks.KeyedStats): unknown {
  return [size, waiting, timeouts, ...keys.map((key) => JSON.stringify(key)).sort()];
}

type Classes = {
  [Name in keyof typeof tasks]: unknown;
};

const make: Record<string, (given: Classes) => Subject> = {
  Semaphore(given) {
    const { Semaphore } = given as typeof tasks;
    const s = new Semaphore(2, { max: 6 });
    const signals = new Signals();
    const guards = new Guards<tasks.HeldPermits>();
    return {
      calls: {
        acquire: (n) => s.acquireAsync(n),
        acquireOne: () => s.acquireAsync(),
        hold: (n) => guards.keep(s.holdAsync(n)),
        tryHold: (n) => guards.keep(s.tryHold(n)),
        endGuard: (_, which) => guards.end(which, (guard) => guard.release()),
        endPart: (n, which) => guards.end(which, (guard) => guard.release(n)),
        acquireNow: (n) => s.acquireAsync(n, { timeout: 0 }),
        acquireFor: (n, which) => s.acquireAsync(n, { signal: signals.of(which), timeout: 100_000 }),
        abort: (_, which) => signals.abort(which),
        tryAcquire: (n) => s.tryAcquire(n),
        release: (n) => s.release(n),
        releaseOne: () => s.release(),
        add: (n) => s.add(n),
        reduce: (n) => s.reduce(n),
        drain: () => s.drain(),
        // If a heavy request leaves, the shared class may admit a light one behind it, or cancel it too.
        cancelAll: () => s.disposed || s.inspect().widest > 1 || s.cancelAll(),
        run: (n) => s.runExclusive(() => n, n),
        limit: (n) => s.limit((value: number) => value, n)(n),
        badPermits: (n, which) => s.acquireAsync(-n, { signal: signals.of(which) }),
        badOption: (n) => s.acquireAsync(n, { timeout: -n }),
        aborted: () => s.acquireAsync({ signal: AbortSignal.abort(new SyntaxError('before')) }),
        dispose: (n) => n === 5 && s.dispose(),
      },
      state: () => [s.available, s.waiting, s.disposed, s.max, s.disposed || counts(s.inspect())],
      end: () => s.dispose(),
    };
  },
  Mutex(given) {
    // The shared one keeps strict order only with this option.
    const m = given === tasks ? new tasks.Mutex() : (new threads.Mutex({ bypass: 0 }) as unknown as tasks.Mutex);
    const signals = new Signals();
    const guards = new Guards<tasks.HeldLock>();
    return {
      calls: {
        lock: () => m.lockAsync(),
        lockNow: () => m.lockAsync({ timeout: 0 }),
        lockFor: (_, which) => m.lockAsync({ signal: signals.of(which), timeout: 100_000 }),
        hold: () => guards.keep(m.holdAsync()),
        tryHold: () => guards.keep(m.tryHold()),
        endGuard: (_, which) => guards.end(which, (guard) => m.locked && guard.unlock()),
        abort: (_, which) => signals.abort(which),
        tryLock: () => m.tryLock(),
        unlock: () => m.unlock(),
        cancelAll: () => m.cancelAll(),
        wait: () => m.waitForUnlockAsync(),
        run: (n) => m.runExclusive(() => n),
        dispose: (n) => n === 5 && m.dispose(),
      },
      state: () => [m.locked, m.waiting, m.disposed],
      end: () => m.dispose(),
    };
  },
  KeyedMutex(given) {
    const { KeyedMutex } = given as typeof tasks;
    const k = new KeyedMutex();
    const signals = new Signals();
    const guards = new Guards<{ unlock(): void }>();
    const key = (n: number): tasks.Key => KEYS[n % KEYS.length] as tasks.Key;
    return {
      calls: {
        hold: (n) => guards.keep(k.holdAsync(key(n))),
        holdNow: (n) => guards.keep(k.holdAsync(key(n), { timeout: 0 })),
        holdFor: (n, which) => guards.keep(k.holdAsync(key(n), { signal: signals.of(which), timeout: 100_000 })),
        tryHold: (n) => guards.keep(k.tryHold(key(n))),
        holdAll: (n, which) => guards.keep(k.holdAllAsync([key(n), key(which), key(n + 1)], { timeout: 0 })),
        endGuard: (_, which) => guards.end(which, (guard) => guard.unlock()),
        endOther: (_, which) => guards.end(which + 1, (guard) => guard.unlock()),
        abort: (_, which) => signals.abort(which),
        cancelAll: () => k.cancelAll(),
        run: (n) => k.runExclusive(key(n), () => n),
        bad: (n) => k.tryHold(n + 0.5),
        aborted: (n) => k.holdAsync(key(n), { signal: AbortSignal.abort(new SyntaxError('before')) }),
        limit: (n) => k.limit((_, value: number) => value)(key(n), n),
        dispose: (n, which) => n === 5 && which === 5 && k.dispose(),
      },
      state: () => [k.size, k.waiting, k.disposed, k.disposed || keysIn(k.inspect())],
      end: () => k.dispose(),
    };
  },
  KeyedSemaphore(given) {
    const { KeyedSemaphore } = given as typeof tasks;
    const k = new KeyedSemaphore(4);
    /** Whether a request for more than one permit may have waited. */
    let isWide = false;
    const signals = new Signals();
    const guards = new Guards<tasks.HeldPermits>();
    const key = (which: number): tasks.Key => KEYS[which % 2] as tasks.Key;
    return {
      calls: {
        hold: (n, which) => {
          isWide ||= n > 1;
          return guards.keep(k.holdAsync(key(which), n));
        },
        holdOne: (_, which) => guards.keep(k.holdAsync(key(which))),
        holdNow: (n, which) => guards.keep(k.holdAsync(key(which), n, { timeout: 0 })),
        holdFor: (_, which) => guards.keep(k.holdAsync(key(which), { signal: signals.of(which), timeout: 100_000 })),
        tryHold: (n, which) => guards.keep(k.tryHold(key(which), n)),
        endGuard: (_, which) => guards.end(which, (guard) => guard.release()),
        endOther: (_, which) => guards.end(which + 1, (guard) => guard.release()),
        endPart: (n, which) => guards.end(which, (guard) => guard.release(n)),
        abort: (_, which) => signals.abort(which),
        run: (_, which) => k.runExclusive(key(which), () => which),
        limit: (n, which) => k.limit((_, value: number) => value)(key(which), n),
        runWide: (n, which) => {
          isWide = true;
          return k.runExclusive(key(which), () => n, n);
        },
        bad: (n, which) => k.holdAsync(key(which), -n),
        // If a heavy request leaves, the shared class may admit a light one behind it, or cancel it too.
        cancelAll: () => isWide || k.cancelAll(),
        dispose: (n, which) => n === 5 && which === 5 && k.dispose(),
      },
      state: () => [k.size, k.waiting, k.disposed, k.permits, k.disposed || keysIn(k.inspect())],
      end: () => k.dispose(),
    };
  },
  RwLock(given) {
    const { RwLock } = given as typeof tasks;
    const l = new RwLock();
    const signals = new Signals();
    const guards = new Guards<{ unlock(): void }>();
    return {
      calls: {
        read: () => guards.keep(l.readAsync()),
        readNow: () => guards.keep(l.readAsync({ timeout: 0 })),
        readFor: (_, which) => guards.keep(l.readAsync({ signal: signals.of(which) })),
        write: () => guards.keep(l.writeAsync()),
        writeNow: () => guards.keep(l.writeAsync({ timeout: 0 })),
        writeFor: (_, which) => guards.keep(l.writeAsync({ signal: signals.of(which), timeout: 100_000 })),
        update: () => guards.keep(l.updateAsync()),
        tryRead: () => guards.keep(l.tryRead()),
        tryWrite: () => guards.keep(l.tryWrite()),
        lockRead: () => l.lockReadAsync(),
        unlockRead: () => l.readers > 0 && l.unlockRead(),
        tryLockRead: () => l.tryLockRead(),
        stamp: () => l.stamp() > 0 && l.valid(l.stamp()),
        aborted: () => l.writeAsync({ signal: AbortSignal.abort(new SyntaxError('before')) }),
        endGuard: (_, which) => guards.end(which, (guard) => guard.unlock()),
        downgrade: (_, which) =>
          guards.end(which, (guard) => 'downgrade' in guard && guards.keep((guard as tasks.HeldWrite).downgrade())),
        downgradeToUpdate: (_, which) =>
          guards.end(
            which,
            (guard) => 'downgradeToUpdate' in guard && guards.keep((guard as tasks.HeldWrite).downgradeToUpdate()),
          ),
        upgrade: (_, which) =>
          guards.end(
            which,
            (guard) => 'upgradeAsync' in guard && guards.keep((guard as tasks.HeldUpdate).upgradeAsync()),
          ),
        upgradeFor: (_, which) =>
          guards.end(
            which,
            (guard) =>
              'upgradeAsync' in guard &&
              guards.keep((guard as tasks.HeldUpdate).upgradeAsync({ signal: signals.of(which) })),
          ),
        within: (_, which) =>
          guards.end(
            which,
            (guard) => String(guard) === 'HeldRead(held)' && l.lockReadAsync({ within: guard as tasks.HeldRead }),
          ),
        abort: (_, which) => signals.abort(which),
        dispose: (n) => n === 5 && l.dispose(),
      },
      state: () => [l.readers > 0, l.writing, l.waiting, l.disposed],
      end: () => l.dispose(),
    };
  },
  Condition(given) {
    const { Condition, Mutex } = given as typeof tasks;
    const m = new Mutex();
    const c = new Condition(m);
    const signals = new Signals();
    let has = 0;
    const take = async (options?: { timeout: number }): Promise<unknown> => {
      const isThere = await c.waitForAsync(() => has > 0, options);
      return isThere && has--;
    };
    const within = async (run: () => Promise<unknown>): Promise<unknown> => {
      await m.lockAsync();
      try {
        return await run();
      } finally {
        if (m.locked) m.unlock();
      }
    };
    return {
      calls: {
        wait: () => within(() => c.waitAsync()),
        waitNow: () => within(() => c.waitAsync({ timeout: 0 })),
        waitFor: (_, which) => within(() => c.waitAsync({ signal: signals.of(which), timeout: 100_000 })),
        take: () => within(() => take()),
        takeNow: () => within(() => take({ timeout: 0 })),
        notOwnedNow: () => !m.locked && c.waitAsync({ timeout: 0 }),
        put: (n) =>
          within(async () => {
            has += n;
            return c.notify(n);
          }),
        notAnOwner: () => !m.locked && c.waitAsync(),
        notify: (n) => c.notify(n),
        notifyAll: () => c.notifyAll(),
        abort: (_, which) => signals.abort(which),
        dispose: (n) => n === 5 && c.dispose(),
      },
      state: () => [m.locked, m.waiting, c.waiting, c.disposed, has],
      end: () => c.dispose(),
    };
  },
  Event(given) {
    const { Event } = given as typeof tasks;
    const e = new Event();
    const signals = new Signals();
    return {
      calls: {
        wait: () => e.waitAsync(),
        waitNow: () => e.waitAsync({ timeout: 0 }),
        waitFor: (_, which) => e.waitAsync({ signal: signals.of(which) }),
        set: () => e.set(),
        reset: () => e.reset(),
        bad: (n) => e.waitAsync({ timeout: -n }),
        aborted: () => e.waitAsync({ signal: AbortSignal.abort(new SyntaxError('before')) }),
        abort: (_, which) => signals.abort(which),
        dispose: (n) => n === 5 && e.dispose(),
      },
      state: () => [e.isSet, e.waiting, e.disposed, e.inspect().isSet, String(e)],
      end: () => e.dispose(),
    };
  },
  Latch(given) {
    const { Latch } = given as typeof tasks;
    const l = new Latch(5);
    const signals = new Signals();
    return {
      calls: {
        wait: () => l.waitAsync(),
        waitFor: (_, which) => l.waitAsync({ signal: signals.of(which) }),
        countDown: (n) => l.countDown(n),
        waitNow: () => l.waitAsync({ timeout: 0 }),
        bad: (n) => l.countDown(-n),
        abort: (_, which) => signals.abort(which),
        dispose: (n) => n === 5 && l.dispose(),
      },
      state: () => [l.count, l.waiting, l.disposed, String(l)],
      end: () => l.dispose(),
    };
  },
  WaitGroup(given) {
    const { WaitGroup } = given as typeof tasks;
    const g = new WaitGroup();
    const signals = new Signals();
    const guards = new Guards<tasks.HeldTask>();
    return {
      calls: {
        wait: () => g.waitAsync(),
        waitFor: (_, which) => g.waitAsync({ signal: signals.of(which) }),
        add: (n) => g.add(n),
        done: (n) => g.done(n),
        hold: () => guards.keep(g.hold()),
        endTask: (_, which) => guards.end(which, (task) => task.done()),
        run: (n) => g.run(async () => n),
        waitNow: () => g.waitAsync({ timeout: 0 }),
        fails: () =>
          g.run(async () => {
            throw new SyntaxError('it fails');
          }),
        abort: (_, which) => signals.abort(which),
        dispose: (n) => n === 5 && g.dispose(),
      },
      state: () => [g.pending, g.waiting, g.disposed, String(g)],
      end: () => g.dispose(),
    };
  },
  Barrier(given) {
    const { Barrier } = given as typeof tasks;
    let rounds = 0;
    const b = new Barrier(3, {
      action() {
        if (++rounds === 4) throw new SyntaxError('the fourth round');
      },
    });
    const signals = new Signals();
    return {
      calls: {
        arrive: () => b.arriveAndWaitAsync(),
        arriveToo: () => b.arriveAndWaitAsync(),
        arriveFor: (_, which) => b.arriveAndWaitAsync({ signal: signals.of(which) }),
        arriveNow: (n) => n === 1 && b.arriveAndWaitAsync({ timeout: 0 }),
        abort: (n, which) => n === 1 && signals.abort(which),
        dispose: (n) => n === 5 && b.dispose(),
      },
      state: () => [b.parties, b.round, b.broken, b.waiting, b.disposed, b.inspect().arrived, rounds],
      end: () => b.dispose(),
    };
  },
  Channel(given) {
    const { Channel } = given as typeof tasks;
    const c = new Channel<number>({ capacity: 4 });
    const signals = new Signals();
    let sent = 0;
    const loop = async (most: number): Promise<string> => {
      const values: number[] = [];
      for await (const value of c) if (values.push(value) === most) break;
      return values.join();
    };
    return {
      calls: {
        send: () => c.sendAsync(sent++),
        sendToo: () => c.sendAsync(sent++),
        sendNow: () => c.sendAsync(sent++, { timeout: 0 }),
        sendFor: (_, which) => c.sendAsync(sent++, { signal: signals.of(which), timeout: 100_000 }),
        trySend: () => c.trySend(sent++),
        receive: () => c.receiveAsync(),
        receiveToo: () => c.receiveAsync(),
        receiveNow: () => c.receiveAsync({ timeout: 0 }),
        receiveFor: (_, which) => c.receiveAsync({ signal: signals.of(which), timeout: 100_000 }),
        tryReceive: () => c.tryReceive()?.value,
        loop: (n) => loop(n),
        abort: (_, which) => signals.abort(which),
        close: (n, which) => n === 5 && which === 5 && c.close(),
        dispose: (n, which) => n === 5 && which === 4 && c.dispose(),
      },
      state: () => [c.size, c.capacity, c.closed, c.waiting, c.disposed, sent, c.disposed || ends(c.inspect())],
      end: () => c.dispose(),
    };
  },
  Once(given) {
    const { Once } = given as typeof tasks;
    const o = new Once();
    const signals = new Signals();
    const ends: { resolve(): void; reject(error: Error): void }[] = [];
    const work = () => new Promise<void>((resolve, reject) => void ends.push({ resolve, reject }));
    return {
      calls: {
        run: () => o.runAsync(work),
        runNow: () => o.runAsync(work, { timeout: 0 }),
        runFor: (_, which) => o.runAsync(work, { signal: signals.of(which) }),
        fails: () => ends.shift()?.reject(new SyntaxError('it fails')),
        returns: (n) => n > 3 && ends.shift()?.resolve(),
        abort: (_, which) => signals.abort(which),
      },
      state: () => [o.done, o.waiting, ends.length, String(o)],
      end: () => o.dispose(),
    };
  },
};

/** The part of the description that both sides give. */
function counts(stats: tasks.SemaphoreStats): unknown {
  const { permits, added, max, available, out, waiting, widest } = stats;
  return [permits, added, max, available, out, waiting, widest];
}

function ends({ capacity, size, closed, senders, receivers }: tasks.ChannelStats): unknown {
  return [capacity, size, closed, senders.waiting, receivers.waiting];
}

/** A message of the other side is any value. Here it is a number. */
class Channel extends channels.Channel<number> {
  constructor(options: channels.ChannelOptions<number>) {
    super({ ...options, codec: channels.number });
  }
}

const shared = { ...threads, ...keyed, ...sync, Channel } as unknown as Classes;

/**
 * Returns what a turn has shown. Some calls of the two sides need more microtasks than others, so the order of all
 * entries does not count. That of the requests of a semaphore, which are all alike, does.
 */
function told(entries: string[], name: string): unknown[] {
  const acquired = entries.filter((entry) => name === 'Semaphore' && entry.endsWith('fulfilled undefined'));
  return [acquired, ...entries.sort()];
}

/**
 * After these calls others do not follow at once, and these calls follow no others at once. A guard of a `RwLock` comes
 * later on one side. The end of the work of a `Once` is known some microtasks later, and if a signal is aborted in
 * between, one side rejects and the other answers false. A call for several keys takes them some microtasks apart.
 * `run` gives its lock or its key back some microtasks later, and an `unlock` in between is a mistake. So is one that
 * follows at once the `unlock` which made a queued `run` the owner. A wait on a condition that is over at once locks
 * the mutex again some microtasks later. A loop asks for its next message some microtasks after it has got one.
 */
const LONE: Record<string, RegExp> = {
  RwLock: /./,
  Once: /^(fails|returns)$/,
  Condition: /^(waitNow|takeNow)$/,
  KeyedMutex: /^(holdAll|run|limit)$/,
  Channel: /^loop$/,
};

/** The calls of a mutex that do not follow others at once, and that others do not follow, in a program with a `run`. */
const UNLOCKS = /^(run|unlock|endGuard)$/;

/** Runs a program, and returns everything that it sees. */
async function run(subject: Subject, name: string, program: readonly Step[]): Promise<unknown[]> {
  const journal = new Journal();
  const seen: unknown[] = [];
  const lone = name === 'Mutex' && program.some(([call]) => call === 'run') ? UNLOCKS : LONE[name];
  const isLone = (step: Step | undefined): boolean => step !== undefined && lone?.test(step[0]) === true;
  for (const [i, [call, n, which]] of program.entries()) {
    journal.note(() => subject.calls[call]?.(n, which));
    // Some calls follow one another at once.
    if (which === 0 && !isLone(program[i]) && !isLone(program[i + 1])) continue;
    for (let i = 0; i < 5; i++) await reactions();
    // The phases of the shared classes end by a message of the runtime.
    await turn();
    await turn();
    seen.push([...told(journal.entries.splice(0), name), subject.state()]);
  }
  await turn();
  const last = [...told(journal.entries, name), subject.state()];
  subject.end();
  return [...seen, last];
}

describe.each(Object.keys(make))('%s', (name) => {
  it('does in one thread what the shared class does', async () => {
    const begin = make[name] as (given: Classes) => Subject;
    const names = Object.keys(begin(tasks).calls);
    const step = fc.tuple(fc.constantFrom(...names), fc.integer({ min: 1, max: 5 }), fc.nat({ max: 5 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (program) => {
        const here = await run(begin(tasks), name, program);
        const there = await run(begin(shared), name, program);
        // As text: to the comparison of Vitest, 0 and -0 differ.
        expect(JSON.stringify(here, undefined, 1)).toBe(JSON.stringify(there, undefined, 1));
      }),
      { numRuns: roundsInCi(1000, 300) },
    );
  });
});
