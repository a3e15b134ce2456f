/** Starvation: the same hogs and the same victim at a barging semaphore and at ours, side by side. */
import { clock } from '@taketurns/bench/dist/workers/board.js';
import { within } from '@taketurns/bench/dist/workers/within.js';
import { Semaphore } from 'taketurns';
import { Crew } from '../crew/crew.js';
import { Switch } from '../experiment.js';
import { decades } from '../ui/chart.js';
import { button, byId, download, h, put } from '../ui/dom.js';
import { count, duration } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Settings } from '../ui/settings.js';
import { Timeline } from '../ui/timeline.js';
import { BargingSemaphore } from './barging.js';
import {
  ADMISSIONS,
  Board,
  HELD,
  HOLDING,
  LATEST_WAIT,
  LONGEST,
  MOST_OVERTAKEN,
  OVERTAKEN,
  OVERTOOK,
  SINCE,
  STATE,
  STOP,
  type Turn,
  VICTIM,
  WAITED,
  WAITING,
} from './board.js';

const PATIENCE_MS = 10_000;
/** The times between two looks at the board, between two drawings of the chart, and over which rates are taken. */
const LOOK_MS = 100;
const DRAW_MS = 200;
const BIN_MS = 500;
const USUAL_HOGS = 4;
const USUAL_PERMITS = 3;
/** The chart shows a shorter wait as a wait of this length. */
const FLOOR_MS = 0.01;

interface Load {
  readonly hogs: number;
  readonly permits: number;
  readonly hold: number;
  readonly think: number;
  readonly computes: boolean;
}

/** The figures of a thread that the page keeps from one bin to the next. */
interface Before {
  admissions: number;
  waited: number;
  held: number;
}

interface Lane {
  readonly row: HTMLElement;
  readonly state: HTMLElement;
  readonly waits: HTMLElement;
  readonly holds: HTMLElement;
  readonly overtook: HTMLElement;
  readonly rate: HTMLElement;
}

class Side {
  readonly element: HTMLElement;
  readonly name: string;
  readonly kind: 'barging' | 'ours';
  readonly #figures: Record<'now' | 'longest' | 'most' | 'rate', HTMLElement>;
  readonly #lanes = h('div', { class: 'lanes' });
  #rows: Lane[] = [];
  #board: Board | undefined;
  #crew: Crew | undefined;
  #semaphore: Semaphore | undefined;
  #before: Before[] = [];
  /** The latest turns of the last run that has ended. */
  turns: readonly Turn[] = [];
  #bin = 0;

