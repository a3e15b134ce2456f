/**
 * The objects of `taketurns/sync` with real threads. The page looks at the objects and at the threads' board, and never
 * waits for a thread.
 */
import { clock } from '@taketurns/bench/dist/workers/board.js';
import { within } from '@taketurns/bench/dist/workers/within.js';
import { Crew } from '../crew/crew.js';
import { Switch } from '../experiment.js';
import { byId, h, put } from '../ui/dom.js';
import { count, duration, whole } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Settings } from '../ui/settings.js';
import { Timeline } from '../ui/timeline.js';
import { Board, HOLDING, ITEMS, NUMBER, OPENINGS, QUEUING, ROUND, STATE, STOP, WAITING } from './board.js';
import { type Kind, kinds, type Scene, type Subject, scenes } from './objects.js';

const PATIENCE_MS = 10_000;
/** The times between two looks, between two points of the chart, and over which the rate is taken. */
const LOOK_MS = 100;
const BIN_MS = 200;
const RATE_MS = 1000;

interface Run {
  readonly scene: Scene;
  readonly board: Board;
  subject: Subject;
}

interface Lane {
  readonly row: HTMLElement;
  readonly state: HTMLElement;
  readonly does: HTMLElement;
  readonly time: HTMLElement;
}

/** Rounds n up to 1, 2 or 5 times a power of ten. */
function roundUp(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(n));
  return ([1, 2, 5, 10].find((step) => step * unit >= n) as number) * unit;
}

/** Formats the time since something began, which `inspect` tells in whole milliseconds. */
function lasting(ms: number): string {
  return ms < 1000 ? `${Math.floor(ms)} ms` : duration(ms);
}

