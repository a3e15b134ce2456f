/** The bound of the mutex is kept and reached, and a forgotten hand-over is found. */
import { describe, expect, it } from 'vitest';
import { LOAD } from '../src/engine/machine/machine.js';
import { PARKED, PENDING } from '../src/engine/machine/status.js';
import { search } from '../src/engine/search/search.js';
import { mutexModel } from '../src/models/parts/mutex-model.js';
import { CONTENDED, HAS, M_WORD, mutex } from '../src/models/parts/mutex-words.js';
import { loadProgram } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { ADMITTED, constant, QUEUED, TICKET } from '../src/scene/layout.js';
import type { Model } from '../src/scene/model.js';
import { call } from '../src/scene/ops/calls.js';
import type { Scene } from '../src/scene/scene.js';

const core = loadProgram('core');
const run = (model: Model) => search(() => new Driver(core, model));

describe('a waiter', () => {
  const find = (program: string, bound: number) => run(mutexModel({ name: 'bound', program, bypass: 1, bound }));

  it.each(['L U | L U L U', 'B U | L U L U', 'a d | L U | L U L U'])(
    'of %s is overtaken as often as the bound says',
    (program) => {
      expect(find(program, 0).violation?.message).toMatch(/is overtaken 1 times/);
    },
  );

  it.each(['L U | L U L U', 'B U | L U L U'])('of %s is never overtaken more often', (program) => {
    expect(find(program, 1)).toMatchObject({ exhaustive: true });
  });
});

describe('an owner that unlocks without a wake-up', () => {
  const unlockOnly = call('unlock', (scene, t) => {
    scene.set(t, HAS, 0);
    return [mutex(scene)];
  });

  it.each(['L U', 'a d'])('leaves %s asleep', (waiter) => {
    const model = mutexModel({ name: 'wrong', program: `L U | ${waiter}`, bypass: 1 });
    const [owner, other] = model.programs as [Model['programs'][0], Model['programs'][0]];
    expect(run(model)).toMatchObject({ exhaustive: true });
    const wrong = { ...model, programs: [[...owner.slice(0, 1), unlockOnly], other] };
    expect(run(wrong).violation?.message).toMatch(/sleeps for ever/);
  });
});

const M_LIMIT = constant('M_LIMIT');
const M_PACE = constant('M_PACE');
const M_TURN = constant('M_TURN');
const MORE = constant('MORE');
const HEAD = constant('HEAD');

describe('a turn', () => {
  const WAITER = constant('M_WAITER');
  const FOR_EVER = [-1, -1];
  const machine32 = (scene: Scene, at: number, value: number): void => scene.machine.hostStore32(at, value);

  interface Turn {
    /** The overtakings until the head ends the turn, if it is awake. */
    turn: number;
    /** The overtakings until no other thread may take the lock. */
    limit: number;
  }

  /** Returns the turn after the head of `waiters` waiters has taken the lock. `pace` is for a quarter of a millisecond. */
  function turnOf(waiters: number, bypass: number, pace = 0): Turn {
    const model = mutexModel({ name: 'turns', program: 'L U | L U', bypass, spin: 40 });
    let turn: Turn | undefined;
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const word = (address: number): number => scene.machine.words[address >> 2] as number;
      scene.callNow(0, 'lock', m);
      expect(scene.callNow(1, 'queue', m, scene.attachment(1, 0))).toBe(HEAD);
      // The count of waiters lies in both halves of the word, so the sum is made with 64 bits.
      const more = BigInt(waiters - 1) * BigInt(WAITER) + BigInt(word(m + M_WORD) >>> 0);
      scene.machine.hostStore32(m + M_WORD, Number(BigInt.asIntN(32, more)));
      scene.machine.hostStore32(m + M_WORD + 4, word(m + M_WORD + 4) + Number(more >> 32n));
      machine32(scene, m + M_PACE, pace);
      machine32(scene, m + M_LIMIT, bypass);
      scene.callNow(0, 'unlock', m);
      // Otherwise compete sets the limit before it has the lock.
      scene.clear(1, 'mutex/limitUnset');
      expect(scene.callNow(1, 'compete', m, ...FOR_EVER, scene.attachment(1, 0))).toBe(ADMITTED);
      turn = { turn: word(m + M_TURN), limit: word(m + M_LIMIT) };
    };
    new Driver(core, { ...model, objects });
    return turn as Turn;
  }

  it.each([
    [1, 0, 5000, 10_000],
    [1, 500, 500, 1000],
    [60, 500, 500, 1000],
    // The turns of all waiters together last 15 milliseconds.
    [61, 500, 491, 982],
    [300, 500, 100, 200],
    [600, 500, 50, 100],
    [20_000, 500, 1, 2],
    [65_536, 500, 1, 1],
    // The turns of all waiters together stay within the bound.
    [64, 10_000, 8065, 8065],
    [64, 2048, 1920, 3840],
    [65_536, 0, 4, 7],
  ])('of one of %i waiters, at a pace of %i, is %i overtakings, at most %i', (waiters, pace, turn, limit) => {
    expect(turnOf(waiters, 524_288, pace)).toEqual({ turn, limit });
  });

  it('is at least one overtaking, except for a mutex that is first come, first served', () => {
    expect(turnOf(3, 1)).toEqual({ turn: 1, limit: 1 });
    expect(turnOf(3, 0)).toEqual({ turn: 0, limit: 0 });
  });
});

