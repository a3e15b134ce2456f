/**
 * Charts by Observable Plot, as SVG. Their colours are the page's own variables, so they follow the theme; a chart
 * that is saved gets the values that the variables have at that moment.
 */
import * as Plot from '@observablehq/plot';
import { h } from './dom.js';

export { Plot };

/** The page's colours of series, by number. */
export function colour(i: number): string {
  return `var(--c${(i % 8) + 1})`;
}

const HEIGHT = 260;
const FONT = 'system-ui, sans-serif';

export class Chart {
  readonly element: HTMLElement;
  readonly #plot = h('div', { class: 'plot' });
  readonly #options: () => Plot.PlotOptions;
  #width = 0;
  #due = false;

  /** `options` is asked whenever the chart is drawn: when told to, and when its place gets another width. */
  constructor(title: string, options: () => Plot.PlotOptions, note = '') {
    this.#options = options;
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
  }

  /** Draws it in the next frame, once however often it is told to. */
  draw(): void {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      if (this.#width === 0) return;
      const narrow = this.#width < 480;
      const plot = Plot.plot({
        width: this.#width,
        height: narrow ? HEIGHT * 0.85 : HEIGHT,
        marginLeft: 58,
        marginRight: 14,
        style: { background: 'none', fontFamily: FONT, fontSize: '12px', overflow: 'visible' },
        ...this.#options(),
      });
      this.#plot.replaceChildren(plot);
    });
  }

  /** The chart as a file of its own. */
  get svg(): string | undefined {
    const svg = this.#plot.querySelector('svg:not([class*="swatch"])');
    if (!(svg instanceof SVGSVGElement)) return undefined;
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const page = getComputedStyle(document.documentElement);
    const copies = copy.querySelectorAll('*');
    for (const [i, original] of svg.querySelectorAll('*').entries()) {
      const style = getComputedStyle(original);
      for (const name of ['fill', 'stroke'] as const) {
        if (/var\(|currentColor/.test(original.getAttribute(name) ?? ''))
          copies[i]?.setAttribute(name, style[name]);
      }
    }
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('font-family', FONT);
    copy.setAttribute('style', `background: ${page.getPropertyValue('--surface')}; color: ${page.color}`);
    return `${new XMLSerializer().serializeToString(copy)}\n`;
  }
}
