/** semabench and MutexBench in the browser's own workers. The figures are drawn as they come in. */
import { BENCHMARKS, type Benchmark } from '@taketurns/bench/dist/benchmarks.js';
import { type Cell, cells, type Results } from '@taketurns/bench/dist/results.js';
import type { ScriptRow } from '@taketurns/bench/dist/rows/row.js';
import { median, total } from '@taketurns/bench/dist/statistics.js';
import { Crew } from '../crew/crew.js';
import { begin, end } from '../experiment.js';
import { Chart, colour, decades, drawn, Plot } from '../ui/chart.js';
import { button, byId, type Choice, download, h, put } from '../ui/dom.js';
import { count, counted, duration, share } from '../ui/format.js';
import { Settings } from '../ui/settings.js';

/** The benchmarks that the page shows. */
type Shown = Exclude<Benchmark['name'], 'hashes' | 'today'>;

/** Rows that are ticked at first. */
const USUAL: Record<Shown, readonly string[]> = {
  semaphores: ['Semaphore', 'TwaSemaphore', 'js-ticket-notify-all', 'js-barging'],
  locks: ['Mutex', 'Semaphore', 'TtsLock', 'TtsLock+capacitor', 'js-barging'],
};
const TITLES = { semaphores: 'semabench', locks: 'MutexBench' } as const;
const ABOUT = {
  semaphores: 'acquire, a step of the common generator, release, a step of one’s own',
  locks: 'lock, a step of the common generator, unlock',
} as const;
const THREADS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64];
/**
 * As many threads as processors, and 4 and 8 times as many. With many more threads than processors, the quickest
 * threads shut others out. With only a few more, the figures would mostly show which threads the system runs, since a
 * thread that does not run does not queue.
 */
const USUAL_THREADS = usualThreads(navigator.hardwareConcurrency);
const HEADS = ['', 'longest wait', 'largest bypass', 'overtaken', 'iterations/s', 'fairness (min/max)'];
/** The milliseconds that a loop runs before its interval, and the milliseconds that each thread adds to them. */
const WARM_MS = 40;
const WARM_EACH_MS = 10;
/** The chart shows a shorter wait as a wait of this length. */
const LEAST_WAIT_MS = 0.01;

function usualThreads(processors: number): number[] {
  const nearest = (n: number): number =>
    THREADS.reduce((best, one) => (Math.abs(one - n) < Math.abs(best - n) ? one : best));
  return [...new Set([1, 4, 8].map((times) => nearest(times * processors)))];
}

/** The waits in the runs of one row at one number of threads: each figure is the median of the rounds. */
interface Waits {
  readonly longest: number;
  readonly bypass: number;
  /** The share of all admissions before which another thread was admitted out of turn. */
  readonly overtaken: number;
}

export function benchmarks(): void {
  byId('bench-lab').append(
    h('div', { class: 'benches' }, ...(['semaphores', 'locks'] as const).map((name) => new Bench(name).element)),
  );
}

