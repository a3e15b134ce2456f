/**
 * A guided example: workers lock two mutexes each, and deadlock. The page looks at the arena, waits for nobody, and names
 * the circle.
 */
import { within } from '@taketurns/bench/dist/workers/within.js';
import { Mutex } from 'taketurns';
import { type ArenaReport, report, watchDeadlocks } from 'taketurns/report';
import { Crew } from '../crew/crew.js';
import { Switch } from '../experiment.js';
import { button, byId, h, put } from '../ui/dom.js';
import { duration, whole } from '../ui/format.js';
import { every } from '../ui/frames.js';
import { Settings } from '../ui/settings.js';
import { Graph } from './graph.js';

const PATIENCE_MS = 10_000;
const LOOK_MS = 100;
/** After so long, the youngest waiter gives way, if it is to: long enough to see the circle. */
const AFTER_MS = 2500;
const NAMES = ['accounts', 'audit', 'stock', 'mail'];

const STEPS = [
  'Each worker locks the mutex before it on the circle, and works.',
  'Then it wants the mutex behind it, and keeps the first.',
  'When each has one and wants the next, nobody can go on. The page waits for nobody: it reads the arena, and names the circle.',
  'One of them must give way. Press the button: its request is cancelled, it unlocks what it has, and all go on.',
];

const ORDERS = [
  ['crossed', 'around the circle'],
  ['same', 'all in one order'],
] as const;
const ENDINGS = [
  ['ignore', 'they wait for ever'],
  ['throw', 'the youngest waiter gives way'],
] as const;

