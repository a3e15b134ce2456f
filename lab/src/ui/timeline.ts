/**
 * A chart of the last ten seconds, drawn several times a second. Plot draws the axes and the legend. Plot draws them
 * again only if the range of the values or the width of the chart changes. Otherwise only the lines' paths change.
 */
import { Chart, type Plot } from './chart.js';

const WINDOW_MS = 10_000;
/** A line has a gap where the page did not look for this long. */
const GAP_MS = 1500;

interface Series {
  readonly name: string;
  readonly colour: string;
  /** Whether the area below the line is filled. */
  readonly area?: boolean;
}

interface Point {
  readonly time: number;
  readonly value: number;
}

/** The range of the vertical axis. */
interface Range {
  readonly least: number;
  readonly most: number;
  readonly scale: Plot.ScaleOptions;
}

interface Line {
  readonly points: Point[];
  readonly line: SVGPathElement;
  readonly area: SVGPathElement | undefined;
}

export class Timeline {
  readonly element: HTMLElement;
  readonly #lines: readonly Line[];
  readonly #range: (most: number) => Range;
  readonly #chart: Chart;
  #shown: Range;
  #place: { x: (seconds: number) => number; y: (value: number) => number } | undefined;
  #now = 0;

  /** `range` returns the axis for the greatest value. The fewer different axes it returns, the less is drawn. */
  constructor(title: string, label: string, note: string, series: readonly Series[], range: (most: number) => Range) {
    this.#range = range;
    this.#shown = range(0);
    this.#lines = series.map(({ colour, area }) => ({
      points: [],
      line: path({ fill: 'none', stroke: colour, 'stroke-width': 1.7, 'stroke-linejoin': 'round' }),
      area: area ? path({ fill: colour, 'fill-opacity': 0.12 }) : undefined,
    }));
    this.#chart = new Chart(
      title,
      () => ({
        ariaLabel: `${label}, over the last ten seconds`,
        marginBottom: 34,
        color: {
          domain: series.map(({ name }) => name),
          range: series.map(({ colour }) => colour),
          legend: true,
        },
        x: { domain: [-WINDOW_MS / 1000, 0], label: 'seconds ago', tickFormat: (x: number) => `${-x}` },
        y: { label: null, grid: true, ...this.#shown.scale, domain: [this.#shown.least, this.#shown.most] },
        marks: [],
      }),
      note,
      (plot, svg) => {
        const [x, y] = [plot.scale('x'), plot.scale('y')];
        if (x === undefined || y === undefined) return;
        this.#place = { x: x.apply, y: y.apply };
        svg.append(...this.#lines.flatMap(({ line, area }) => (area ? [area, line] : [line])));
        this.#trace();
      },
    );
    this.element = this.#chart.element;
    this.#chart.draw();
  }

  clear(): void {
    for (const { points } of this.#lines) points.length = 0;
  }

  /** Adds a point to the series with this number. */
  add(series: number, time: number, value: number): void {
    this.#lines[series]?.points.push({ time, value });
  }

  draw(now: number): void {
    this.#now = now;
    let most = 0;
    for (const { points } of this.#lines) {
      while ((points[0]?.time ?? now) < now - WINDOW_MS) points.shift();
      for (const { value } of points) most = Math.max(most, value);
    }
    const range = this.#range(most);
    if (range.most === this.#shown.most) {
      this.#trace();
      return;
    }
    this.#shown = range;
    this.#chart.draw();
  }

  #trace(): void {
    const { least } = this.#shown;
    const place = this.#place;
    if (place === undefined) return;
    for (const { points, line, area } of this.#lines) {
      const runs: string[][] = [];
      let before = Number.NEGATIVE_INFINITY;
      for (const { time, value } of points) {
        if (time - before > GAP_MS) runs.push([]);
        before = time;
        const [x, y] = [place.x((time - this.#now) / 1000), place.y(Math.max(least, value))];
        runs.at(-1)?.push(`${x.toFixed(1)},${y.toFixed(1)}`);
      }
      put(line, runs.map((run) => `M${run.join('L')}`).join(''));
      if (area === undefined) continue;
      const floor = place.y(least).toFixed(1);
      const foot = (point: string | undefined): string => `${point?.split(',')[0]},${floor}`;
      put(area, runs.map((run) => `M${foot(run[0])}L${run.join('L')}L${foot(run.at(-1))}Z`).join(''));
    }
  }
}

function path(attributes: Record<string, string | number>): SVGPathElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

function put(element: SVGPathElement, d: string): void {
  if (element.getAttribute('d') !== d) element.setAttribute('d', d);
}
