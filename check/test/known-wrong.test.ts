/**
 * Two ways for a waiter to give up that others have taken, and that are wrong: the search must tell, or it could not
 * be believed where it finds nothing. In a FIFO queue of tickets a waiter may neither walk away, since its permits
 * then come to nobody, nor post on its own behalf, since that admits those ahead on permits which do not exist.
 */
import { describe, expect, it } from 'vitest';
import { loadProgram } from '../src/programs.js';
import { ADMITTED, QUEUED, TIMED_OUT } from '../src/scene/layout.js';
import { acquire, acquireFor, post } from '../src/scene/ops.js';
import { type Model, type Op, Scene } from '../src/scene/scene.js';
import { PHASE } from '../src/scene/words.js';
import { search } from '../src/search/search.js';

const core = loadProgram('core');

/** acquire(1, timeout) of a thread that, when the time is over, does this instead of giving up; then it is at its end. */
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
      else if (phase === 4 && wrong === 'posts') scene.call(t, 'finishRelease', at, 1, answer, 0, 0);
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
  return search(() => new Scene(core, model)).violation?.message;
}

describe('a waiter whose time is over', () => {
  it('and walks away: its permit comes to nobody', () => {
    expect(find(false, [acquireOr('walks away')], [acquire()], [post(2)])).toMatch(
      /^permits are not conserved/,
    );
  });

  it('and posts on its own behalf: whoever is ahead is admitted on a permit that does not exist', () => {
    expect(find(true, [acquire()], [acquireOr('posts')])).toMatch(/admitted with 1: 1 permits out, 0 made/);
  });

  it('and gives up: nothing is found', () => {
    expect(find(false, [acquireFor()], [acquire()], [post(2)])).toBe(undefined);
    expect(find(true, [acquire()], [acquireFor()])).toBeUndefined();
  });
});
