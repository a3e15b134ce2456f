/** How long waiters of a semaphore poll, and which one is woken before it is due (core/queue/polling.ts). */
import { describe, expect, it } from 'vitest';
import { LOAD } from '../src/engine/machine/machine.js';
import { PARKED, PENDING } from '../src/engine/machine/status.js';
import { NOTIFY } from '../src/engine/wasm/code.js';
import { modelOf } from '../src/models/parts/program.js';
import { loadProgram } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import { ADMITTED, constant, GRANT, O_SLEEPERS, O_VAIN_POLLS, QUEUED, TICKET } from '../src/scene/layout.js';
import type { Scene } from '../src/scene/scene.js';

const core = loadProgram('core');
const PAUSES = 32;
const MORE = constant('MORE');
const E_STATE = constant('E_STATE');

/** Makes a semaphore whose one permit thread 0 has, and on which `vain` polls have been in vain. */
function set(vain: number, act: (scene: Scene, s: number) => void, threads = 3): void {
  const model = modelOf({
    name: 'polls',
    program: Array(threads).fill('A R').join(' | '),
    permits: [1],
    buckets: 4,
    awake: { pauses: PAUSES, vain },
  });
  const objects = (scene: Scene): void => {
    model.objects?.(scene);
    const s = scene.semaphores[0] as number;
    expect(scene.callNow(0, 'acquire', s, 1)).toBe(ADMITTED);
    act(scene, s);
  };
  new Driver(core, { ...model, objects });
}

/** Goes on with the thread until it sleeps or its call is over. Returns how often it has loaded the word. */
function loads(scene: Scene, t: number, address: number): number {
  const { machine } = scene;
  let count = 0;
  while (machine.status(t) === PENDING) {
    if (machine.pendingAddress(t) === address && machine.pendingKind(t) === LOAD) count++;
    machine.step(t);
  }
  return count;
}

describe('a waiter', () => {
  interface Polled {
    /** How often the waiter has polled grant. */
    polls: number;
    /** How often the waiter has polled its own element. */
    own: number;
    /** The count of vain polls of the semaphore. */
    vain: number;
  }

  /** Lets thread 1 wait with `before` tickets before its own. Poll number `grants`, counted from 1, admits it. */
  function polled(before: number, vain = 0, grants = 0): Polled {
    let result: Polled | undefined;
    set(vain, (scene, s) => {
      const { machine } = scene;
      const word = (at: number): number => machine.words[(s + at) >> 2] as number;
      machine.hostStore32(s + TICKET, word(TICKET) + before);
      expect(scene.callNow(1, 'acquire', s, 1)).toBe(QUEUED);
      scene.call(1, 'enqueue', s, 1, QUEUED, 0);
      let seen = 0;
      while (machine.status(1) === PENDING) {
        if (machine.pendingAddress(1) === s + GRANT && machine.pendingKind(1) === LOAD) {
          // By the first look the thread counts the waiters, and by the second look the waiters before it.
          if (seen === grants + 1 && grants > 0) machine.hostStore32(s + GRANT, word(TICKET));
          seen++;
        }
        machine.step(1);
      }
      // The last look of a waiter that no poll admits comes after it has entered its element.
      const admitted = machine.resultLo(1) === ADMITTED;
      expect(admitted).toBe(grants > 0);
      const polls = Math.max(0, seen - (admitted ? 2 : 3));
      let own = 0;
      if (!admitted) {
        scene.call(1, 'park', 0, 0);
        // There is one look before the polls.
        own = loads(scene, 1, scene.spare(1) + E_STATE) - 1;
        expect(machine.status(1)).toBe(PARKED);
      }
      result = { polls, own, vain: word(O_VAIN_POLLS) };
    });
    return result as Polled;
  }

  it.each([0, 1])('with %i tickets before its own polls grant, and counts a vain poll', (before) => {
    expect(polled(before)).toEqual({ polls: PAUSES, own: 0, vain: 1 });
  });

  it('with more before it leaves grant alone, and polls its own element for a quarter of the time', () => {
    // By one look at grant the waiter learns how many waiters are before it.
    expect(polled(2)).toEqual({ polls: 1, own: PAUSES / 4, vain: 1 });
  });

  it('that is not near sleeps at once', () => {
    expect(polled(3)).toEqual({ polls: 0, own: 0, vain: 0 });
  });

  it('in a long queue does not poll', () => {
    expect(polled(4)).toEqual({ polls: 0, own: 0, vain: 0 });
  });

  it('is admitted by a poll, and notes that polling pays', () => {
    expect(polled(0, 3, 7)).toEqual({ polls: 7, own: 0, vain: 0 });
  });

  it.each([
    [127, PAUSES],
    [128, PAUSES / 16],
    [511, PAUSES / 16],
    [512, PAUSES],
    [639, PAUSES],
    [640, PAUSES / 16],
    [65_535, PAUSES / 16],
  ])('after %i vain polls polls %i times', (vain, polls) => {
    expect(polled(0, vain)).toEqual({ polls, own: 0, vain: (vain + 1) % 65_536 });
  });
});

