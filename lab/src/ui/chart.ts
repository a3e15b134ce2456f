/**
 * Charts by Observable Plot, as SVG. Their colours are CSS variables of the page, so the charts follow the theme. A
 * chart that is saved gets the values that the variables have when it is saved.
 */
import * as Plot from '@observablehq/plot';
import { h } from './dom.js';
import { watchScreen } from './frames.js';

export { Plot };

/** Returns the powers of ten within a domain. Plot draws all ticks that it is given, even outside of the domain. */
export function decades(from: number, to: number): number[] {
  return Array.from({ length: 16 }, (_, i) => 10 ** (i - 4)).filter((n) => n >= from && n <= to);
}

/** Returns the page's colour of the series with this number. */
export function colour(i: number): string {
  return `var(--c${(i % 8) + 1})`;
}

const PATIENCE_MS = 500;
const HEIGHT = 260;
/** The height of the legend's row in a file. */
const LEGEND = 28;
const FONT = 'system-ui, sans-serif';

/** The charts that are to be drawn. Each frame draws only one, since a drawing takes half a frame. */
const due = new Set<() => void>();

function drawOne(): void {
  const [draw] = due;
  if (draw === undefined) return;
  due.delete(draw);
  if (due.size > 0) requestAnimationFrame(drawOne);
  draw();
}

/** Resolves when all these charts are drawn. Workers that fill the processors afterwards then delay no chart. */
export async function drawn(): Promise<void> {
  const frame = (): Promise<void> =>
    new Promise((resolve) => {
      // A hidden page has no frames.
      const patience = setTimeout(resolve, PATIENCE_MS);
      requestAnimationFrame(() => {
        clearTimeout(patience);
        // This runs after the frame has been painted.
        setTimeout(resolve);
      });
    });
  do await frame();
  while (due.size > 0 && !document.hidden);
}

type Drawn = (plot: ReturnType<typeof Plot.plot>, svg: SVGSVGElement) => void;

export class Chart {
  readonly element: HTMLElement;
  readonly #plot = h('div', { class: 'plot' });
  readonly #options: (narrow: boolean) => Plot.PlotOptions;
  readonly #drawn: Drawn | undefined;
  #width = 0;
  #isSeen = false;
  /** Whether the drawing is out of date. */
  #isStale = false;

  /**
   * The chart calls `options` whenever it is drawn: on `draw`, and when its place gets another width. `drawn` may add
   * to the drawing.
   */
  constructor(title: string, options: (narrow: boolean) => Plot.PlotOptions, note = '', drawn?: Drawn) {
    this.#options = options;
    this.#drawn = drawn;
    this.element = h(
      'figure',
      { class: 'chart' },
      h('figcaption', {}, h('strong', {}, title), note && h('span', {}, note)),
      this.#plot,
    );
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry?.contentRect.width ?? 0);
      if (width === this.#width || width === 0) return;
      this.#width = width;
      this.draw();
    }).observe(this.#plot);
    watchScreen(this.element, (isSeen) => {
      this.#isSeen = isSeen;
      if (this.#isStale) this.draw();
    });
  }

  /**
   * Draws the chart in a coming frame, once for several calls. A chart off the screen is drawn when it comes onto the
   * screen.
   */
  draw(): void {
    this.#isStale = true;
    if (!this.#isSeen) return;
    if (due.size === 0) requestAnimationFrame(drawOne);
    due.add(this.#draw);
  }

  readonly #draw = (): void => {
    if (!this.#isStale || this.#width === 0) return;
    this.#isStale = false;
    const narrow = this.#width < 480;
    const plot = Plot.plot({
      width: this.#width,
      height: narrow ? HEIGHT * 0.85 : HEIGHT,
      marginLeft: 58,
      marginRight: 14,
      style: { background: 'none', fontFamily: FONT, fontSize: '12px', overflow: 'visible' },
      ...this.#options(narrow),
    });
    this.#plot.replaceChildren(plot);
    const svg = this.#svg;
    if (svg !== undefined) this.#drawn?.(plot, svg);
  };

  get #svg(): SVGSVGElement | undefined {
    const svg = this.#plot.querySelector(':scope > svg, :scope > figure > svg');
    return svg instanceof SVGSVGElement ? svg : undefined;
  }

  /** The text of an SVG file with the chart and its legend; undefined if nothing has been drawn. */
  get svg(): string | undefined {
    this.#draw();
    const svg = this.#svg;
    if (svg === undefined) return undefined;
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const [originals, copies] = [svg.querySelectorAll('*'), copy.querySelectorAll('*')];
    for (const [i, original] of originals.entries()) {
      const style = getComputedStyle(original);
      for (const name of ['fill', 'stroke'] as const) {
        if (/var\(|currentColor/.test(original.getAttribute(name) ?? '')) copies[i]?.setAttribute(name, style[name]);
      }
    }
    const { width, height } = svg.viewBox.baseVal;
    const labels = this.#legend();
    const above = labels.length > 0 ? LEGEND : 0;
    copy.append(...labels);
    const { color } = getComputedStyle(document.body);
    const background = getComputedStyle(this.element).backgroundColor;
    for (const [name, value] of Object.entries({
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 ${-above} ${width} ${height + above}`,
      height: height + above,
      'font-family': FONT,
      style: `background: ${background}; color: ${color}`,
    }))
      copy.setAttribute(name, String(value));
    return `${new XMLSerializer().serializeToString(copy)}\n`;
  }

  /** Returns the value of a colour in the present theme. A variable may hold a colour for each theme. */
  #resolve(colour: string): string {
    const probe = h('i', { hidden: true, style: `color: ${colour}` });
    this.element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }

  /** Returns the legend as a row of text above the chart. */
  #legend(): SVGElement[] {
    const { color } = this.#options(false);
    if (!color?.legend) return [];
    const range = (color.range ?? []) as string[];
    let x = 16;
    return ((color.domain ?? []) as string[]).map((name, i) => {
      const text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
      const fill = this.#resolve(range[i] ?? '');
      for (const [attribute, value] of Object.entries({
        x,
        y: -LEGEND / 2,
        fill,
        'font-size': 12,
        'font-weight': 600,
      }))
        text.setAttribute(attribute, String(value));
      text.textContent = `● ${name}`;
      x += 30 + 7 * name.length;
      return text;
    });
  }
}
