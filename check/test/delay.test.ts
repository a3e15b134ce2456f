/** How long the waiters of a ticket semaphore pause between two looks at grant (core/papers/ticket-semaphore.ts). */
import { describe, expect, it } from 'vitest';
import { PARKED, PENDING } from '../src/engine/machine/status.js';
import { modelOf } from '../src/models/parts/program.js';
import { loadProgram } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { GRANT, QUEUED, TICKET } from '../src/scene/layout.js';
import { globalIndex } from '../src/scene/set-up.js';
import { PATIENCE_WITH_DELAYS, PAUSE_SINK, pausesBetween } from '../src/simulate/pauses.js';

const algorithms = loadProgram('algorithms');
const sink = globalIndex(algorithms, PAUSE_SINK);
const SPIN = 4;

/**
 * Lets a thread wait with `before` tickets before its own, until it sleeps. Before look `nearer`, counted from 0, all
 * but one of these tickets are granted. Returns how many pauses there were before each look.
 */
function pauses(await_: string, delay: number, before: number, nearer = Infinity, spin = SPIN): number[] {
  const found: number[] = [];
  const model = modelOf({ name: 'pauses', program: 'A', permits: [0], kind: 'delayed', delay, spin });
  const objects = (scene: Parameters<NonNullable<typeof model.objects>>[0]): void => {
    model.objects?.(scene);
    const s = scene.semaphores[0] as number;
    const { machine } = scene;
    machine.patience = PATIENCE_WITH_DELAYS;
    machine.hostStore32(s + TICKET, before);
    expect(scene.callNow(0, 'ticketAcquire', s)).toBe(QUEUED);
    machine.call(0, algorithms.exports.get(await_) as number, s);
    let last = machine.get(0, sink);
    while (machine.status(0) === PENDING) {
      if (found.length === nearer) machine.hostStore32(s + GRANT, before - 1);
      machine.step(0);
      const now = machine.get(0, sink);
      if (now !== last) found.push(pausesBetween(last, now));
      last = now;
    }
    expect(machine.status(0)).toBe(PARKED);
  };
  new Driver(algorithms, { ...model, objects });
  return found;
}

const each = (count: number): number[] => new Array(SPIN).fill(count);

describe('a waiter of a TicketSemaphore', () => {
  it('pauses once between two looks without a delay, however far it is', () => {
    for (const before of [0, 1, 50]) {
      expect(pauses('ticketAwaitDelayed', 0, before)).toEqual(each(1));
      expect(pauses('ticketAwait', 10, before)).toEqual(each(1));
    }
  });

  it('pauses `delay` times more for each ticket ahead', () => {
    expect(pauses('ticketAwaitDelayed', 10, 0)).toEqual(each(1));
    expect(pauses('ticketAwaitDelayed', 10, 1)).toEqual(each(11));
    expect(pauses('ticketAwaitDelayed', 10, 7)).toEqual(each(71));
  });

  it('pauses less when it has come nearer', () => {
    expect(pauses('ticketAwaitDelayed', 3, 5, 2)).toEqual([16, 16, 4, 4]);
  });

  it('never pauses more than 100,000 times for one look', () => {
    for (const [delay, before] of [
      [10_000, 10],
      [10_000, 2 ** 31 - 1],
      [1, 100_001],
    ] as const) {
      expect(pauses('ticketAwaitDelayed', delay, before, Infinity, 1)).toEqual([100_001]);
    }
    expect(pauses('ticketAwaitDelayed', 1, 99_999, Infinity, 1)).toEqual([100_000]);
  });
});