class Bench {
  readonly element: HTMLElement;
  readonly #name: Shown;
  readonly #rows: readonly ScriptRow[];
  readonly #ticks: ReadonlyMap<string, HTMLInputElement>;
  readonly #counts: ReadonlyMap<number, HTMLInputElement>;
  readonly #seconds: Choice<number>;
  readonly #rounds: Choice<number>;
  readonly #start: HTMLButtonElement;
  readonly #status = h('p', { class: 'status', role: 'status' });
  readonly #progress = h('progress', { max: 1, value: 0, 'aria-label': 'Progress' });
  readonly #table = h('div', { class: 'scroll' });
  readonly #charts: readonly Chart[];
  readonly #saves: readonly HTMLButtonElement[];
  #results: Results;
  #running = false;
  #ended: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(name: Shown) {
    this.#name = name;
    const settings = new Settings(TITLES[name].toLowerCase());
    this.#seconds = settings.slider('seconds', 'each run', [0.1, 0.2, 0.5, 1, 2], 0.5, (s) => `${s} s`);
    this.#rounds = settings.slider('rounds', 'rounds', [1, 3, 5, 7], 3, String);
    this.#rows = BENCHMARKS[name].rows.filter((row) => row.kind === 'script');
    this.#results = this.#nothing();
    const tick = (text: string, checked: boolean, swatch?: string): [HTMLElement, HTMLInputElement] => {
      const input = h('input', { type: 'checkbox' });
      input.checked = checked;
      const mark = swatch && h('span', { class: 'swatch', style: `background: ${swatch}` });
      return [h('label', { class: 'tick' }, input, mark, text), input];
    };
    const rows = this.#rows.map(({ name: row }) => [row, ...tick(row, USUAL[name].includes(row))] as const);
    const counts = THREADS.map((n) => [n, ...tick(String(n), USUAL_THREADS.includes(n))] as const);
    this.#ticks = new Map(rows.map(([row, , input]) => [row, input]));
    this.#counts = new Map(counts.map(([n, , input]) => [n, input]));
    settings.ticks('rows', this.#ticks);
    settings.ticks('threads', new Map(counts.map(([n, , input]) => [String(n), input])));
    this.#start = button('Run', () => (this.#running ? this.stop() : void this.#go()), 'primary');
    this.#charts = [
      new Chart('Longest wait', () => this.#wait(), 'of any thread, for one turn; less is better'),
      new Chart('Largest bypass', () => this.#bypass(), 'how often one waiter was overtaken; less is better'),
      new Chart('Throughput', () => this.#throughput(), 'iterations a second, all threads together'),
      new Chart('Fairness', () => this.#fairness(), 'min/max of the threads’ iterations: 1 is even, 0 starved'),
    ];
    const file = (type: string): string => `${TITLES[name]}.${type}`;
    this.#saves = [
      button('JSON', () => download(file('json'), 'application/json', this.json), 'save'),
      ...(['longest wait', 'largest bypass', 'throughput', 'fairness'] as const).map((figure, i) =>
        button(`SVG of ${figure}`, () => this.#save(i, `${TITLES[name]}-${figure.replace(' ', '-')}.svg`), 'save'),
      ),
    ];
    this.element = h(
      'article',
      { class: 'bench', 'data-bench': name },
      h('h3', { class: 'divide', id: TITLES[name].toLowerCase() }, TITLES[name]),
      h(
        'p',
        { class: 'lead' },
        `Each iteration: ${ABOUT[name]}. Medians of the rounds. At first with ${USUAL_THREADS.slice(0, -1).join(', ')} and ${USUAL_THREADS.at(-1)} threads, on the ${navigator.hardwareConcurrency} processors of this machine.`,
      ),
      h('div', { class: 'controls' }, this.#start, this.#seconds.element, this.#rounds.element),
      h(
        'details',
        { class: 'choices' },
        h('summary', {}, 'Rows and threads'),
        h(
          'fieldset',
          {},
          h('legend', {}, 'Threads'),
          counts.map(([, label]) => label),
        ),
        h(
          'fieldset',
          {},
          h('legend', {}, 'Rows'),
          rows.map(([, label]) => label),
        ),
      ),
      this.#progress,
      this.#status,
      h(
        'div',
        { class: 'pair' },
        this.#charts.map(({ element }) => element),
      ),
      this.#table,
      h(
        'div',
        { class: 'controls saves' },
        h('span', {}, 'Download'),
        h('div', { class: 'group' }, this.#saves),
        settings.permalink(),
      ),
    );
    this.#draw();
    this.#tabulate();
  }

  #save(chart: number, file: string): void {
    const svg = this.#charts[chart]?.svg;
    if (svg !== undefined) download(file, 'image/svg+xml', svg);
  }

  /** The results as the command line writes them. */
  get json(): string {
    return `${JSON.stringify(this.#results, null, 2)}\n`;
  }

  #nothing(rows: readonly ScriptRow[] = [], options: Record<string, unknown> = {}): Results {
    return {
      benchmark: this.#name,
      environment: {
        date: new Date().toISOString(),
        browser: navigator.userAgent,
        processors: navigator.hardwareConcurrency,
      },
      options,
      rows: rows.map(({ name, family, lock }) => ({ name, family, ...(lock === undefined ? {} : { lock }) })),
      runs: [],
      probes: [],
      pairs: [],
      asyncs: [],
      releases: [],
      skipped: [],
    };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#start.disabled = true;
    await this.#ended;
  }

  async #go(): Promise<void> {
    const rows = this.#rows.filter(({ name }) => this.#ticks.get(name)?.checked);
    const threads = THREADS.filter((n) => this.#counts.get(n)?.checked);
    if (rows.length === 0 || threads.length === 0) {
      put(this.#status, 'Choose at least one row and one number of threads.');
      return;
    }
    await begin(this);
    const seconds = this.#seconds.value;
    const rounds = this.#rounds.value;
    this.#results = this.#nothing(rows, { threads, seconds, runs: rounds });
    this.#draw();
    this.#running = true;
    this.#stopped = false;
    put(this.#start, 'Stop');
    this.#ended = this.#runAll(rows, threads, seconds, rounds).finally(() => {
      this.#running = false;
      this.#start.disabled = false;
      put(this.#start, 'Run');
      end(this);
      this.#tabulate();
    });
    await this.#ended;
  }

  async #runAll(
    rows: readonly ScriptRow[],
    threads: readonly number[],
    seconds: number,
    rounds: number,
  ): Promise<void> {
    const { runs, probes, skipped } = this.#results;
    const all = rows.length * threads.length * rounds;
    const broken = new Set<string>();
    let ended = 0;
    const { runRow } = await import('./run.js');
    for (let round = 1; round <= rounds; round++) {
      for (const of of threads) {
        for (const row of rows) {
          if (this.#stopped) {
            put(this.#status, `Stopped after ${counted(ended, 'run')} of ${all}.`);
            return;
          }
          this.#progress.value = ended++ / all;
          if (broken.has(row.name)) continue;
          put(this.#status, `${row.name}, ${counted(of, 'thread')} (${ended} of ${all})`);
          const options = { benchmark: this.#name, seconds, warmUp: WARM_MS + of * WARM_EACH_MS };
          let crew: Crew | undefined;
          try {
            crew = await Crew.hire(of);
            const run = await runRow(crew, row, { ...options, loop: 'measure' });
            const { iterations } = run;
            // A browser does not report the processor time of a page.
            const cpuSeconds = Number.NaN;
            runs.push({ row: row.name, threads: of, round, seconds: run.seconds, cpuSeconds, iterations });
            const probe = await runRow(crew, row, { ...options, loop: 'probe' });
            const { longestWaitMs, largestBypass, bypasses, admissions, outOfOrder } = probe;
            probes.push({
              row: row.name,
              threads: of,
              longestWaitMs,
              largestBypass,
              bypasses,
              admissions,
              ...(outOfOrder === undefined ? {} : { outOfOrder }),
            });
          } catch (error) {
            // A row that fails now would fail the next time, too.
            broken.add(row.name);
            skipped.push({
              row: row.name,
              at: `${counted(of, 'thread')}, run ${round}`,
              why: error instanceof Error ? error.message : String(error),
            });
          } finally {
            crew?.dismiss();
          }
          this.#draw();
          this.#tabulate();
          await drawn();
        }
      }
    }
    this.#progress.value = 1;
    const left =
      skipped.length === 0
        ? ''
        : ` Left out: ${skipped.map(({ row, at, why }) => `${row}, ${at}: ${why}`).join('; ')}.`;
    put(this.#status, `${counted(all, 'run')}, done.${left}`);
  }

  #colours(): { domain: string[]; range: string[] } {
    const domain = this.#results.rows.map(({ name }) => name);
    return { domain, range: domain.map((_, i) => colour(i)) };
  }

  #lines(label: string, y: (cell: Cell) => number, scale: Plot.ScaleOptions): Plot.PlotOptions {
    const data = cells(this.#results);
    const threads = (this.#results.options.threads as number[] | undefined) ?? USUAL_THREADS;
    return {
      ariaLabel: label,
      marginTop: 16,
      marginBottom: 38,
      x: { type: 'point', domain: threads, label: 'threads', padding: 0.25 },
      y: { grid: true, label: null, ...scale },
      color: { ...this.#colours(), legend: data.length > 0 },
      marks: [
        data.length > 0
          ? null
          : Plot.text(['no runs yet'], { frameAnchor: 'middle', fill: 'var(--soft)', fontSize: 13 }),
        Plot.lineY(data, { x: 'threads', y, z: 'row', stroke: 'row', strokeWidth: 2 }),
        Plot.dot(data, {
          x: 'threads',
          y,
          fill: 'row',
          r: 4,
          tip: true,
          title: (cell: Cell) =>
            `${cell.row}\n${counted(cell.threads, 'thread')}\n${count(cell.throughput.median)} a second\nfairness ${cell.fairness.median.toFixed(2)}`,
        }),
      ],
    };
  }

  #waits(cell: Cell): Waits | undefined {
    const probes = this.#results.probes.filter(({ row, threads }) => row === cell.row && threads === cell.threads);
    if (probes.length === 0) return undefined;
    const overtaken = probes.map(({ bypasses }) => 1 - (bypasses[0] ?? 0) / Math.max(1, total(bypasses)));
    return {
      longest: median(probes.map(({ longestWaitMs }) => longestWaitMs)),
      bypass: median(probes.map(({ largestBypass }) => largestBypass)),
      overtaken: median(overtaken),
    };
  }

  #wait(): Plot.PlotOptions {
    const y = (cell: Cell): number => Math.max(LEAST_WAIT_MS, this.#waits(cell)?.longest ?? Number.NaN);
    const most = Math.max(100, ...cells(this.#results).map(y).filter(Number.isFinite)) * 1.3;
    return this.#lines(`${TITLES[this.#name]}: longest wait by number of threads`, y, {
      type: 'log',
      domain: [LEAST_WAIT_MS, most],
      ticks: decades(LEAST_WAIT_MS, most),
      tickFormat: duration,
    });
  }

  #bypass(): Plot.PlotOptions {
    const y = (cell: Cell): number => this.#waits(cell)?.bypass ?? Number.NaN;
    const most = Math.max(1000, ...cells(this.#results).map(y).filter(Number.isFinite)) * 1.5;
    return this.#lines(`${TITLES[this.#name]}: largest bypass by number of threads`, y, {
      // 0 is the figure of a fair row, and a logarithmic axis has no place for 0.
      type: 'symlog',
      domain: [0, most],
      ticks: [0, ...decades(1, most)],
      tickFormat: count,
    });
  }

  #throughput(): Plot.PlotOptions {
    const most = Math.max(1e6, ...cells(this.#results).map(({ throughput }) => throughput.median));
    const least = Math.min(1e5, ...cells(this.#results).map(({ throughput }) => throughput.median));
    return this.#lines(
      `${TITLES[this.#name]}: throughput by number of threads`,
      ({ throughput }) => throughput.median,
      {
        type: 'log',
        domain: [least * 0.8, most * 1.2],
        ticks: decades(least * 0.8, most * 1.2),
        tickFormat: (n: number) => count(n),
      },
    );
  }

  #fairness(): Plot.PlotOptions {
    return this.#lines(`${TITLES[this.#name]}: fairness by number of threads`, ({ fairness }) => fairness.median, {
      domain: [0, 1.02],
      ticks: [0, 0.25, 0.5, 0.75, 1],
      tickFormat: String,
    });
  }

  #draw(): void {
    for (const chart of this.#charts) chart.draw();
  }

  #tabulate(): void {
    const all = cells(this.#results);
    const most = Math.max(0, ...all.map(({ threads }) => threads));
    const at = all.filter(({ threads }) => threads === most);
    for (const save of this.#saves) save.disabled = all.length === 0;
    this.#table.hidden = at.length === 0;
    const { range } = this.#colours();
    this.#table.replaceChildren(
      h(
        'table',
        { class: 'results', role: 'table' },
        h('caption', {}, `At ${counted(most, 'thread')}`),
        h(
          'thead',
          { role: 'rowgroup' },
          h(
            'tr',
            { role: 'row' },
            HEADS.map((text) => h('th', { scope: 'col', role: 'columnheader' }, text)),
          ),
        ),
        h(
          'tbody',
          { role: 'rowgroup' },
          at.map((cell) => {
            const waits = this.#waits(cell);
            const swatch = range[this.#results.rows.findIndex(({ name }) => name === cell.row)];
            const figures = [
              waits ? duration(waits.longest) : '–',
              waits ? count(waits.bypass) : '–',
              waits ? share(waits.overtaken) : '–',
              count(cell.throughput.median),
              cell.fairness.median.toFixed(2),
            ];
            // On a phone the style makes a block of each row. The roles and labels keep the meaning of a table there.
            return h(
              'tr',
              { 'data-row': cell.row, role: 'row' },
              h(
                'th',
                { scope: 'row', role: 'rowheader' },
                h('span', { class: 'swatch', style: `background: ${swatch}` }),
                cell.row,
              ),
              figures.map((text, i) => h('td', { role: 'cell', 'data-label': HEADS[i + 1] }, text)),
            );
          }),
        ),
      ),
    );
  }
}
