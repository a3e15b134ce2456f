/** The queue of real threads. The page reads their arena several times a second. */

import { within } from '@taketurns/bench/dist/workers/within.js';
import { Arena, type ArenaOptions, Semaphore } from 'taketurns';
import { Crew } from '../crew/crew.js';
import { Switch } from '../experiment.js';
import { byId, h, put } from '../ui/dom.js';
import { count, duration, whole } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Settings } from '../ui/settings.js';
import { Timeline } from '../ui/timeline.js';
import { ArrayView } from './array.js';
import { Memory } from './memory.js';

const PATIENCE_MS = 10_000;
/** The time between two looks at the memory, and the time over which the rates are taken. */
const LOOK_MS = 100;
const BIN_MS = 200;
const MOST_THREADS = 8;

const KINDS = [
  { name: 'grants', colour: 'var(--ours)' },
  { name: 'collisions', colour: 'var(--waits)' },
  { name: 'cancelled', colour: 'var(--barging)' },
] as const;

interface Run {
  readonly semaphore: Semaphore;
  readonly arena: Arena;
  readonly memory: Memory;
  readonly at: number;
}

/** Rounds n up to 1, 2 or 5 times a power of ten. */
function roundUp(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((step) => step * unit >= n) as number) * unit;
}

export function live(): void {
  const lab = byId('queue-lab');
  const control = new Switch(start);
  const { restart } = control;
  const figure = (name: string): HTMLElement => h('dd', { 'data-figure': name }, '–');
  const figures = {
    ticket: figure('ticket'),
    grant: figure('grant'),
    waiting: figure('waiting'),
    longest: figure('longest'),
    collisions: figure('collisions'),
    timeouts: figure('timeouts'),
  };
  const array = new ArrayView();
  const beds = Array.from({ length: MOST_THREADS }, (_, t) => {
    const where = h('td', {}, '–');
    const row = h(
      'tr',
      { hidden: t >= 4 },
      h('th', { scope: 'row' }, h('span', { class: `chip t${t}` }, `W${t}`)),
      where,
    );
    return { row, where };
  });
  const settings = new Settings('queue', 'live-queue');
  const threads = settings.slider('threads', 'threads', [2, 3, 4, 6, 8], 4, String, restart);
  const permits = settings.slider('permits', 'permits', [1, 2, 3], 1, String, restart);
  const slots = settings.slider('buckets', 'buckets', [1, 2, 4, 8, 16], 4, String, restart);
  const hold = settings.slider('hold', 'each holds one for', [0, 0.1, 0.5, 1, 5], 0.5, duration, restart);
  const patience = settings.select(
    'patience',
    'patience',
    [
      ['0', 'nobody cancels'],
      ['1', 'every other cancels after 1 ms'],
      ['5', 'every other cancels after 5 ms'],
    ] as const,
    restart,
  );
  const chart = new Timeline(
    'Per second',
    'Grants, collisions and requests cancelled in a second',
    'grants, collisions in the waiting array, requests cancelled',
    KINDS,
    (rate) => ({ least: 0, most: roundUp(Math.max(100, rate)), scale: { tickFormat: count, ticks: 5 } }),
  );

  async function start(): Promise<() => Promise<void>> {
    const crew = await Crew.hire(threads.value);
    const words = new Int32Array(new SharedArrayBuffer(4));
    let run: Run;
    try {
      // The page's thread is the first in this arena. The workers follow in the order in which they attach.
      // The published types do not have the option `slots`.
      const sizes: ArenaOptions & { slots: number } = { slots: slots.value, threads: 32, waiters: 64, objects: 8 };
      const arena = new Arena(sizes);
      const semaphore = new Semaphore(permits.value, { arena });
      const { handle } = semaphore;
      const memory = new Memory(new Int32Array(arena.handle.memory.buffer));
      run = { semaphore, arena, memory, at: handle.address };
      await within(
        crew.order((thread) => ({
          job: 'queue',
          semaphore: handle,
          words,
          hold: hold.value,
          think: 0.3,
          timeout: thread % 2 === 1 ? Number(patience.value) : 0,
        })),
        PATIENCE_MS,
        'the threads did not start',
      );
    } catch (error) {
      crew.dismiss();
      throw error;
    }
    chart.clear();
    for (const [t, { row }] of beds.entries()) row.hidden = t >= threads.value;
    let [then, before] = [performance.now(), counts(run)];
    const ends = [
      every(LOOK_MS, lab, () => look(run)),
      every(BIN_MS, lab, (now) => {
        const after = counts(run);
        for (const [kind, count] of after.entries())
          chart.add(kind, now, ((count - (before[kind] as number)) * 1000) / (now - then));
        [then, before] = [now, after];
        chart.draw(now);
      }),
    ];
    return async () => {
      for (const end of ends) end();
      Atomics.store(words, 0, 1);
      try {
        await within(crew.done(), PATIENCE_MS, 'the threads did not stop');
      } finally {
        crew.dismiss();
        run.semaphore.dispose();
      }
    };
  }

  function look({ semaphore, arena, memory, at }: Run): void {
    const owners = new Map<number, number>();
    const waits = new Map<number, string>();
    for (const { index, state, thread, object, start: ticket, cells } of memory.elements(64)) {
      // The page's own thread is number 1.
      owners.set(index, thread - 2);
      if (state !== 'waiting' || object !== at) continue;
      const cell = cells[0];
      waits.set(
        thread - 2,
        `ticket ${whole(ticket)}, on e${index}${cell === undefined ? '' : `, in ${memory.placeOf(cell)}`}`,
      );
    }
    array.show(memory, (e) => owners.get(e));
    for (const [t, { where }] of beds.entries()) put(where, waits.get(t) ?? 'not in the queue');
    const { waiting, longestWait, timeouts } = semaphore.inspect();
    put(figures.ticket, whole(memory.ticket(at)));
    put(figures.grant, whole(memory.grant(at)));
    put(figures.waiting, String(waiting));
    put(figures.longest, duration(longestWait));
    put(figures.collisions, whole(arena.stats().collisions));
    put(figures.timeouts, whole(timeouts));
  }

  /** Returns how many grants, collisions and cancelled requests there have been. */
  function counts({ semaphore, arena, memory, at }: Run): number[] {
    return [memory.grant(at), arena.stats().collisions, semaphore.inspect().timeouts];
  }

  lab.append(
    h(
      'div',
      { class: 'stage' },
      h(
        'div',
        { class: 'controls' },
        control.button,
        [threads, permits, slots, hold, patience].map(({ element }) => element),
      ),
      control.status,
      h(
        'div',
        { class: 'panel' },
        h(
          'dl',
          { class: 'figures words' },
          (
            [
              ['ticket', figures.ticket],
              ['grant', figures.grant],
              ['waiting now', figures.waiting],
              ['longest wait now', figures.longest],
              ['collisions', figures.collisions],
              ['cancelled', figures.timeouts],
            ] as const
          ).map(([term, value]) => h('div', {}, h('dt', {}, term), value)),
        ),
      ),
      h(
        'div',
        { class: 'pair tables' },
        h(
          'div',
          { class: 'panel' },
          h('h4', {}, 'The waiting array, now'),
          h('div', { class: 'scroll' }, array.element),
        ),
        h(
          'div',
          { class: 'panel' },
          h('h4', {}, 'Who parks where'),
          h(
            'table',
            { class: 'beds' },
            h(
              'tbody',
              {},
              beds.map(({ row }) => row),
            ),
          ),
        ),
      ),
      chart.element,
      h('div', { class: 'controls saves' }, settings.permalink()),
    ),
  );
}
