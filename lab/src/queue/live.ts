/** The queue of real threads: what stands in their arena, read in every frame. */
import { Arena, Semaphore } from 'taketurns';
import { Crew, within } from '../crew/crew.js';
import { begin, end } from '../experiment.js';
import { Chart, Plot } from '../ui/chart.js';
import { button, byId, h, put, select, slider } from '../ui/dom.js';
import { count, duration, whole } from '../ui/format.js';
import { everyFrame } from '../ui/frames.js';
import { ArrayView } from './array.js';
import { Memory } from './memory.js';

const PATIENCE_MS = 10_000;
const BIN_MS = 250;
/** Between two looks at the figures. */
const TELL_MS = 100;
const WINDOW_MS = 10_000;
const MOST_THREADS = 8;

interface Rate {
  readonly time: number;
  readonly kind: 'grants' | 'collisions' | 'given up';
  readonly rate: number;
}

type Counters = Record<Rate['kind'], number>;

interface Run {
  readonly crew: Crew;
  readonly semaphore: Semaphore;
  readonly arena: Arena;
  readonly memory: Memory;
  readonly at: number;
  readonly words: Int32Array;
  /** Tickets that were given up and taken back, or passed. */
  before: Counters & { readonly time: number };
  endFrames: () => void;
}

const COLOURS = { grants: 'var(--ours)', collisions: 'var(--waits)', 'given up': 'var(--barging)' } as const;

export function live(): void {
  const experiment = { stop };
  const rates: Rate[] = [];
  let now = 0;
  let told = 0;
  let run: Run | undefined;
  let busy = false;

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
  const threads = slider('threads', [2, 3, 4, 6, 8], 4, String, restart);
  const permits = slider('permits', [1, 2, 3], 1, String, restart);
  const slots = slider('buckets', [1, 2, 4, 8, 16], 4, String, restart);
  const hold = slider('each holds one for', [0, 0.1, 0.5, 1, 5], 0.5, duration, restart);
  const patience = select(
    'patience',
    [
      ['0', 'none gives up'],
      ['1', 'every other gives up after 1 ms'],
      ['5', 'every other gives up after 5 ms'],
    ] as const,
    restart,
  );
  const start = button('Start', () => (run === undefined ? go() : stop()), 'primary');
  const status = h('p', { class: 'status', role: 'status' });
  const chart = new Chart(
    'A second',
    () => ({
      ariaLabel: 'Grants, collisions and requests given up in a second, over the last ten seconds',
      marginBottom: 34,
      x: { domain: [-WINDOW_MS / 1000, 0], label: 'seconds ago', tickFormat: (x: number) => `${-x}` },
      y: { grid: true, label: null, tickFormat: count, zero: true, nice: true, ticks: 5 },
      color: { domain: Object.keys(COLOURS), range: Object.values(COLOURS), legend: true },
      marks: [
        Plot.ruleY([0], { stroke: 'var(--line)' }),
        Plot.lineY(rates, {
          x: ({ time }: Rate) => (time - now) / 1000,
          y: 'rate',
          z: 'kind',
          stroke: 'kind',
          strokeWidth: 1.8,
        }),
      ],
    }),
    'grants, collisions in the waiting array, requests given up',
  );

  async function go(): Promise<void> {
    if (busy) return;
    busy = true;
    start.disabled = true;
    await begin(experiment);
    put(status, '');
    let crew: Crew | undefined;
    try {
      crew = await Crew.hire(threads.value);
      // The page's thread is the first in this arena; as they attach one after the other, the workers follow.
      const arena = new Arena({ slots: slots.value, threads: 32, waiters: 64, objects: 8, names: 1 });
      const semaphore = new Semaphore(permits.value, { arena });
      const { handle } = semaphore;
      const words = new Int32Array(new SharedArrayBuffer(4));
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
      rates.length = 0;
      const time = performance.now();
      run = {
        crew,
        semaphore,
        arena,
        words,
        memory: new Memory(new Int32Array(arena.handle.memory.buffer)),
        at: handle.address,
        before: { grants: 0, collisions: 0, 'given up': 0, time },
        endFrames: everyFrame(frame),
      };
      for (const [t, { row }] of beds.entries()) row.hidden = t >= threads.value;
      put(start, 'Stop');
    } catch (error) {
      put(status, String(error));
      crew?.dismiss();
      end(experiment);
    }
    start.disabled = false;
    busy = false;
  }

  async function stop(): Promise<void> {
    if (run === undefined) return;
    const { crew, semaphore, words, endFrames } = run;
    endFrames();
    run = undefined;
    start.disabled = true;
    Atomics.store(words, 0, 1);
    try {
      await within(crew.done(), PATIENCE_MS, 'the threads did not stop');
    } catch (error) {
      put(status, String(error));
    }
    crew.dismiss();
    semaphore.dispose();
    put(start, 'Start');
    start.disabled = false;
    end(experiment);
  }

  let restarting = Promise.resolve();
  function restart(): void {
    if (run === undefined) return;
    restarting = restarting.then(async () => {
      await stop();
      await go();
    });
  }

  function frame(time: number): void {
    if (run === undefined) return;
    now = time;
    const { memory, at } = run;
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
    // Nobody reads numbers that change sixty times a second.
    if (time - told < TELL_MS) return;
    told = time;
    for (const [t, { where }] of beds.entries()) put(where, waits.get(t) ?? 'not in the queue');
    const { semaphore, arena } = run;
    const stats = semaphore.inspect();
    const { collisions } = arena.stats();
    put(figures.ticket, whole(memory.ticket(at)));
    put(figures.grant, whole(memory.grant(at)));
    put(figures.waiting, String(stats.waiting));
    put(figures.longest, duration(stats.longestWait));
    put(figures.collisions, whole(collisions));
    put(figures.timeouts, whole(stats.timeouts));
    if (time - run.before.time >= BIN_MS) endBin(run, memory.grant(at), collisions, stats.timeouts, time);
  }

  function endBin(of: Run, grants: number, collisions: number, timeouts: number, time: number): void {
    const after = { grants, collisions, 'given up': timeouts, time };
    const seconds = (time - of.before.time) / 1000;
    for (const kind of Object.keys(COLOURS) as Rate['kind'][])
      rates.push({ time, kind, rate: (after[kind] - of.before[kind]) / seconds });
    of.before = after;
    while (rates[0] !== undefined && rates[0].time < time - WINDOW_MS) rates.shift();
    chart.draw();
  }

  byId('queue-lab').append(
    h(
      'div',
      { class: 'stage' },
      h(
        'div',
        { class: 'controls' },
        start,
        [threads, permits, slots, hold, patience].map(({ element }) => element),
      ),
      status,
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
              ['the longest, for', figures.longest],
              ['collisions', figures.collisions],
              ['given up', figures.timeouts],
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
    ),
  );
}