export function sync(): void {
  const lab = byId('sync-lab');
  const control = new Switch(start);
  const { restart } = control;
  const figure = (name: string): HTMLElement => h('dd', { 'data-figure': name }, '–');
  const figures = { waiting: figure('waiting'), longest: figure('longest'), openings: figure('openings') };
  const about = h('p', { class: 'about' });
  const state = h('p', { class: 'said', 'data-figure': 'state' }, '–');
  const waiters = h('p', { class: 'said', 'data-figure': 'waiters' }, '–');
  const openings = h('dt');
  const lanes = h('div', { class: 'lanes' });
  const place = h('div');
  const charts = new Map<Kind, Timeline>();
  let rows: Lane[] = [];
  const settings = new Settings('sync', 'all-objects');
  const kind = settings.select(
    'object',
    'object',
    kinds.map((name) => [name, name] as const),
    changed,
  );
  const threads = settings.slider('threads', 'threads', [2, 3, 4, 6, 8], 4, String, changed);
  const work = settings.slider('work', 'works for about', [1, 5, 20, 100, 500], 100, duration, restart);

  function changed(): void {
    lay();
    restart();
  }

  /** Lays out the rows and the chart for the chosen kind of object and number of threads. */
  function lay(): void {
    const scene = scenes[kind.value];
    put(about, scene.about);
    put(openings, scene.openings);
    rows = Array.from({ length: threads.value }, (_, t) => {
      const state = h('span', { class: 'state' });
      const does = h('span', {}, '–');
      const time = h('span', { class: 'rate' });
      const name = h('span', { class: 'name' }, h('span', { class: `chip t${t}` }, `W${t}`));
      return { row: h('div', { class: 'lane' }, state, name, does, time), state, does, time };
    });
    lanes.replaceChildren(...rows.map(({ row }) => row));
    place.replaceChildren(chart().element);
  }

  function chart(): Timeline {
    let found = charts.get(kind.value);
    if (found === undefined) {
      const { openings } = scenes[kind.value];
      found = new Timeline(
        'Per second',
        `${openings} in a second`,
        `${openings}, over the last second`,
        [{ name: openings, colour: 'var(--ours)', area: true }],
        (rate) => ({ least: 0, most: roundUp(Math.max(10, rate)), scale: { tickFormat: count, ticks: 5 } }),
      );
      charts.set(kind.value, found);
    }
    return found;
  }

  async function start(): Promise<() => Promise<void>> {
    const size = threads.value;
    const scene = scenes[kind.value];
    const duration = work.value;
    const timeline = chart();
    const crew = await Crew.hire(size);
    const board = new Board(size);
    const run: Run = { scene, board, subject: scene.make(size) };
    const order = (): Promise<void> =>
      crew.order((thread) => ({
        job: 'sync',
        objects: run.subject.objects,
        board: board.memory,
        thread,
        threads: size,
        work: duration,
      }));
    const dispose = (): void => {
      run.subject.dispose();
      run.subject.end();
    };
    try {
      await within(order(), PATIENCE_MS, 'the threads did not start');
    } catch (error) {
      crew.dismiss();
      dispose();
      throw error;
    }
    const turns = goOn();
    turns.catch((error) => put(control.status, String(error)));

    /** Gives the workers new objects whenever they have used all that they have, until the page says stop. */
    async function goOn(): Promise<void> {
      while (true) {
        await crew.done();
        if (Atomics.load(board.words, STOP) !== 0) return;
        dispose();
        for (let thread = 0; thread < size; thread++) Atomics.store(board.ints(thread), ROUND, 0);
        run.subject = scene.make(size);
        await order();
      }
    }

    timeline.clear();
    for (const shown of [state, waiters, ...Object.values(figures)]) put(shown, '–');
    const counts: { readonly at: number; readonly openings: number }[] = [];
    const ends = [
      every(LOOK_MS, lab, () => look(run)),
      every(BIN_MS, lab, (now) => {
        counts.push({ at: now, openings: Atomics.load(board.words, OPENINGS) });
        while ((counts[1]?.at ?? now) <= now - RATE_MS) counts.shift();
        const [first, last] = [counts[0], counts.at(-1)];
        if (first === undefined || last === undefined || first === last) return;
        timeline.add(0, now, ((last.openings - first.openings) * 1000) / (last.at - first.at));
        timeline.draw(now);
      }),
    ];
    return async () => {
      for (const end of ends) end();
      Atomics.store(board.words, STOP, 1);
      Atomics.notify(board.words, STOP);
      run.subject.dispose();
      try {
        await within(turns, PATIENCE_MS, 'the threads did not stop');
      } finally {
        crew.dismiss();
        dispose();
        for (const { state } of rows) state.className = 'state';
      }
    };
  }

  function look({ scene, board, subject }: Run): void {
    const now = clock();
    const numbers = rows.map((_, t) => Atomics.load(board.ints(t), NUMBER));
    const name = (thread: number): string => (numbers.includes(thread) ? `W${numbers.indexOf(thread)}` : 'another');
    // The threads may be at different objects. The page shows the object of the foremost thread.
    const round = Math.max(...rows.map((_, t) => Atomics.load(board.ints(t), ROUND)));
    const told = subject.tell(round, Atomics.load(board.words, ITEMS), name);
    put(state, told.state);
    const waiting = told.waiters.map(
      ({ thread, waited, what }) => `${name(thread)}${what === undefined ? '' : ` (${what})`} for ${lasting(waited)}`,
    );
    put(waiters, waiting.length === 0 ? 'Nobody waits.' : `Who waits: ${waiting.join(', ')}.`);
    put(figures.waiting, String(waiting.length));
    put(figures.longest, waiting.length === 0 ? '–' : lasting(Math.max(...told.waiters.map(({ waited }) => waited))));
    put(figures.openings, whole(Atomics.load(board.words, OPENINGS)));
    for (const [thread, { state, does, time }] of rows.entries()) {
      const is = Atomics.load(board.ints(thread), STATE);
      const name = is === WAITING || is === QUEUING ? 'state waits' : is === HOLDING ? 'state holds' : 'state';
      if (state.className !== name) state.className = name;
      put(does, scene.does(thread)[is] ?? '–');
      put(time, lasting(Math.max(0, now - (board.since(thread)[0] as number))));
    }
  }

  lay();
  lab.append(
    h(
      'div',
      { class: 'stage' },
      h(
        'div',
        { class: 'controls' },
        control.button,
        [kind, threads, work].map(({ element }) => element),
      ),
      control.status,
      about,
      h(
        'div',
        { class: 'pair tables' },
        h(
          'div',
          { class: 'panel' },
          h('h4', {}, 'What inspect() tells'),
          state,
          waiters,
          h(
            'dl',
            { class: 'figures words' },
            h('div', {}, h('dt', {}, 'waiting now'), figures.waiting),
            h('div', {}, h('dt', {}, 'longest wait now'), figures.longest),
            h('div', {}, openings, figures.openings),
          ),
        ),
        h('div', { class: 'panel' }, h('h4', {}, 'What the workers do, and for how long'), lanes),
      ),
      place,
      h(
        'p',
        { class: 'legend' },
        h('span', {}, h('i', { class: 'key holds' }), 'has it'),
        h('span', {}, h('i', { class: 'key waits' }), 'waits'),
        h('span', {}, h('i', { class: 'key' }), 'works'),
      ),
      h('div', { class: 'controls saves' }, settings.permalink()),
    ),
  );
}
