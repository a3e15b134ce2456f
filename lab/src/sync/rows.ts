/**
 * Two panels with a row for each thread: one shows the phases of a read-write lock, the other the relay of a condition.
 * The threads write what they have done to the board (see board.ts), and the page draws these histories.
 */
import { clock } from '@taketurns/bench/dist/workers/board.js';
import { within } from '@taketurns/bench/dist/workers/within.js';
import { Crew } from '../crew/crew.js';
import { Switch } from '../experiment.js';
import { byId, h, put } from '../ui/dom.js';
import { duration, whole } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Gantt } from '../ui/gantt.js';
import { Settings } from '../ui/settings.js';
import { Board, HOLDING, NUMBER, OPENINGS, QUEUING, STATE, STOP, WAITING } from './board.js';
import { relay, scenes, type Told } from './objects.js';

const PATIENCE_MS = 10_000;
const LOOK_MS = 100;

interface Load {
  readonly threads: number;
  readonly work: number;
  readonly writers?: number;
}

interface Panel {
  readonly settings: Settings;
  readonly scene: typeof relay;
  readonly gantt: Gantt;
  readonly about: string;
  readonly key: readonly (readonly [kind: string, text: string])[];
  readonly figures: readonly (readonly [name: string, text: string])[];
  /** Makes the controls. A control calls `changed` when its value changes. */
  controls(changed: () => void): { readonly elements: readonly HTMLElement[]; load(): Load };
  rowsOf(load: Load): readonly (readonly [name: string, kind: string])[];
  /** The values of the figures, by name. */
  measure(board: Board, load: Load, now: number): Readonly<Record<string, string>>;
}

function panel(id: string, { settings, scene, gantt, about, key, figures, controls, rowsOf, measure }: Panel): void {
  const lab = byId(id);
  const control = new Switch(start);
  const { elements, load } = controls(() => {
    gantt.lay(rowsOf(load()));
    control.restart();
  });
  const state = h('p', { class: 'said', 'data-figure': 'state' }, 'Nothing has happened yet.');
  const line = h('ol', { class: 'line', 'aria-label': 'Who waits' });
  const values = new Map(figures.map(([name]) => [name, h('dd', { 'data-figure': name }, '–')]));
  gantt.lay(rowsOf(load()));

  async function start(): Promise<() => Promise<void>> {
    const now = load();
    const { threads } = now;
    gantt.lay(rowsOf(now));
    const crew = await Crew.hire(threads);
    const board = new Board(threads);
    const subject = scene.make(threads);
    const dispose = (): void => {
      subject.dispose();
      subject.end();
    };
    try {
      const ready = crew.order((thread) => ({
        job: 'sync',
        objects: subject.objects,
        board: board.memory,
        thread,
        ...now,
      }));
      await within(ready, PATIENCE_MS, 'the threads did not start');
    } catch (error) {
      crew.dismiss();
      dispose();
      throw error;
    }
    const done = crew.done();
    done.catch((error) => put(control.status, String(error)));
    const end = every(LOOK_MS, lab, () => {
      const at = clock();
      const numbers = Array.from({ length: threads }, (_, t) => Atomics.load(board.ints(t), NUMBER));
      const name = (thread: number): string => `W${numbers.indexOf(thread)}`;
      tell(subject.tell(0, 0, name), name);
      gantt.draw(at, (row) => board.spans(row, at - gantt.windowMs));
      for (const [figure, text] of Object.entries(measure(board, now, at))) {
        const value = values.get(figure);
        if (value !== undefined) put(value, text);
      }
    });
    return async () => {
      end();
      Atomics.store(board.words, STOP, 1);
      Atomics.notify(board.words, STOP);
      subject.dispose();
      try {
        await within(done, PATIENCE_MS, 'the threads did not stop');
      } finally {
        crew.dismiss();
        dispose();
      }
    };
  }

  function tell(told: Told, name: (thread: number) => string): void {
    put(state, told.state);
    const shown = told.waiters.map(({ thread, what }) => `${name(thread)} ${what ?? ''}`);
    if (line.dataset.shown === shown.join()) return;
    line.dataset.shown = shown.join();
    line.replaceChildren(
      ...told.waiters.map(({ thread, what }) =>
        h(
          'li',
          {},
          h('b', {}, name(thread)),
          what === undefined ? '' : ` waits ${/^(to|for) /.test(what) ? '' : 'for '}${what}`,
        ),
      ),
    );
  }

  lab.append(
    h(
      'div',
      { class: 'stage' },
      h('p', { class: 'about' }, about),
      h('div', { class: 'controls' }, control.button, elements),
      control.status,
      gantt.element,
      h(
        'p',
        { class: 'legend bands' },
        key.map(([kind, text]) => h('span', {}, h('i', { class: `key ${kind}` }), text)),
      ),
      h(
        'div',
        { class: 'panel now' },
        state,
        line,
        h(
          'dl',
          { class: 'figures words' },
          figures.map(([name, text]) => h('div', {}, h('dt', {}, text), values.get(name))),
        ),
      ),
      h('div', { class: 'controls saves' }, settings.permalink()),
    ),
  );
}

