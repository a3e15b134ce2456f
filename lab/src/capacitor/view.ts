/** The capacitor: the sawtooth of its platoons, and throughput against fairness as B is dragged. */
import { scriptRow } from '@taketurns/bench/dist/benchmarks.js';
import { TRACED, tracedRow, withLimit } from '@taketurns/bench/dist/rows/locks.js';
import type { Trace } from '@taketurns/bench/dist/rows/platoon.js';
import { fairness, median, total } from '@taketurns/bench/dist/statistics.js';
import { type RunOptions, runRow } from '../bench/run.js';
import { Crew } from '../crew/crew.js';
import { begin, end } from '../experiment.js';
import { Chart, decades, drawn, Plot } from '../ui/chart.js';
import { button, byId, download, h, put } from '../ui/dom.js';
import { count, duration, whole } from '../ui/format.js';
import { Settings } from '../ui/settings.js';

const LIMITS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024];
const SWEEP = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const USUAL = 5;
/** The point of a B is the median of its latest rounds, at most this many. */
const KEPT = 5;
const SECONDS = { trace: 0.06, measure: 0.2, probe: 0.12 };
const WARM_MS = 30;
/** The sawtooth shows at least this many events, and at least this many platoons. */
const [LEAST_EVENTS, PLATOONS] = [60, 5];

interface Sample {
  readonly throughput: number;
  readonly fairness: number;
  readonly wait: number;
  readonly bypass: number;
}

interface Point extends Sample {
  /** 0 means that there is no capacitor. */
  readonly limit: number;
}

type Axis = 'bypass' | 'evenness' | 'wait';

const AXES: Record<Axis, { label: string; scale: Plot.ScaleOptions }> = {
  bypass: {
    label: 'largest bypass, plus 1',
    scale: { type: 'log', tickFormat: count, reverse: true },
  },
  evenness: {
    label: 'min/max: iterations of the slowest thread over those of the quickest',
    scale: { domain: [0, 1], ticks: 5 },
  },
  wait: {
    label: 'longest wait',
    scale: { type: 'log', tickFormat: duration, reverse: true },
  },
};

/** Returns the powers of ten between the least and the most of the values. */
function within(values: readonly number[]): number[] {
  return decades(Math.min(...values), Math.max(...values));
}