  constructor(kind: 'barging' | 'ours', name: string, about: string) {
    this.kind = kind;
    this.name = name;
    const figure = (): HTMLElement => h('dd', {}, '–');
    this.#figures = { now: figure(), longest: figure(), most: figure(), rate: figure() };
    const entry = (term: string, value: HTMLElement, name: string, kindOf = ''): HTMLElement => {
      value.dataset.figure = name;
      return h('div', { class: kindOf }, h('dt', {}, term), value);
    };
    this.element = h(
      'article',
      { class: `panel side ${kind}`, 'data-side': kind },
      h('h3', {}, h('span', { class: 'swatch' }), name),
      h('p', { class: 'about' }, about),
      h(
        'dl',
        { class: 'figures' },
        entry('the victim waits, at most', this.#figures.longest, 'longest', 'main'),
        entry('overtaken in one wait, at most', this.#figures.most, 'most', 'main'),
        entry('its turns a second', this.#figures.rate, 'rate'),
        entry('waiting now for', this.#figures.now, 'now'),
      ),
      this.#lanes,
    );
    this.lay(USUAL_HOGS);
  }

  #names(hogs: number): string[] {
    return ['victim', ...Array.from({ length: hogs }, (_, i) => (hogs === 1 ? 'hog' : `hog ${i + 1}`))];
  }

  lay(hogs: number): void {
    const names = this.#names(hogs);
    this.#rows = names.map((name, thread) => {
      const state = h('span', { class: 'state' });
      const waits = h('i', { class: 'waits' });
      const holds = h('i', { class: 'holds' });
      const overtook = h('span', { class: 'rate overtook' }, thread === VICTIM ? '' : '–');
      const rate = h('span', { class: 'rate' }, '–');
      const row = h(
        'div',
        { class: thread === VICTIM ? 'lane victim' : 'lane' },
        state,
        h('span', { class: 'name' }, name),
        h('span', { class: 'bar' }, holds, waits),
        overtook,
        rate,
      );
      return { row, state, waits, holds, overtook, rate };
    });
    const heads = ['', '', 'holds, waits', 'overtook it', 'turns'];
    const head = h(
      'div',
      { class: 'lane heads' },
      heads.map((text) => h('span', {}, text)),
    );
    this.#lanes.replaceChildren(head, ...this.#rows.map(({ row }) => row));
  }

  async start(load: Load): Promise<void> {
    const threads = load.hogs + 1;
    this.lay(load.hogs);
    this.#before = Array.from({ length: threads }, () => ({ admissions: 0, waited: 0, held: 0 }));
    this.#bin = clock();
    const board = new Board(threads);
    this.#crew = await Crew.hire(threads);
    this.#semaphore = this.kind === 'ours' ? new Semaphore(load.permits) : undefined;
    const semaphore = this.#semaphore?.handle ?? BargingSemaphore.share(load.permits);
    await within(
      this.#crew.order((thread) => ({
        job: 'starvation',
        semaphore,
        board: board.memory,
        thread,
        threads,
        permits: load.permits,
        hold: load.hold,
        computes: load.computes,
        think: thread === VICTIM ? load.think : 0,
      })),
      PATIENCE_MS,
      'the threads did not start',
    );
    this.#board = board;
  }

  async stop(): Promise<void> {
    const board = this.#board;
    this.#board = undefined;
    if (board !== undefined) Atomics.store(board.words, STOP, 1);
    try {
      if (this.#crew !== undefined && board !== undefined)
        await within(this.#crew.done(), PATIENCE_MS, 'the threads did not stop');
    } finally {
      this.#crew?.dismiss();
      this.#crew = undefined;
      this.#semaphore?.dispose();
      this.#semaphore = undefined;
      this.turns = board?.turns() ?? [];
      for (const { state } of this.#rows) state.className = 'state';
    }
  }

  /** Reads the board and shows it. Returns the victim's longest wait since the last look, if there was one. */
  look(now: number): number | undefined {
    const board = this.#board;
    if (board === undefined) return undefined;
    const victim = board.ints(VICTIM);
    const times = board.times(VICTIM);
    const isWaiting = Atomics.load(victim, STATE) === WAITING;
    const waiting = isWaiting ? Math.max(0, now - (times[SINCE] as number)) : 0;
    const ended = Atomics.exchange(victim, LATEST_WAIT, 0) / 1000;
    for (const [thread, { state }] of this.#rows.entries()) {
      const is = Atomics.load(board.ints(thread), STATE);
      const name = is === WAITING ? 'state waits' : is === HOLDING ? 'state holds' : 'state';
      if (state.className !== name) state.className = name;
    }
    const figures = this.#figures;
    put(figures.longest, duration(Math.max(times[LONGEST] as number, waiting)));
    const most = Math.max(victim[MOST_OVERTAKEN] as number, Atomics.load(victim, OVERTAKEN));
    put(figures.most, count(most));
    figures.most.dataset.value = String(most);
    put(figures.now, isWaiting ? duration(waiting) : '–');
    for (const [thread, { overtook }] of this.#rows.entries())
      if (thread !== VICTIM) put(overtook, count(Atomics.load(board.ints(thread), OVERTOOK)));
    // If the victim does not wait and has had no turn since the last look, the chart gets no point.
    return isWaiting || ended > 0 ? Math.max(waiting, ended) : undefined;
  }

  /** Shows the shares and rates since the last call. */
  endBin(now: number): void {
    const board = this.#board;
    if (board === undefined) return;
    const length = now - this.#bin;
    this.#bin = now;
    for (const [thread, { waits, holds, rate }] of this.#rows.entries()) {
      const ints = board.ints(thread);
      const times = board.times(thread);
      const state = Atomics.load(ints, STATE);
      const since = Math.max(0, now - (times[SINCE] as number));
      // The present wait counts as if it ended now.
      const waited = (times[WAITED] as number) + (state === WAITING ? since : 0);
      const held = (times[HELD] as number) + (state === HOLDING ? since : 0);
      const admissions = Atomics.load(ints, ADMISSIONS);
      const before = this.#before[thread] as Before;
      const part = (after: number, then: number): string =>
        `${Math.min(100, Math.max(0, (100 * (after - then)) / length)).toFixed(1)}%`;
      waits.style.width = part(waited, before.waited);
      holds.style.width = part(held, before.held);
      const turns = ((admissions - before.admissions) * 1000) / length;
      put(rate, `${count(turns)}/s`);
      if (thread === VICTIM) put(this.#figures.rate, count(turns));
      this.#before[thread] = { admissions, waited, held };
    }
  }
}

export function starvation(): void {
  const barging = new Side(
    'barging',
    'A barging semaphore',
    'A count. Who finds enough permits takes them, whoever else waits.',
  );
  const ours = new Side('ours', 'taketurns Semaphore', 'A ticket for each permit, served in order. Bypass bound: 0.');
  const sides = [barging, ours];
  const lab = byId('starvation-lab');
  const chart = new Timeline(
    'How long the victim waits',
    'How long the victim waits on either semaphore',
    'logarithmic',
    sides.map(({ name, kind }) => ({ name, colour: `var(--${kind})`, area: kind === 'barging' })),
    (wait) => {
      const most = Math.max(1000, 10 ** Math.ceil(Math.log10(Math.max(1, wait))));
      return {
        least: FLOOR_MS,
        most,
        scale: { type: 'log', ticks: decades(FLOOR_MS, most), tickFormat: duration },
      };
    },
  );

  let latest: Load | undefined;
  const control = new Switch(start);
  const { restart } = control;
  const settings = new Settings('starvation');
  const hogs = settings.slider('hogs', 'hogs', [1, 2, 3, 4, 6, 8], USUAL_HOGS, String, (n) => {
    lay(n);
    restart();
  });
  const permits = settings.slider('permits', 'permits', [1, 2, 3, 4], USUAL_PERMITS, String, restart);
  const hold = settings.slider('hold', 'each turn takes about', [0.1, 0.5, 1, 2, 5, 10, 20, 50], 20, duration, restart);
  const think = settings.slider(
    'think',
    'the victim comes back after',
    [0.1, 0.5, 1, 5, 20, 100],
    1,
    duration,
    restart,
  );
  const work = settings.select(
    'holder',
    'in its turn a thread',
    [
      ['sleeps', 'sleeps, as on a disk'],
      ['computes', 'computes'],
    ],
    restart,
  );
  const save = button('Download this run', () => download('starvation.json', 'application/json', json()), 'save');
  save.disabled = true;
  lay(hogs.value);

  function lay(hogs: number): void {
    for (const side of sides) side.lay(hogs);
  }

  /** The turns of the last run on either side, in milliseconds since the first. */
  function json(): string {
    const start = Math.min(...sides.flatMap(({ turns }) => turns.map(({ arrived }) => arrived)));
    const told = (turns: readonly Turn[]): unknown =>
      turns.map(({ thread, ticket, ...times }) => [
        thread,
        ticket,
        ...[times.arrived, times.admitted, times.released].map((time) => Number((time - start).toFixed(1))),
      ]);
    const { hogs, permits, hold, think, computes } = latest as Load;
    return `${JSON.stringify({
      date: new Date().toISOString().slice(0, 10),
      browser: navigator.userAgent,
      processors: navigator.hardwareConcurrency,
      threads: ['victim', ...Array.from({ length: hogs }, (_, i) => `hog ${i + 1}`)],
      permits,
      hold,
      think,
      computes,
      turn: ['thread', 'ticket', 'arrived', 'admitted', 'released'],
      barging: told(barging.turns),
      ours: told(ours.turns),
    })}\n`;
  }

  async function start(): Promise<() => Promise<void>> {
    save.disabled = true;
    const load = {
      hogs: hogs.value,
      permits: permits.value,
      hold: hold.value,
      think: think.value,
      computes: work.value === 'computes',
    };
    const stopSides = async (): Promise<void> => {
      const results = await Promise.allSettled(sides.map((side) => side.stop()));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    };
    try {
      await Promise.all(sides.map((side) => side.start(load)));
    } catch (error) {
      await stopSides().catch(() => {});
      throw error;
    }
    latest = load;
    chart.clear();
    const ends = [
      every(LOOK_MS, lab, () => {
        const now = clock();
        for (const [series, side] of sides.entries()) {
          const wait = side.look(now);
          if (wait !== undefined) chart.add(series, now, wait);
        }
      }),
      every(DRAW_MS, lab, () => chart.draw(clock())),
      every(BIN_MS, lab, () => {
        for (const side of sides) side.endBin(clock());
      }),
    ];
    return async () => {
      for (const end of ends) end();
      await stopSides();
      save.disabled = sides.some(({ turns }) => turns.length === 0);
    };
  }

  lab.append(
    h(
      'div',
      { class: 'controls' },
      control.button,
      [permits, hogs, hold, work, think].map(({ element }) => element),
    ),
    control.status,
    h(
      'div',
      { class: 'sides' },
      sides.map(({ element }) => element),
    ),
    chart.element,
    h(
      'p',
      { class: 'legend' },
      h('span', {}, h('i', { class: 'key holds' }), 'has permits'),
      h('span', {}, h('i', { class: 'key waits' }), 'waits'),
      h('span', {}, h('i', { class: 'key' }), 'does without'),
    ),
    h('div', { class: 'controls saves' }, save, settings.permalink()),
  );
}
