/** The bound of the mutex is kept, and reached; and a hand-over that is forgotten is found. */
import { describe, expect, it } from 'vitest';
import { LOAD } from '../src/machine/machine.js';
import { PARKED, PENDING } from '../src/machine/status.js';
import { mutexModel } from '../src/models/mutex.js';
import { CONTENDED, HAS, M_WORD, mutex } from '../src/models/mutex-words.js';
import { loadProgram } from '../src/programs.js';
import { ADMITTED, constant, QUEUED, TICKET } from '../src/scene/layout.js';
import { call } from '../src/scene/ops.js';
import { type Model, Scene } from '../src/scene/scene.js';
import { search } from '../src/search/search.js';

const core = loadProgram('core');
const run = (model: Model) => search(() => new Scene(core, model));

describe('a waiter', () => {
  const find = (program: string, bound: number) =>
    run(mutexModel({ name: 'bound', program, bypass: 1, bound }));

  it.each(['L U | L U L U', 'B U | L U L U', 'a d | L U | L U L U'])(
    'of %s is overtaken as often as the bound says',
    (program) => {
      expect(find(program, 0).violation?.message).toMatch(/is overtaken 1 times/);
    },
  );

  it.each(['L U | L U L U', 'B U | L U L U'])('of %s is overtaken no more often', (program) => {
    expect(find(program, 1)).toMatchObject({ exhaustive: true });
  });
});

describe('an owner that unlocks, and wakes nobody', () => {
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
const MORE = constant('MORE');
const ELDEST = constant('ELDEST');

describe('a turn', () => {
  const WAITER = constant('M_WAITER');
  const FOR_EVER = [-1, -1];

  /** The overtakings left when the eldest of so many has taken the lock. */
  function turnOf(waiters: number, bypass: number): number {
    const model = mutexModel({ name: 'turns', program: 'L U | L U', bypass, spin: 40 });
    let turn = -1;
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const word = (address: number): number => scene.machine.words[address >> 2] as number;
      scene.callNow(0, 'lock', m);
      expect(scene.callNow(1, 'queue', m, scene.attachment(1, 0))).toBe(ELDEST);
      // Waiters reach into the upper half of the word.
      const more = BigInt(waiters - 1) * BigInt(WAITER) + BigInt(word(m + M_WORD) >>> 0);
      scene.machine.hostStore32(m + M_WORD, Number(BigInt.asIntN(32, more)));
      scene.machine.hostStore32(m + M_WORD + 4, word(m + M_WORD + 4) + Number(more >> 32n));
      scene.callNow(0, 'unlock', m);
      // Else compete sets the limit before it has the lock.
      scene.clear(1, 'mutex/first');
      expect(scene.callNow(1, 'compete', m, ...FOR_EVER, scene.attachment(1, 0))).toBe(ADMITTED);
      turn = word(m + M_LIMIT);
    };
    new Scene(core, { ...model, objects });
    return turn;
  }

  it.each([
    [1, 16_384],
    [11, 16_384],
    [12, 14_563],
    [16, 8192],
    [64, 512],
    [20_000, 1],
    // Of which the square is 0 in 32 bits.
    [65_536, 1],
  ])('of one of %i waiters is %i overtakings of 524,288', (waiters, turn) => {
    expect(turnOf(waiters, 524_288)).toBe(turn);
  });

  it('is a 32nd of the largest bound', () => {
    expect(turnOf(1, 2 ** 27)).toBe(2 ** 22);
  });

  it('is one overtaking at least, but of a mutex that is first come, first served', () => {
    expect(turnOf(3, 1)).toBe(1);
    expect(turnOf(3, 0)).toBe(0);
  });
});

describe('an owner', () => {
  /** What its unlock is answered, and a lock after that, when another is the eldest. */
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
    new Scene(core, { ...model, objects });
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
          for (; machine.status(0) === PENDING; machine.step(0))
            if (machine.pendingAddress(0) === m + M_WORD) count++;
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
    new Scene(core, { ...model, objects });
    expect(counts).toEqual([2, 2, 2]);
  });

  it.each([
    ['the eldest must be woken', 1024, MORE],
    ['that is all', 1025, ADMITTED],
  ])('that unlocks is told that %s, with %i overtakings left of the turn', (_, left, answer) => {
    expect(answers(left, constant('M_SLEEPING')).unlock).toBe(answer);
  });

  it.each([
    ['the limit is reached', 0, 0],
    ['the lock is reserved', 1, constant('M_RESERVED')],
  ])('may not when %s', (_, limit, flags) => {
    expect(answers(limit, flags).lock).toBe(CONTENDED);
  });
});