describe('the pace', () => {
  /** Returns the pace after a turn of `microseconds`, with `count` overtakings in this turn and the next. */
  function paceAfter(microseconds: number, count: number, pace: number): number {
    const model = mutexModel({ name: 'pace', program: 'L U | L U', bypass: 100_000, spin: 40 });
    let found = -1;
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const { machine } = scene;
      const high = (): number => machine.words[(m + M_WORD + 4) >> 2] as number;
      scene.callNow(0, 'lock', m);
      scene.callNow(1, 'queue', m, scene.attachment(1, 0));
      scene.callNow(0, 'unlock', m);
      scene.callNow(1, 'compete', m, -1, -1, scene.attachment(1, 0));
      machine.hostStore32(m + M_WORD + 4, high() + (count << 3));
      machine.hostStore32(m + M_PACE, pace);
      scene.callNow(0, 'turnLasted', m, microseconds);
      expect(machine.words[(m + M_PACE) >> 2], 'of who has had no turn').toBe(pace);
      scene.callNow(1, 'turnLasted', m, microseconds);
      found = machine.words[(m + M_PACE) >> 2] as number;
      scene.callNow(1, 'turnLasted', m, 2 * microseconds);
      expect(machine.words[(m + M_PACE) >> 2], 'of a turn that is counted already').toBe(found);
    };
    new Driver(core, { ...model, objects });
    return found;
  }

  it.each([
    // The pace goes an eighth of the way from the known pace to the measured one.
    ['follows what is measured', 500, 1600, 1600, 1500],
    ['follows what is measured', 250, 1600, 800, 901],
    ['follows what is measured', 250, 800, 1600, 1500],
    // An owner was stopped for long, or was alone for a while.
    ['follows no further than from a quarter', 250, 0, 1600, 1450],
    ['follows no further than from four times as much', 250, 100_000, 1600, 2201],
    ['goes up after a turn too short for the clock', 0, 128, 1600, 1801],
    ['stays if that was not a whole turn', 0, 127, 1600, 1600],
    ['is measured from 20 microseconds on', 20, 128, 1600, 1600],
    ['follows what is measured, 131,072 at most', 250, 500_000, 131_000, 131_010],
    ['is 1 at least', 250, 0, 1, 1],
    ['begins at 5,000', 250, 5000, 0, 5000],
    ['can be measured after a long time', 2 ** 30, 100_000, 1600, 1450],
  ])('%s: %i microseconds, %i overtakings, %i before', (_, microseconds, count, before, after) => {
    expect(paceAfter(microseconds, count, before)).toBe(after);
  });
});