export function hang(): void {
  const lab = byId('hang-lab');
  const control = new Switch(start);
  const { restart } = control;
  const settings = new Settings('hang');
  const threads = settings.slider('threads', 'threads', [2, 3, 4], 2, String, changed);
  const order = settings.select('order', 'each locks', ORDERS, restart);
  const ending = settings.select('ending', 'if they deadlock', ENDINGS, restart);
  const work = settings.slider('work', 'works for', [50, 100, 300, 1000], 300, duration, restart);
  const figure = (name: string): HTMLElement => h('dd', { 'data-figure': name }, '–');
  const figures = { turns: figure('turns'), waiting: figure('waiting'), deadlocks: figure('deadlocks') };
  // Only this line is read aloud: the words below change all the time.
  const verdict = h('p', { class: 'said', role: 'status' }, 'Nothing runs.');
  const words = h('p', { class: 'verdict', 'data-figure': 'verdict' }, '–');
  const steps = STEPS.map((text) => h('li', {}, text));
  const lines = h('ul', { class: 'who' });
  const place = h('div', { class: 'panel' });
  const free = button('Let one give way', giveWay);
  let graph: Graph;
  let mutexes: Mutex[] = [];
  let seen = 0;
  lay();

  function changed(): void {
    lay();
    restart();
  }

  function names(): string[] {
    return Array.from({ length: threads.value }, (_, i) => `W${i}`);
  }

  function lay(): void {
    graph = new Graph(names(), NAMES.slice(0, threads.value));
    place.replaceChildren(graph.svg);
    lines.replaceChildren(...names().map((name) => h('li', {}, `${name}: –`)));
    free.disabled = true;
  }

  /** Cancels the request of one thread of the circle. */
  function giveWay(): void {
    const name = report().deadlocks[0]?.edges[0]?.waitsFor.name;
    mutexes.find((_, i) => NAMES[i] === name)?.cancelAll();
  }

  async function start(): Promise<() => Promise<void>> {
    const size = threads.value;
    const crew = await Crew.hire(size);
    const shared = new Int32Array(new SharedArrayBuffer(8));
    mutexes = NAMES.slice(0, size).map((name) => Mutex.open(name));
    const handles = mutexes.map(({ handle }) => handle);
    const sides = (thread: number): [number, number] => {
      const both: [number, number] = [thread, (thread + 1) % size];
      return order.value === 'same' ? (both.sort((a, b) => a - b) as [number, number]) : both;
    };
    const dispose = (): void => {
      for (const mutex of mutexes) mutex.dispose();
      watchDeadlocks(undefined, { deadlocks: 'warn', after: 1000 });
    };
    watchDeadlocks(undefined, { deadlocks: ending.value, after: AFTER_MS });
    seen = 0;
    try {
      const ordered = crew.order((thread) => {
        const [first, second] = sides(thread).map((i) => handles[i]) as [(typeof handles)[0], (typeof handles)[0]];
        return { job: 'hang', mutexes: [first, second], thread, words: shared, work: work.value };
      });
      await within(ordered, PATIENCE_MS, 'the threads did not start');
    } catch (error) {
      crew.dismiss();
      dispose();
      throw error;
    }
    const done = crew.done();
    done.catch((error) => put(control.status, String(error)));
    const end = every(LOOK_MS, lab, () => look(report(), Atomics.load(shared, 1)));
    return async () => {
      end();
      Atomics.store(shared, 0, 1);
      Atomics.notify(shared, 0);
      // Threads that wait for a mutex leave the queue, and end.
      const timer = setInterval(() => {
        for (const mutex of mutexes) mutex.cancelAll();
      }, LOOK_MS);
      try {
        await within(done, PATIENCE_MS, 'the threads did not stop');
      } finally {
        clearInterval(timer);
        crew.dismiss();
        dispose();
        lay();
        put(verdict, 'Nothing runs.');
        put(words, '–');
        words.classList.remove('stuck');
        for (const step of steps) step.className = '';
      }
    };
  }

  function look(told: ArenaReport, turns: number): void {
    graph.draw(told);
    const own = names().map((name) => told.threads.find((thread) => thread.name === name));
    const [deadlock] = told.deadlocks;
    if (deadlock === undefined) seen = 0;
    else seen ||= told.at;
    put(verdict, deadlock ? `A deadlock of ${deadlock.edges.length} threads.` : 'No deadlock.');
    put(words, deadlock?.text ?? '–');
    words.classList.toggle('stuck', deadlock !== undefined);
    free.disabled = deadlock === undefined;
    put(figures.turns, whole(turns));
    put(figures.waiting, String(own.filter((thread) => thread && thread.waiting > 0).length));
    put(figures.deadlocks, String(told.deadlocks.length));
    for (const [i, thread] of own.entries()) {
      const line = lines.children[i] as HTMLElement;
      if (thread === undefined) continue;
      const holds = thread.holds.map(({ name }) => name).join(' and ') || 'nothing';
      const waits = thread.waits.map(({ name, waited }) => `${name} for ${duration(waited)}`).join(' and ');
      put(line, `${thread.name}: holds ${holds}${waits && `, waits for ${waits}`}`);
    }
    const holding = own.filter((thread) => thread && thread.holds.length > 0).length;
    const step = deadlock ? (told.at - seen > 1500 ? 3 : 2) : own.some((one) => one && one.waiting > 0) ? 1 : 0;
    for (const [i, one] of steps.entries()) one.className = i === step && (holding > 0 || step > 0) ? 'now' : '';
  }

  lab.append(
    h(
      'div',
      { class: 'stage' },
      h(
        'div',
        { class: 'controls' },
        control.button,
        free,
        [threads, order, ending, work].map(({ element }) => element),
      ),
      control.status,
      h('ol', { class: 'guide' }, steps),
      h(
        'div',
        { class: 'pair' },
        place,
        h(
          'div',
          { class: 'panel' },
          h('h4', {}, 'What report() tells'),
          verdict,
          words,
          lines,
          h(
            'dl',
            { class: 'figures words' },
            h('div', {}, h('dt', {}, 'turns with both'), figures.turns),
            h('div', {}, h('dt', {}, 'threads that wait'), figures.waiting),
            h('div', {}, h('dt', {}, 'deadlocks now'), figures.deadlocks),
          ),
        ),
      ),
      h(
        'p',
        { class: 'legend' },
        h('span', {}, h('i', { class: 'key holds' }), 'holds'),
        h('span', {}, h('i', { class: 'key waits' }), 'waits for'),
        h('span', {}, h('i', { class: 'key stuck' }), 'in a deadlock'),
      ),
      h('div', { class: 'controls saves' }, settings.permalink()),
    ),
  );
}