describe('a release', () => {
  /**
   * Thread 0 releases while threads 1 and 2 sleep in the queue. Returns whether each of the two still sleeps, how often
   * thread 2 then looks at its element, and the mark of sleepers before the release and after it.
   */
  function released(vain: number, sleepers?: number) {
    let result: { first: boolean; second: boolean; looks: number; marks: readonly number[] } | undefined;
    set(vain, (scene, s) => {
      const { machine } = scene;
      for (const t of [1, 2]) {
        expect(scene.callNow(t, 'acquire', s, 1)).toBe(QUEUED);
        expect(scene.callNow(t, 'enqueue', s, 1, QUEUED, 0)).toBe(QUEUED);
        scene.call(t, 'park', 0, 0);
        loads(scene, t, 0);
        expect(machine.status(t)).toBe(PARKED);
      }
      // Only the release is tested here, so the vain polls of the waiters are overwritten.
      machine.hostStore32(s + O_VAIN_POLLS, vain);
      const mark = (): number => machine.words[(s + O_SLEEPERS) >> 2] as number;
      const marked = mark();
      if (sleepers !== undefined) machine.hostStore32(s + O_SLEEPERS, sleepers);
      expect(scene.callNow(0, 'release', s, 1)).toBe(MORE);
      scene.callNow(0, 'finishRelease', s, 1, MORE, 0);
      const [first, second] = [1, 2].map((t) => machine.status(t) === PARKED) as [boolean, boolean];
      const looks = loads(scene, 2, scene.spare(2) + E_STATE);
      if (!second) expect(machine.status(2)).toBe(PARKED);
      result = { first, second, looks, marks: [marked, mark()] };
    });
    return result as NonNullable<typeof result>;
  }

  it('also wakes the next waiter, which looks at its element for a quarter of the time and sleeps on', () => {
    // The waiter looks once more, after the wake-up.
    expect(released(0)).toMatchObject({ first: false, second: false, looks: PAUSES / 4 + 1 });
    expect(released(1)).toMatchObject({ first: false, second: false, looks: PAUSES / 4 + 1 });
  });

  it('looks for no waiter to wake early while none is marked as asleep', () => {
    expect(released(0, 0)).toMatchObject({ first: false, second: true, marks: [1, 0] });
  });

  it('leaves the mark of sleepers, which a waiter sets that sleeps, as long as it finds one', () => {
    expect(released(0)).toMatchObject({ marks: [1, 1] });
    expect(released(128)).toMatchObject({ marks: [1, 1] });
  });

  it('takes the mark off when all waiters are near and awake', () => {
    set(0, (scene, s) => {
      const { machine } = scene;
      expect(scene.callNow(1, 'acquire', s, 1)).toBe(QUEUED);
      machine.hostStore32(s + O_SLEEPERS, 1);
      expect(scene.callNow(0, 'release', s, 1)).toBe(MORE);
      scene.callNow(0, 'finishRelease', s, 1, MORE, 0);
      expect(machine.words[(s + O_SLEEPERS) >> 2]).toBe(0);
    });
  });

  /** Releases once while 19 threads wait, of whom `awake` poll and all others sleep. Returns who was woken. */
  function wokenOf20(awake: number[]): number[] {
    const threads = 20;
    let woken: number[] = [];
    set(
      0,
      (scene, s) => {
        const { machine } = scene;
        scene.callNow(0, 'setAwake', PAUSES, 32);
        for (let t = 1; t < threads; t++) {
          expect(scene.callNow(t, 'acquire', s, 1)).toBe(QUEUED);
          expect(scene.callNow(t, 'enqueue', s, 1, QUEUED, 0)).toBe(QUEUED);
          if (awake.includes(t)) continue;
          scene.call(t, 'park', 0, 0);
          loads(scene, t, 0);
        }
        machine.hostStore32(s + O_VAIN_POLLS, 0);
        expect(scene.callNow(0, 'release', s, 1)).toBe(MORE);
        scene.callNow(0, 'finishRelease', s, 1, MORE, 0);
        woken = Array.from({ length: threads }, (_, t) => t).filter(
          (t) => t > 0 && !awake.includes(t) && machine.status(t) !== PARKED,
        );
      },
      threads,
    );
    return woken;
  }

  // Thread 1 is due, and thread 2 is the first waiter then.
  it('wakes all near waiters if the first of them sleeps', () => {
    expect(wokenOf20([])).toEqual(Array.from({ length: 19 }, (_, i) => i + 1));
  });

  it('wakes only the 16th waiter early if the first does not sleep', () => {
    expect(wokenOf20([2])).toEqual([1, 17]);
  });

  it('gives a waiter that polls its turn without a notification', () => {
    set(0, (scene, s) => {
      const { machine } = scene;
      expect(scene.callNow(1, 'acquire', s, 1)).toBe(QUEUED);
      expect(scene.callNow(1, 'enqueue', s, 1, QUEUED, 0)).toBe(QUEUED);
      expect(scene.callNow(0, 'release', s, 1)).toBe(MORE);
      scene.call(0, 'finishRelease', s, 1, MORE, 0);
      const kinds: number[] = [];
      for (; machine.status(0) === PENDING; machine.step(0)) kinds.push(machine.pendingKind(0));
      expect(kinds).not.toContain(NOTIFY);
      expect(scene.callNow(1, 'park', 0, 0)).toBe(ADMITTED);
    });
  });

  it('wakes no waiter early while polls are in vain', () => {
    expect(released(128)).toMatchObject({ first: false, second: true });
  });
});