describe('an owner', () => {
  /** Returns the answers of the owner's unlock, and of a lock after the unlock, while another thread is the head. */
  function answers(limit: number, flags = 0): { unlock: number; lock: number } {
    const model = mutexModel({ name: 'again', program: 'L U | L U', bypass: 4096 });
    const found = { unlock: -1, lock: -1 };
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const { machine } = scene;
      scene.callNow(0, 'lock', m);
      scene.callNow(1, 'queue', m, scene.attachment(1, 0));
      machine.hostStore32(m + M_LIMIT, limit);
      machine.hostStore32(m + M_WORD, (machine.words[(m + M_WORD) >> 2] as number) | flags);
      found.unlock = scene.callNow(0, 'unlock', m);
      found.lock = scene.callNow(0, 'lock', m);
    };
    new Driver(core, { ...model, objects });
    return found;
  }

  it('may lock again while another waits', () => {
    expect(answers(1).lock).toBe(ADMITTED);
  });

  it('locks and unlocks by one access to the word each, whether or not another waits', () => {
    const model = mutexModel({ name: 'accesses', program: 'L U | L U', bypass: 4096 });
    const counts: number[] = [];
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const { machine } = scene;
      const pair = (): void => {
        let count = 0;
        for (const name of ['lock', 'unlock']) {
          scene.call(0, name, m);
          for (; machine.status(0) === PENDING; machine.step(0)) if (machine.pendingAddress(0) === m + M_WORD) count++;
          expect(machine.resultLo(0)).toBe(ADMITTED);
        }
        counts.push(count);
      };
      pair();
      scene.callNow(0, 'lock', m);
      scene.callNow(1, 'queue', m, scene.attachment(1, 0));
      machine.hostStore32(m + M_LIMIT, 1000);
      scene.callNow(0, 'unlock', m);
      pair();
      pair();
    };
    new Driver(core, { ...model, objects });
    expect(counts).toEqual([2, 2, 2]);
  });

  it.each([
    ['the head must be woken', constant('M_SLEEPING'), MORE],
    ['that is all', 0, ADMITTED],
  ])('that unlocks learns that %s', (_, flags, answer) => {
    expect(answers(1000, flags).unlock).toBe(answer);
  });

  it.each([
    ['the limit is reached', 0, 0],
    ['the lock is reserved', 1, constant('M_RESERVED')],
  ])('may not when %s', (_, limit, flags) => {
    expect(answers(limit, flags).lock).toBe(CONTENDED);
  });
});

/** Before a thread queues up, it looks at the word once more: the mutex may be closed, or the count of waiters full. */
const ROOM = 1;

