/**
 * Keeps known faults. If the search did not find these faults, it would prove nothing when it finds nothing elsewhere.
 *
 * Two faults are wrong ways to cancel. In a FIFO queue of tickets a waiter may not walk away, since its permits would
 * then come to nobody. It may not post on its own behalf either, since this would admit the waiters ahead of it on
 * permits which do not exist. In other faults, the promises of P0514R1's facilities leave out a step of
 * src/papers/p0514, or take two steps in the wrong order. The last fault is a condition that waits while its thread
 * stands on a chain, where the thread has to wake the waiter below it.
 */
import { describe, expect, it } from 'vitest';
import { search } from '../src/engine/search/search.js';
import { models } from '../src/models/all.js';
import { conditionModel } from '../src/models/conditions.js';
import { jobs } from '../src/models/parts/p0514-ops.js';
import { bucket, wordAt } from '../src/models/places.js';
import { loadProgram, programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { ADMITTED, QUEUED, TIMED_OUT } from '../src/scene/layout.js';
import type { Model, Op } from '../src/scene/model.js';
import { acquire, acquireFor } from '../src/scene/ops/acquire.js';
import { call } from '../src/scene/ops/calls.js';
import { eventLoop } from '../src/scene/ops/event-loop.js';
import { REJECTED_CANCELLED } from '../src/scene/ops/promises.js';
import { post } from '../src/scene/ops/release.js';
import { LOCAL, PHASE, RESULT } from '../src/scene/words.js';

const core = loadProgram('core');

/** acquire(1, timeout) of a thread that does not cancel when the time is over: it walks away or posts instead. */
function acquireOr(wrong: 'walks away' | 'posts'): Op {
  return {
    text: `acquire(1), ${wrong}`,
    next(scene, t) {
      const [at] = scene.semaphores as [number];
      const answer = scene.result(t);
      const phase = scene.get(t, PHASE);
      scene.set(t, PHASE, phase + 1);
      if (phase === 0) scene.call(t, 'acquire', at, 1);
      else if (answer === ADMITTED) return true;
      else if (phase === 1) scene.call(t, 'enqueue', at, 1, answer, 0);
      else if (phase === 2 && answer === QUEUED) scene.call(t, 'parkFor', 1, 0, 0, 0);
      else if (phase === 3 && answer === TIMED_OUT && wrong === 'posts') scene.call(t, 'release', at, 1);
      else if (phase === 4 && wrong === 'posts') scene.call(t, 'finishRelease', at, 1, answer, 0);
      else return true;
      return false;
    },
  };
}

function find(mayWait: boolean, ...programs: readonly (readonly Op[])[]): string | undefined {
  const model: Model = {
    name: 'known wrong',
    programs,
    mayWait,
    arena: { buckets: 1, objects: 1, elements: 8 },
    objects: (scene) => {
      scene.semaphore({ permits: 0 });
    },
  };
  return search(() => new Driver(core, model)).violation?.message;
}

describe('a waiter whose request has timed out', () => {
  it('walks away: its permit comes to nobody', () => {
    expect(find(false, [acquireOr('walks away')], [acquire()], [post(2)])).toMatch(/^permits are not conserved/);
  });

  it('posts on its own behalf: the waiter ahead is admitted on a permit that does not exist', () => {
    expect(find(true, [acquire()], [acquireOr('posts')])).toMatch(/admitted with 1: 1 permits out, 0 made/);
  });

  it('cancels: nothing is found', () => {
    expect(find(false, [acquireFor()], [acquire()], [post(2)])).toBe(undefined);
    expect(find(true, [acquire()], [acquireFor()])).toBeUndefined();
  });
});

function modelOf(name: string): Model {
  return models.find((model) => model.name === name) as Model;
}

/** Returns what the search finds in a model of the table if some threads run the given programs instead. */
function findIn(name: string, ...programs: readonly (readonly Op[] | undefined)[]): string | undefined {
  const { symmetric: _, ...right } = modelOf(name);
  const wrong = { ...right, programs: right.programs.map((program, t) => programs[t] ?? program) };
  return search(() => new Driver(programOf(wrong), wrong)).violation?.message;
}

describe('a promise of a semaphore that has timed out', () => {
  const name = 'p0514: promises, timed';
  const [arrives, loop] = modelOf(name).programs[0] as [Op, Op];
  const right = jobs(0, 'nothing');
  const leaves = eventLoop({
    ...right,
    goOn: (scene, t, told) => told === REJECTED_CANCELLED || right.goOn(scene, t, told),
  });

  it('stays counted as waiting: it is handed a permit that it does not take', () => {
    expect(findIn(name, [arrives, leaves])).toMatch(/-1 are lacking, and 0 waited for/);
    expect(findIn('p0514: promises, timed, and nothing comes', [arrives, leaves])).toMatch(
      /0 are lacking, and 1 waited for/,
    );
  });

  it('is not counted any more: nothing is found', () => {
    expect(findIn(name, [arrives, loop])).toBeUndefined();
  });
});

describe('a promise of a semaphore that is closed', () => {
  const right = jobs(0, 'nothing');
  const detaches = eventLoop({
    ...right,
    goOn(scene, t, told) {
      if (scene.get(t, LOCAL + 3) === 1) return right.goOn(scene, t, told);
      scene.set(t, LOCAL + 3, 1);
      scene.call(t, 'letGo', scene.attachment(t, 0), 0);
      return false;
    },
  });

  it('detaches before it asks for a permit handed to it: another object may be there by then', () => {
    const name = 'p0514: promises, the memory is used again';
    expect(findIn(name)).toBeUndefined();
    const [first, second] = modelOf(name).programs[0] as [Op, Op];
    expect(findIn(name, [first, second, detaches])).toMatch(/1 have been taken, and 0 were there/);
  });
});

describe('a thread that disposes of a semaphore', () => {
  const close = ['closeCounter', 'dispose'].map((name) => call(name, ({ semaphores: [at] }) => [at as number]));

  it.each(['p0514: promises, dispose', 'p0514: dispose of one that waits'])(
    'closes the queue before the counter: in %s a thread learns that it is closed, which it is not',
    (name) => {
      expect(findIn(name, undefined, close)).toBeUndefined();
      expect(findIn(name, undefined, close.toReversed())).toMatch(/learns that the semaphore is closed/);
    },
  );
});

describe('a promise for a word', () => {
  /** Does what atomicWaitAsync does, alone in its thread. */
  const waits = (looksAgain: boolean): Op => ({
    text: 'atomicWaitAsync',
    next(scene, t) {
      const changed = scene.get(t, RESULT) !== 0;
      const to = (phase: number): false => {
        scene.set(t, PHASE, phase);
        return false;
      };
      const depart = (): false => {
        scene.call(t, 'departFrom', bucket(scene));
        return to(5);
      };
      switch (scene.get(t, PHASE)) {
        case 0:
          scene.hostLoad(t, wordAt(0));
          return to(1);
        case 1:
          if (changed) return true;
          scene.call(t, 'arriveAt', bucket(scene));
          return to(looksAgain ? 2 : 3);
        case 2:
          scene.hostLoad(t, wordAt(0));
          return to(3);
        case 3:
          if (changed) return depart();
          scene.hostWait(t, bucket(scene), scene.machine.resultLo(t));
          return to(4);
        case 4:
          return depart();
        default:
          return true;
      }
    },
  });

  it('does not look again after it has arrived: it sleeps through the signal', () => {
    expect(findIn('places: a promise', [waits(false)])).toMatch(/deadlock: thread 0 sleeps for ever/);
  });

  it('looks again after it has arrived: nothing is found', () => {
    expect(findIn('places: a promise', [waits(true)])).toBeUndefined();
  });
});

describe('a condition that waits, of a wait by key', () => {
  const find = (...program: string[]): string | undefined => {
    const model = conditionModel('known wrong', program.join(' | '), 3);
    return search(() => new Driver(programOf(model), model)).violation?.message;
  };

  it('waits for the thread below on the chain, which it would have to wake', () => {
    expect(find('Wa Sb E', 'N E', 'Sa')).toMatch(/deadlock: thread 0 sleeps for ever/);
  });

  it('waits for another thread: nothing is found', () => {
    expect(find('N E', 'Sb Sa')).toBeUndefined();
  });
});
