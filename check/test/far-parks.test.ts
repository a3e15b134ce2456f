/** Whether a waiter polls before it parks, by its distance and by `farParks` (core/papers/relax.ts). */
import { describe, expect, it } from 'vitest';
import { PARKED, PENDING } from '../src/engine/machine/status.js';
import { type Line, modelOf } from '../src/models/parts/program.js';
import { loadProgram } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { constant, QUEUED, TICKET } from '../src/scene/layout.js';
import { globalIndex } from '../src/scene/set-up.js';
import { PAUSE_SINK, pausesBetween } from '../src/simulate/pauses.js';

const algorithms = loadProgram('algorithms');
const sink = globalIndex(algorithms, PAUSE_SINK);
const FAR_PARKS = constant('FAR_PARKS');
const SPIN = 4;

/** Lets a thread wait behind `before` tickets until it sleeps, and returns how often it has paused. */
function pauses(kind: NonNullable<Line['kind']>, before: number, threshold: number): number {
  let found = 0;
  const model = modelOf({ name: 'pauses', program: 'A', permits: [0], kind, spin: SPIN, threshold });
  const objects = (scene: Parameters<NonNullable<typeof model.objects>>[0]): void => {
    model.objects?.(scene);
    const s = scene.semaphores[0] as number;
    const { machine } = scene;
    machine.hostStore32(s + TICKET, before);
    if (kind === 'twa') expect(scene.callNow(0, 'twaAcquire', s)).toBe(QUEUED);
    machine.call(0, algorithms.exports.get(kind === 'twa' ? 'twaAwait' : `${kind}Acquire`) as number, s);
    let last = machine.get(0, sink);
    while (machine.status(0) === PENDING) {
      machine.step(0);
      const now = machine.get(0, sink);
      if (now !== last) found += pausesBetween(last, now);
      last = now;
    }
    expect(machine.status(0)).toBe(PARKED);
  };
  new Driver(algorithms, { ...model, objects });
  return found;
}

describe.each(['twa', 'chain', 'channel', 'location'] as const)('a waiter of a semaphore, %s', (kind) => {
  it('polls if it is near, with farParks too', () => {
    for (const far of [0, FAR_PARKS]) {
      for (const before of [0, 1]) expect(pauses(kind, before, 2 | far)).toBe(SPIN);
    }
  });

  it('polls if it is far, but not with farParks', () => {
    expect(pauses(kind, 2, 2)).toBe(SPIN);
    expect(pauses(kind, 2, 2 | FAR_PARKS)).toBe(0);
  });

  it('is far with a threshold of 0, and so parks at once with farParks', () => {
    expect(pauses(kind, 0, 0)).toBe(SPIN);
    expect(pauses(kind, 0, FAR_PARKS)).toBe(0);
  });
});