describe('a thread that polls', () => {
  const M_HEAD = constant('M_HEAD');
  const M_RESERVED = constant('M_RESERVED');
  const M_SLEEPING = constant('M_SLEEPING');
  const SPIN = 40;
  interface Owner {
    lock(): void;
    unlock(): void;
    /** Sets flags of the mutex's word. */
    set(flags: number): void;
    has(flag: number): boolean;
  }
  /** What the owner does between two polls. The owner has the lock at first. */
  type Between = (poll: number, owner: Owner) => void;

  interface Polled {
    polls: number;
    /** The answer; -1 if the thread sleeps. */
    answer: number;
    tickets: number;
    /** How often the thread was overtaken. */
    overtakings: number;
    /** The flags of the word. */
    flags: number;
    pace: number;
  }

  /** Lets a thread poll while thread 0 has the lock: thread 1, the head, or thread 2, which may be the first waiter. */
  function polled(
    who: 'head' | 'barging thread' | 'first',
    between: Between,
    {
      limit = 10_000,
      turn = limit,
      pace = 0,
      sleeps = 1,
    }: { limit?: number; turn?: number; pace?: number; sleeps?: number } = {},
  ): Polled {
    const model = mutexModel({ name: 'polls', program: 'L U | L U | L U', bypass: 4096, spin: SPIN });
    let result: Polled | undefined;
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const { machine } = scene;
      const word = (at: number): number => machine.words[(m + at) >> 2] as number;
      scene.callNow(0, 'lock', m);
      if (who !== 'first') scene.callNow(1, 'queue', m, scene.attachment(1, 0));
      scene.clear(1, 'mutex/limitUnset');
      machine.hostStore32(m + M_LIMIT, limit);
      machine.hostStore32(m + M_TURN, turn);
      machine.hostStore32(m + M_PACE, pace);
      const t = who === 'head' ? 1 : 2;
      const owner = {
        lock: () => expect(scene.callNow(0, 'lock', m)).toBe(ADMITTED),
        unlock: () => expect(scene.callNow(0, 'unlock', m)).toBe(ADMITTED),
        set: (flags: number) => machine.hostStore32(m + M_WORD, word(M_WORD) | flags),
        has: (flag: number) => (word(M_WORD) & flag) !== 0,
      };
      if (t === 1) scene.call(1, 'compete', m, -1, -1, scene.attachment(1, 0));
      else scene.call(2, 'queue', m, scene.attachment(2, 0));
      let polls = 0;
      for (let times = sleeps; times > 0; times--) {
        if (machine.status(t) === PARKED) {
          expect(scene.callNow(0, 'unlock', m)).toBe(MORE);
          scene.callNow(0, 'wakeHead', m);
          owner.lock();
          polls = Math.abs(polls);
        }
        while (machine.status(t) === PENDING) {
          const at = machine.pendingAddress(t) - m;
          // The polls end when the thread is about to sleep (it writes M_HEAD) or takes a ticket.
          if (at === M_HEAD || at === TICKET) polls = -Math.abs(polls);
          else if (at === M_WORD && machine.pendingKind(t) === LOAD && polls >= 0) between(++polls, owner);
          machine.step(t);
        }
      }
      const answer = machine.status(t) === PARKED ? -1 : machine.resultLo(t);
      const overtakings = word(M_WORD + 4) >>> 3;
      const flags = word(M_WORD) & (M_RESERVED | M_SLEEPING);
      result = {
        polls: Math.abs(polls),
        answer,
        tickets: word(TICKET),
        overtakings,
        flags,
        pace: word(M_PACE),
      };
    };
    new Driver(core, { ...model, objects });
    return result as Polled;
  }

  // Every poll finds the word unchanged. tryLock, with which a barging thread takes the lock, makes one more look.
  it.each([
    ['barging thread', 10 + 1 + 1],
    ['head', 10 + 1],
  ] as const)('as %s takes a lock that lies idle', (who, polls) => {
    const found = polled(who, (poll, { unlock }) => {
      if (poll === 10) unlock();
    });
    expect(found).toMatchObject({ polls, answer: ADMITTED, tickets: 1 });
  });

  it('as head waits longer for an idle lock when it would wake another thread', () => {
    const found = polled('head', (poll, { unlock, set }) => {
      if (poll === 9) set(2 * constant('M_WAITER'));
      if (poll === 10) unlock();
    });
    expect(found).toMatchObject({ polls: 10 + 8, answer: ADMITTED });
  });

  it('as barging thread leaves the lock to an owner that comes back soon', () => {
    const found = polled('barging thread', (poll, { lock, unlock }) => {
      if (poll % 4 === 2) unlock();
      if (poll % 4 === 3) lock();
    });
    expect(found).toMatchObject({ answer: QUEUED, overtakings: 5 });
  });

  it('as head goes on for as long as owners come and go, and takes the lock when its turn comes', () => {
    const found = polled(
      'head',
      (poll, { lock, unlock }) => {
        unlock();
        if (poll <= 100) lock();
      },
      { limit: 100 },
    );
    expect(found).toMatchObject({ polls: 101, answer: ADMITTED, overtakings: 100 });
  });

  it('as head reserves the lock when the turn is over, before the limit', () => {
    const seen: boolean[] = [];
    const found = polled(
      'head',
      (poll, { lock, unlock, has }) => {
        if (poll > 6) seen.push(has(M_RESERVED));
        if (poll > 7 && poll < 10) return;
        unlock();
        if (poll <= 7) lock();
      },
      { limit: 100, turn: 7 },
    );
    // The seventh poll sees the seventh overtaking, and the owner has the lock until the tenth.
    expect(seen).toEqual([false, true, true, true]);
    expect(found).toMatchObject({ polls: 10, answer: ADMITTED, overtakings: 7 });
  });

  it('as head polls seldom where the lock is taken more often than it polls', () => {
    const often = polled('head', (_, { lock, unlock }) => {
      for (let i = 0; i < 8; i++) {
        unlock();
        lock();
      }
    });
    // The polls take at most 20,000 tenths of a microsecond. Half of the polls pause for 32 tenths.
    expect(often).toMatchObject({ answer: -1, flags: M_SLEEPING });
    expect(often.polls).toBeLessThan(1250);
  });

  it('as head does not take sections for long where owners come and go, however long it polls', () => {
    const often = polled(
      'head',
      (_, { lock, unlock }) => {
        for (let i = 0; i < 8; i++) {
          unlock();
          lock();
        }
      },
      { pace: 10_000, sleeps: 2, limit: 1_000_000 },
    );
    expect(often).toMatchObject({ answer: -1, flags: M_RESERVED | M_SLEEPING, pace: 10_000 });
  });

  it.each([
    ['at first does not reserve it', 10_000, 1, M_SLEEPING],
    ['reserves it the second time', 10_000, 2, M_RESERVED | M_SLEEPING],
    ['reserves it where sections are long', 3, 1, M_RESERVED | M_SLEEPING],
  ])('as head sleeps when one owner has had the lock for all the polls, and %s', (_, pace, sleeps, flags) => {
    const found = polled('head', () => {}, { pace, sleeps });
    expect(found).toMatchObject({ answer: -1, flags, pace: sleeps > 1 ? 3 : pace });
    expect(found.polls).toBe(sleeps * (SPIN + 1));
  });

  it('as barging thread polls no more when it is overtaken often', () => {
    const found = polled('barging thread', (_, { lock, unlock }) => {
      for (let i = 0; i < 8; i++) {
        unlock();
        lock();
      }
    });
    // The first poll sees 8 overtakings, which count as earlier ones. The fourth poll counts 24 overtakings since the
    // first. Then the thread looks whether there is room.
    expect(found).toMatchObject({ polls: 4 + ROOM, answer: QUEUED });
  });

  it('is a waiter at once when nobody else waits', () => {
    expect(polled('first', () => {})).toMatchObject({ polls: 1 + ROOM, answer: HEAD, tickets: 1 });
  });

  it.each([
    ['the head has reserved the lock, and sleeps', M_RESERVED | M_SLEEPING, { answer: QUEUED, tickets: 2 }],
    // The head may be about to begin its turn. Its first section is slow, and the lock would seem to lie idle.
    ['the head has reserved the lock, and is awake', M_RESERVED, { answer: QUEUED, tickets: 2 }],
    ['the mutex is closed', constant('M_CLOSED'), { answer: -1 }],
  ])('as barging thread polls no more when %s', (_, flag, end) => {
    const found = polled('barging thread', (poll, { set }) => {
      if (poll === 5) set(flag);
    });
    expect(found).toMatchObject({ polls: 5 + ROOM, ...end });
  });

  it('as barging thread queues up when no thread may overtake any more', () => {
    const found = polled(
      'barging thread',
      (poll, { lock, unlock }) => {
        if (poll > 7) return;
        unlock();
        lock();
      },
      { limit: 7 },
    );
    expect(found).toMatchObject({ polls: 7 + ROOM, answer: QUEUED, overtakings: 7 });
  });
});
