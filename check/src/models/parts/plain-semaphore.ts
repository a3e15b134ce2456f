/**
 * A plain semaphore of B permits around an unfair lock, in place of a capacitor. Such a semaphore bounds no bypass
 * (Dice, Capacitors, section 5). A thread that leaves gives its permit back at once and comes again. So this thread
 * overtakes a thread that has a permit and waits for the lock, as often as it likes. check/test/capacitors.test.ts
 * shows that the search finds this.
 *
 *     L  acquires a permit, then locks
 *     U  unlocks, then releases the permit
 *
 * As in the models of the capacitor, a thread overtakes another one if it has a later ticket and gets the lock first.
 */
import { Violation } from '../../engine/search/violation.js';
import { ADMITTED, constant, MORE, QUEUED, TICKET } from '../../scene/layout.js';
import type { Model, Op } from '../../scene/model.js';
import { PHASE } from '../../scene/words.js';
import { admitted, arrived, capacitorOf, HOLDER, innerOf } from '../capacitors.js';
import { partsOf } from './program.js';

/**
 * The exports that an op calls one after the other. The op calls `ticketAwait` and `ticketPost` only if the answer of
 * the call before says so.
 */
const LOCKING = ['ticketAcquire', 'ticketAwait', 'ttsLock'] as const;
const UNLOCKING = ['ttsUnlock', 'ticketRelease', 'ticketPost'] as const;

function locking(bound: number): Op {
  return {
    text: 'lock',
    next(scene, t) {
      let phase = scene.get(t, PHASE);
      if (phase === 1 && scene.result(t) !== QUEUED) phase++;
      if (phase > 1 && scene.result(t) !== ADMITTED) throw new Violation(`thread ${t} is answered ${scene.result(t)}`);
      if (phase === LOCKING.length) {
        admitted(scene, t, bound);
        return true;
      }
      scene.set(t, PHASE, phase + 1);
      scene.call(t, LOCKING[phase] as string, phase < 2 ? capacitorOf(scene) : innerOf(scene));
      return false;
    },
  };
}

const unlocking: Op = {
  text: 'unlock',
  next(scene, t) {
    const phase = scene.get(t, PHASE);
    if (phase === 0) scene.set(0, HOLDER, 0);
    if (phase === UNLOCKING.length || (phase === 2 && scene.result(t) !== MORE)) return true;
    scene.set(t, PHASE, phase + 1);
    scene.call(
      t,
      UNLOCKING[phase] as string,
      ...[[innerOf(scene)], [capacitorOf(scene), 1], [capacitorOf(scene)]][phase],
    );
    return false;
  },
};

/** Returns a model in which a waiter that is overtaken more than `bound` times is a violation. */
export function plainSemaphoreModel(program: string, permits: number, bound: number): Model {
  const parts = partsOf(program);
  return {
    name: `Semaphore of ${permits} around a lock: ${program}`,
    program: 'algorithms',
    programs: parts.map((part) => part.split(' ').map((letter) => (letter === 'L' ? locking(bound) : unlocking))),
    symmetric: parts,
    arena: { buckets: 1, elements: 1, objects: 2 },
    objects: (scene) => {
      scene.watched.add(scene.object(constant('KIND_TICKET_SEMAPHORE'), 0, 0, permits) + TICKET);
      scene.object(constant('KIND_TTS_LOCK'), 0, 0);
    },
    written: (scene, t, address, before) => {
      if (scene.word(address) !== before) arrived(scene, t);
    },
  };
}
