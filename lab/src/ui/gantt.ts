/**
 * What threads did in the last seconds. Each thread has a row, time runs to the right, and each state has a colour.
 * From one drawing to the next only the paths change.
 */
import { h } from './dom.js';

export interface Band {
  readonly state: number;
  /** The CSS class of the state. */
  readonly kind: string;
}

interface Piece {
  readonly state: number;
  readonly from: number;
  /** Undefined for a state that goes on. */
  readonly to: number | undefined;
}

interface Row {
  readonly element: HTMLElement;
  readonly paths: readonly { readonly state: number; readonly path: SVGPathElement }[];
}

const SVG = 'http://www.w3.org/2000/svg';

export class Gantt {
  readonly element: HTMLElement;
  readonly windowMs: number;
  readonly #bands: readonly Band[];
  readonly #body = h('div', { class: 'gantt' });
  #rows: readonly Row[] = [];

  constructor(title: string, label: string, windowMs: number, bands: readonly Band[]) {
    this.windowMs = windowMs;
    this.#bands = bands;
    this.element = h(
      'figure',
      { class: 'chart' },
      h('figcaption', {}, h('strong', {}, title), h('span', {}, `the last ${windowMs / 1000} seconds`)),
      this.#body,
    );
    this.#body.setAttribute('role', 'img');
    this.#body.setAttribute('aria-label', label);
  }

  /** Begins anew with these rows. Each has a name and a CSS class. */
  lay(rows: readonly (readonly [name: string, kind: string])[]): void {
    this.#rows = rows.map(([name, kind]) => {
      const svg = document.createElementNS(SVG, 'svg');
      svg.setAttribute('viewBox', `0 0 ${this.windowMs} 10`);
      svg.setAttribute('preserveAspectRatio', 'none');
      const paths = this.#bands.map(({ state, kind }) => {
        const path = document.createElementNS(SVG, 'path');
        path.setAttribute('class', kind);
        svg.append(path);
        return { state, path };
      });
      return { element: h('div', { class: `gantt-row ${kind}` }, h('span', {}, name), svg), paths };
    });
    this.#body.replaceChildren(...this.#rows.map(({ element }) => element));
  }

  draw(now: number, piecesOf: (row: number) => readonly Piece[]): void {
    const start = now - this.windowMs;
    for (const [row, { paths }] of this.#rows.entries()) {
      const pieces = piecesOf(row);
      for (const { state, path } of paths) {
        const d = pieces
          .filter((piece) => piece.state === state)
          .map(({ from, to }) => {
            const [left, right] = [Math.max(0, from - start), Math.min(this.windowMs, (to ?? now) - start)];
            return left < right ? `M${left.toFixed(1)} 0H${right.toFixed(1)}V10H${left.toFixed(1)}Z` : '';
          })
          .join('');
        if (path.getAttribute('d') !== d) path.setAttribute('d', d);
      }
    }
  }
}