export function readWriteLock(): void {
  const settings = new Settings('readers', 'readers');
  const longest = { readers: 0, writers: 0 };
  let measured: Board | undefined;
  panel('rw-lab', {
    settings,
    scene: scenes.RwLock,
    about:
      'Readers read together, a writer writes alone. The lock is phase-fair: a reader waits for one writer at most, however many queue, and no reader that comes while a writer waits goes before it. So the columns alternate.',
    gantt: new Gantt('Phases', 'What each reader and writer did, over the last three seconds', 3000, [
      { state: WAITING, kind: 'waits' },
      { state: HOLDING, kind: 'holds' },
    ]),
    key: [
      ['holds', 'reads'],
      ['writes', 'writes'],
      ['waits', 'waits'],
      ['', 'works outside'],
    ],
    figures: [
      ['sections', 'sections so far'],
      ['reader', 'a reader waited, at most'],
      ['writer', 'a writer waited, at most'],
      ['together', 'read at this moment'],
    ],
    controls: (changed) => {
      const readers = settings.slider('readers', 'readers', [1, 2, 3, 4, 5, 6], 4, String, changed);
      const writers = settings.slider('writers', 'writers', [1, 2, 3, 4], 2, String, changed);
      const work = settings.slider('work', 'works and holds for about', [5, 20, 50, 100, 200], 100, duration, changed);
      const load = (): Load => ({ threads: readers.value + writers.value, writers: writers.value, work: work.value });
      return { elements: [readers, writers, work].map(({ element }) => element), load };
    },
    rowsOf: ({ threads, writers = 0 }) =>
      Array.from({ length: threads }, (_, t) => (t < writers ? [`W${t} writes`, 'writer'] : [`W${t} reads`, 'reader'])),
    measure: (board, { threads, writers = 0 }, now) => {
      const sections = Atomics.load(board.words, OPENINGS);
      if (board !== measured) Object.assign(longest, { readers: 0, writers: 0 });
      measured = board;
      let together = 0;
      for (let t = 0; t < threads; t++) {
        const who = t < writers ? 'writers' : 'readers';
        for (const { state, from, to } of board.spans(t, now - 1000))
          if (state === WAITING) longest[who] = Math.max(longest[who], (to ?? now) - from);
        if (t >= writers && Atomics.load(board.ints(t), STATE) === HOLDING) together++;
      }
      return {
        sections: whole(sections),
        reader: duration(longest.readers),
        writer: duration(longest.writers),
        together: String(together),
      };
    },
  });
}

export function conditionAtWork(): void {
  const settings = new Settings('condition', 'condition');
  panel('condition-lab', {
    settings,
    scene: relay,
    about:
      'W0 calls notifyAll now and then; the others wait for that, and each then does its part with the mutex. They go on in the order in which they began to wait, and each that has the mutex wakes the next: a staircase, not a crowd that is woken to queue up again.',
    gantt: new Gantt('The relay', 'What each thread did at the condition, over the last three seconds', 3000, [
      { state: WAITING, kind: 'waits' },
      { state: QUEUING, kind: 'queues' },
      { state: HOLDING, kind: 'holds' },
    ]),
    key: [
      ['holds', 'has the mutex'],
      ['waits', 'waits to be notified'],
      ['queues', 'wants the mutex'],
      ['', 'works'],
    ],
    figures: [
      ['rounds', 'rounds so far'],
      ['began', 'began to wait, in the last round'],
      ['went', 'went on'],
    ],
    controls: (changed) => {
      const threads = settings.slider('threads', 'threads', [3, 4, 5, 6, 8], 6, String, changed);
      const work = settings.slider('work', 'has the mutex for about', [5, 20, 50, 100], 50, duration, changed);
      return {
        elements: [threads, work].map(({ element }) => element),
        load: () => ({ threads: threads.value, work: work.value }),
      };
    },
    rowsOf: ({ threads }) =>
      Array.from({ length: threads }, (_, t) => [t === 0 ? 'W0 notifies' : `W${t}`, t === 0 ? 'notifier' : '']),
    measure: (board, { threads }, now) => ({
      rounds: whole(Atomics.load(board.words, OPENINGS)),
      ...lastRound(board, threads, now),
    }),
  });
}

/**
 * The order in which the waiters of the last round began to wait, and the order in which they had the mutex. The result
 * is empty until all waiters have had the mutex.
 */
function lastRound(board: Board, threads: number, now: number): { began?: string; went?: string } {
  const SINCE_MS = 10_000;
  const announced = board.spans(0, now - SINCE_MS).findLast(({ state, to }) => state === HOLDING && to !== undefined);
  if (announced === undefined) return {};
  const passed = Array.from({ length: threads - 1 }, (_, i) => {
    const spans = board.spans(i + 1, now - SINCE_MS);
    const at = spans.findIndex(({ state, from }) => state === HOLDING && from >= announced.from);
    const [before, after] = [spans[at - 1], spans[at]];
    return before?.state === WAITING && after !== undefined
      ? { name: `W${i + 1}`, began: before.from, went: after.from }
      : undefined;
  });
  if (passed.some((one) => one === undefined)) return {};
  const all = passed as { name: string; began: number; went: number }[];
  const order = (by: 'began' | 'went'): string =>
    [...all]
      .sort((a, b) => a[by] - b[by])
      .map(({ name }) => name)
      .join(' ');
  return { began: order('began'), went: order('went') };
}