export function capacitor(): void {
  const experiment = { stop };
  const samples = new Map<number, Sample[]>();
  const crews = new Map<string, Crew>();
  let trace: (Trace & { limit: number }) | undefined;
  let running: Promise<void> | undefined;
  let stopped = false;
  let queue: number[] = [];

  const figure = (name: string): HTMLElement => h('dd', { 'data-figure': name }, '–');
  const figures = {
    bound: figure('bound'),
    bypass: figure('bypass'),
    throughput: figure('throughput'),
    fairness: figure('fairness'),
    wait: figure('wait'),
  };
  const settings = new Settings('capacitor');
  const limit = settings.slider('b', 'B, the size of a platoon', LIMITS, USUAL, String, () => {
    queue = [];
    teeth.draw();
    show();
  });
  limit.element.classList.add('wide');
  const threads = settings.slider('threads', 'threads', [2, 3, 4, 6, 8, 12], 8, String, async () => {
    samples.clear();
    const again = running !== undefined;
    await stop();
    teeth.draw();
    show();
    if (again) await go();
  });
  const axis = settings.select(
    'fairness',
    'fairness is',
    [
      ['bypass', 'the largest bypass'],
      ['evenness', 'evenness: min/max'],
      ['wait', 'the longest wait'],
    ] as const,
    show,
  );
  const start = button('Start', () => (running === undefined ? go() : stop()), 'primary');
  const sweep = button('Sweep all B', () => {
    queue = [...SWEEP];
    if (running === undefined) go();
  });
  const status = h('p', { class: 'status', role: 'status' });

  const teeth = new Chart(
    'Platoons',
    sawtooth,
    'threads that the capacitor has let in and that have not left, event by event',
  );
  const trade = new Chart('Throughput against fairness', tradeOff, 'each point one B; up is quicker, right is fairer');

  function sawtooth(): Plot.PlotOptions {
    const b = trace?.limit ?? limit.value;
    const events = Math.max(LEAST_EVENTS, 2 * b * PLATOONS);
    const shown = (trace?.inside ?? []).slice(-events);
    const data = shown.map((inside, event) => ({ inside, event }));
    const top = Math.min(b, threads.value);
    return {
      ariaLabel: `Threads inside a capacitor with B = ${b}`,
      marginBottom: 36,
      x: { label: 'arrivals and departures', domain: [0, Math.max(data.length - 1, LEAST_EVENTS - 1)] },
      y: {
        domain: [0, top],
        ticks: Array.from({ length: top + 1 }, (_, i) => i),
        tickFormat: String,
        label: null,
        grid: true,
      },
      marks: [
        data.length > 0
          ? null
          : Plot.text(['no run yet'], { frameAnchor: 'middle', fill: 'var(--soft)', fontSize: 13 }),
        Plot.areaY(data, {
          x: 'event',
          y1: 0,
          y2: 'inside',
          curve: 'step-after',
          fill: 'var(--ours)',
          fillOpacity: 0.22,
        }),
        Plot.lineY(data, {
          x: 'event',
          y: 'inside',
          z: null,
          curve: 'step-after',
          stroke: 'var(--ours)',
          strokeWidth: 1.5,
        }),
      ],
    };
  }

  function points(): Point[] {
    return [...samples]
      .map(([of, all]) => {
        const middle = (value: (sample: Sample) => number): number => median(all.map(value));
        return {
          limit: of,
          throughput: middle((s) => s.throughput),
          fairness: middle((s) => s.fairness),
          wait: middle((s) => s.wait),
          bypass: Math.max(...all.map((s) => s.bypass)),
        };
      })
      .sort((a, b) => a.limit - b.limit);
  }

  function tradeOff(narrow: boolean): Plot.PlotOptions {
    const all = points();
    const bounded = all.filter((point) => point.limit > 0);
    const bare = all.filter((point) => point.limit === 0);
    const now = all.filter((point) => point.limit === limit.value);
    const { label, scale } = AXES[axis.value];
    const x = (point: Point): number =>
      ({ bypass: point.bypass + 1, wait: Math.max(point.wait, 1e-3), evenness: point.fairness })[axis.value];
    const y = 'throughput';
    const name = ({ limit: of }: Point): string => (of === 0 ? `bare ${TRACED}` : `B ${of}`);
    // On a narrow chart, only every third point has a name.
    const named = all.filter((point, i) => !narrow || i % 3 === 0 || point.limit === limit.value);
    return {
      ariaLabel: `Throughput against ${label}, for each B measured`,
      marginTop: 22,
      marginBottom: 40,
      x: {
        label,
        labelArrow: 'none',
        grid: true,
        ...(scale.type === 'log' ? { ticks: within(all.map(x)) } : {}),
        ...scale,
      },
      y: {
        type: 'log',
        label: null,
        grid: true,
        tickFormat: count,
        ticks: within(all.map((point) => point.throughput)),
      },
      marks: [
        all.length > 0
          ? null
          : Plot.text(['no runs yet'], { frameAnchor: 'middle', fill: 'var(--soft)', fontSize: 13 }),
        Plot.line(bounded, { x, y, stroke: 'var(--ours)', strokeOpacity: 0.35, strokeWidth: 2, z: null }),
        Plot.dot(bounded, { x, y, fill: 'var(--ours)', r: 4 }),
        Plot.dot(bare, { x, y, fill: 'var(--barging)', symbol: 'diamond', r: 6 }),
        Plot.dot(now, { x, y, stroke: 'var(--ink)', strokeWidth: 2, r: 8 }),
        Plot.text(named, {
          x,
          y,
          text: name,
          dy: -14,
          fontSize: 11,
          fill: 'var(--ink)',
          stroke: 'var(--surface)',
          strokeWidth: 4,
        }),
      ],
    };
  }

  function show(): void {
    const b = limit.value;
    const at = points().find((point) => point.limit === b);
    put(figures.bound, whole(b - 1));
    put(figures.bypass, at === undefined ? '–' : whole(at.bypass));
    figures.bypass.dataset.value = at === undefined ? '' : String(at.bypass);
    put(figures.throughput, at === undefined ? '–' : `${count(at.throughput)}/s`);
    put(figures.fairness, at === undefined ? '–' : at.fairness.toFixed(2));
    put(figures.wait, at === undefined ? '–' : duration(at.wait));
    trade.draw();
  }

  /** Returns a crew that uses only one class of locks, so that its loop is compiled for this class alone. */
  async function crew(kind: string): Promise<Crew> {
    let known = crews.get(kind);
    if (known === undefined) {
      known = await Crew.hire(threads.value);
      crews.set(kind, known);
    }
    return known;
  }

  async function sample(of: number): Promise<void> {
    const row = of === 0 ? scriptRow('locks', TRACED) : withLimit(TRACED, of, []);
    if (row.kind !== 'script') return;
    const who = await crew(of === 0 ? 'bare' : 'bounded');
    const common: Omit<RunOptions, 'loop' | 'seconds'> = {
      benchmark: 'locks',
      warmUp: WARM_MS,
      byTicket: of > 0,
    };
    const run = await runRow(who, row, { ...common, loop: 'measure', seconds: SECONDS.measure });
    const probe = await runRow(who, row, { ...common, loop: 'probe', seconds: SECONDS.probe });
    const list = samples.get(of) ?? [];
    list.push({
      throughput: total(run.iterations) / run.seconds,
      fairness: fairness(run.iterations),
      wait: probe.longestWaitMs,
      bypass: probe.largestBypass,
    });
    samples.set(of, list.slice(-KEPT));
  }

  async function rounds(): Promise<void> {
    await sample(0);
    show();
    while (!stopped) {
      const of = queue.shift() ?? limit.value;
      const left = queue.length > 0 ? `, ${queue.length} more to come` : '';
      put(status, `Measuring with B = ${of}${left}.`);
      const traced = await runRow(await crew('traced'), tracedRow(of), {
        benchmark: 'locks',
        loop: 'measure',
        seconds: SECONDS.trace,
        warmUp: WARM_MS,
      });
      if (traced.trace !== undefined) trace = { ...traced.trace, limit: of };
      teeth.draw();
      await drawn();
      if (stopped) break;
      await sample(of);
      show();
      await drawn();
    }
  }

  async function go(): Promise<void> {
    if (running !== undefined) return;
    await begin(experiment);
    stopped = false;
    put(start, 'Stop');
    running = rounds()
      .then(() => put(status, ''))
      .catch((error) => put(status, String(error)))
      .finally(() => {
        for (const one of crews.values()) one.dismiss();
        crews.clear();
        running = undefined;
        start.disabled = false;
        put(start, 'Start');
        end(experiment);
      });
  }

  async function stop(): Promise<void> {
    if (running === undefined) return;
    stopped = true;
    queue = [];
    start.disabled = true;
    await running;
  }

  const save = (chart: Chart, name: string): HTMLElement =>
    button(
      `SVG of ${name}`,
      () => {
        if (chart.svg !== undefined) download(`capacitor-${name.replace(/\W+/g, '-')}.svg`, 'image/svg+xml', chart.svg);
      },
      'save',
    );
  byId('capacitor-lab').append(
    h('div', { class: 'controls' }, start, limit.element, threads.element, axis.element, sweep),
    status,
    h(
      'div',
      { class: 'panel' },
      h(
        'dl',
        { class: 'figures words' },
        (
          [
            ['bound: B − 1', figures.bound],
            ['largest bypass seen', figures.bypass],
            ['throughput', figures.throughput],
            ['fairness (min/max)', figures.fairness],
            ['longest wait', figures.wait],
          ] as const
        ).map(([term, value]) => h('div', {}, h('dt', {}, term), value)),
      ),
    ),
    teeth.element,
    trade.element,
    h(
      'div',
      { class: 'controls saves' },
      h('span', {}, 'Download'),
      h(
        'div',
        { class: 'group' },
        button(
          'JSON',
          () =>
            download(
              'capacitor.json',
              'application/json',
              `${JSON.stringify({ lock: TRACED, threads: threads.value, points: points(), trace }, null, 2)}\n`,
            ),
          'save',
        ),
        save(teeth, 'the platoons'),
        save(trade, 'the trade-off'),
      ),
      settings.permalink(),
    ),
  );
  teeth.draw();
  show();
}
