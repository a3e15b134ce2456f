/**
 * What a deadlock is told with, if threads die and objects go between the two looks at it. The threads of the deadlock
 * are words in the memory of an arena, as the core would write them.
 */
import { Arena, Mutex } from 'taketurns';
import { afterEach, describe, expect, it } from 'vitest';
import * as numbers from '../../dist/border/numbers.js';
import { label, labelOf } from '../../dist/look/labels.js';
import { lookAt, together } from '../../dist/look/look.js';
import { View } from '../../dist/look/view.js';
import { deadlocksIn } from '../../dist/report/deadlocks.js';

/** An arena with two mutexes, and threads beside the one that runs the test. */
function arenaOf() {
  const arena = new Arena({ objects: 4, threads: 6, waiters: 8 });
  const mutexes = [0, 1].map((i) => Mutex.open(`m${i}`, { arena }));
  const memory = arena.handle.memory as WebAssembly.Memory;
  const view = new View(memory);
  const store = (address: number, value: number) => Atomics.store(view.words, address / 4, value);
  const at = (mutex: number): number => (mutexes[mutex] as Mutex).handle.address;
  return {
    memory,
    view,
    store,
    /** A thread has a life and a threadId, and the name `thread N`. */
    live(thread: number, life: number, threadId: number) {
      store(numbers.USED_THREADS, Math.max(view.load(numbers.USED_THREADS), thread));
      store(view.record(thread) + numbers.T_LIFE, life);
      store(view.record(thread) + numbers.T_RUNTIME_ID, threadId + 1);
      label(view.words, thread, life, `thread ${threadId}`);
    },
    holds(thread: number, mutex: number) {
      store(at(mutex) + numbers.M_WORD, thread);
    },
    /** A thread sleeps in the queue of a mutex. */
    waits(thread: number, mutex: number) {
      const element = view.elements + Atomics.add(view.words, numbers.USED_ELEMENTS / 4, 1) * numbers.ELEMENT_SIZE;
      const index = view.indexOf(at(mutex));
      store(element + numbers.E_REQUEST, ((index & 1) << 31) | 1);
      store(element + numbers.E_REQUEST + 4, (thread << 19) | (index >>> 1));
      store(element + numbers.E_STATE, numbers.WAITING);
      store(view.record(thread) + numbers.T_SLEEPS_ON, element | 1);
      store(view.record(thread) + numbers.T_LIFE, view.life(thread) - numbers.ALIVE + numbers.ASLEEP);
    },
    /** Another object gets the place of a mutex: it is a mutex too, and named by another letter. */
    replace(mutex: number) {
      const object = at(mutex);
      store(object + numbers.O_LIFE + 4, view.load(object + numbers.O_LIFE + 4) + 1);
      const bytes = object - view.objects + view.names + numbers.N_BYTES;
      store(bytes, (view.load(bytes) & ~0xff) | 'n'.charCodeAt(0));
    },
  };
}

type Its = ReturnType<typeof arenaOf>;

/** Two threads lock two mutexes in opposite order. */
function crosswise(): Its {
  const its = arenaOf();
  for (const [thread, mutex] of [
    [2, 0],
    [3, 1],
  ] as const) {
    its.live(thread, numbers.ALIVE, 10 + thread);
    its.holds(thread, mutex);
    its.waits(thread, 1 - mutex);
  }
  return its;
}

/** Returns the deadlocks in an arena, if something happens in it when the name of the second thread is first read. */
function told({ memory, view: { labels } }: Its, happens = () => {}) {
  let reads = 0;
  const looker = () => {
    const look = lookAt(memory, 0, 0);
    const { view } = look;
    view.text = (at, length) => {
      if (at >= labels && ++reads === 2) happens();
      return View.prototype.text.call(view, at, length);
    };
    return [look];
  };
  const { certain } = deadlocksIn(looker, 0, undefined);
  return certain.map(({ edges }) =>
    edges.map(({ thread, holds, waitsFor }) => [thread.name, holds?.name, waitsFor.name]),
  );
}

describe('a deadlock', () => {
  it('is told with the names of its threads and objects', () => {
    expect(told(crosswise())).toEqual([
      [
        ['thread 12', 'm0', 'm1'],
        ['thread 13', 'm1', 'm0'],
      ],
    ]);
  });

  it('is not told with the name of another thread, or with none, if its thread dies meanwhile', () => {
    const its = crosswise();
    const dies = () => its.live(3, numbers.ALIVE + numbers.LIFE_EPOCH, 20);
    expect(told(its, dies)).toEqual([]);
  });

  it('is not told with the name of an object that had the place of its object before', () => {
    const its = crosswise();
    expect(told(its, () => its.replace(1))).toEqual([
      [
        ['thread 12', 'm0', 'n1'],
        ['thread 13', 'n1', 'm0'],
      ],
    ]);
  });

  it('is none if the holder is a thread that got the first place of one that left the arena and came back', () => {
    const its = arenaOf();
    its.live(2, numbers.ALIVE, 12);
    its.live(3, numbers.ALIVE, 12);
    its.live(4, numbers.ALIVE, 14);
    its.holds(2, 0);
    its.waits(3, 1);
    its.holds(4, 1);
    its.waits(4, 0);
    const looker = () => {
      const looks = together([lookAt(its.memory, 0, 0)]);
      its.live(2, numbers.ALIVE + numbers.LIFE_EPOCH, 15);
      return looks;
    };
    expect(deadlocksIn(looker, 0, undefined).certain).toEqual([]);
  });
});

describe('the name of a thread', () => {
  const { store } = Atomics;
  afterEach(() => {
    Atomics.store = store;
  });

  it('is at no moment that of the next thread in its place, or a mixture', () => {
    const { view } = arenaOf();
    const [before, after] = [numbers.ALIVE, numbers.ALIVE + numbers.LIFE_EPOCH];
    label(view.words, 2, before, 'the first thread');
    const seen = new Set<string | undefined>();
    let stores = 0;
    Atomics.store = ((...given: Parameters<typeof store>) => {
      seen.add(labelOf(view, 2, before)).add(labelOf(view, 2, after));
      stores++;
      return store(...given);
    }) as typeof store;
    label(view.words, 2, after, 'the next one');
    expect(stores).toBeGreaterThan(7);
    expect([...seen]).toEqual(['the first thread', undefined]);
    expect(labelOf(view, 2, after)).toBe('the next one');
  });

  it('is not told if the next thread in its place writes another one meanwhile', () => {
    const { view } = arenaOf();
    label(view.words, 2, numbers.ALIVE, 'the first thread');
    view.text = (at, length) => {
      label(view.words, 2, numbers.ALIVE + numbers.LIFE_EPOCH, 'the next one');
      return View.prototype.text.call(view, at, length);
    };
    expect(labelOf(view, 2, numbers.ALIVE)).toBeUndefined();
  });
});