describe('a thread that polls', () => {
  const M_ELDEST = constant('M_ELDEST');
  const M_RESERVED = constant('M_RESERVED');
  const SPIN = 40;
  /** What the owner does between two polls: it has the lock at first. */
  type Between = (poll: number, owner: { lock(): void; unlock(): void; set(flag: number): void }) => void;

  interface Polled {
    polls: number;
    /** -1: it sleeps. */
    answer: number;
    tickets: number;
    /** How often it was overtaken. */
    overtakings: number;
  }

  /** Thread 0 has the lock. Thread 1, the eldest, polls, or thread 2, who comes by, and may be the first to wait. */
  function polled(who: 'eldest' | 'passer-by' | 'first', between: Between, limit = 10_000): Polled {
    const model = mutexModel({ name: 'polls', program: 'L U | L U | L U', bypass: 4096, spin: SPIN });
    let result: Polled | undefined;
    const objects = (scene: Scene): void => {
      model.objects?.(scene);
      const m = mutex(scene);
      const { machine } = scene;
      const word = (at: number): number => machine.words[(m + at) >> 2] as number;
      scene.callNow(0, 'lock', m);
      if (who !== 'first') scene.callNow(1, 'queue', m, scene.attachment(1, 0));
      scene.clear(1, 'mutex/first');
      machine.hostStore32(m + M_LIMIT, limit);
      const t = who === 'eldest' ? 1 : 2;
      const owner = {
        lock: () => expect(scene.callNow(0, 'lock', m)).toBe(ADMITTED),
        unlock: () => expect(scene.callNow(0, 'unlock', m)).toBe(ADMITTED),
        set: (flag: number) => machine.hostStore32(m + M_WORD, word(M_WORD) | flag),
      };
      if (t === 1) scene.call(1, 'compete', m, -1, -1, scene.attachment(1, 0));
      else scene.call(2, 'queue', m, scene.attachment(2, 0));
      let polls = 0;
      while (machine.status(t) === PENDING) {
        const at = machine.pendingAddress(t) - m;
        // The store of who sleeps: polling is over, and so it is when a ticket is taken.
        if (at === M_ELDEST || at === TICKET) polls = -Math.abs(polls);
        else if (at === M_WORD && machine.pendingKind(t) === LOAD && polls >= 0) between(++polls, owner);
        machine.step(t);
      }
      const answer = machine.status(t) === PARKED ? -1 : machine.resultLo(t);
      const overtakings = word(M_WORD + 4) >>> 3;
      result = { polls: Math.abs(polls), answer, tickets: word(TICKET), overtakings };
    };
    new Scene(core, { ...model, objects });
    return result as Polled;
  }

  // Four polls find the word as the one before; and tryLock, by which a passer-by takes the lock, looks once more.
  it.each([
    ['passer-by', 10 + 4 + 1],
    ['eldest', 10 + 4],
  ] as const)('as %s takes a lock that lies idle', (who, polls) => {
    const found = polled(who, (poll, { unlock }) => {
      if (poll === 10) unlock();
    });
    expect(found).toMatchObject({ polls, answer: ADMITTED, tickets: 1 });
  });

  it.each(['passer-by', 'eldest'] as const)('as %s leaves it to an owner who comes back soon', (who) => {
    const found = polled(who, (poll, { lock, unlock }) => {
      if (poll % 4 === 2) unlock();
      if (poll % 4 === 0) lock();
    });
    expect(found).toMatchObject({ answer: who === 'eldest' ? -1 : QUEUED, overtakings: 10 });
  });

  it.each(['passer-by', 'eldest'] as const)('as %s polls no more when it is overtaken often', (who) => {
    const found = polled(who, (_, { lock, unlock }) => {
      for (let i = 0; i < 8; i++) {
        unlock();
        lock();
      }
    });
    // The first counts 8 overtakings as made before, the fourth 24 since.
    expect(found).toMatchObject({ polls: 4, answer: who === 'eldest' ? -1 : QUEUED });
  });

  it('as eldest goes on though it is overtaken often, when its turn comes soon', () => {
    const found = polled(
      'eldest',
      (poll, { lock, unlock }) => {
        for (let i = 0; i < 8 && poll <= 10; i++) {
          unlock();
          lock();
        }
        if (poll === 20) unlock();
      },
      1050,
    );
    expect(found).toMatchObject({ answer: ADMITTED, overtakings: 80 });
  });

  it('is a waiter at once when nobody else waits', () => {
    expect(polled('first', () => {})).toMatchObject({ polls: 1, answer: ELDEST, tickets: 1 });
  });

  it.each([
    ['the lock is reserved', M_RESERVED],
    ['the mutex is closed', constant('M_CLOSED')],
  ])('as passer-by polls no more when %s', (_, flag) => {
    const found = polled('passer-by', (poll, { set }) => {
      if (poll === 5) set(flag);
    });
    expect(found).toMatchObject({ polls: 5, answer: QUEUED, tickets: 2 });
  });

  it('as passer-by queues up when nobody may overtake any more', () => {
    const found = polled(
      'passer-by',
      (poll, { lock, unlock }) => {
        if (poll > 7) return;
        unlock();
        lock();
      },
      7,
    );
    expect(found).toMatchObject({ polls: 7, answer: QUEUED, overtakings: 7 });
  });
});
