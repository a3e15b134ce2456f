/** Draws the waiting array from memory: a row for each bucket, with its cells and the overflow lines behind it. */
import { h } from '../ui/dom.js';
import { CELLS, type Memory } from './memory.js';

/** At most this many overflow lines of a bucket are shown. */
const DEEPEST = 4;

/** Returns the number of the thread of an element, from 0 on. Returns undefined if the element belongs to no thread. */
export type OwnerOf = (element: number) => number | undefined;

interface Row {
  readonly row: HTMLElement;
  readonly cells: readonly HTMLElement[];
}

export class ArrayView {
  readonly element = h('div', { class: 'array' });
  readonly #rows: Row[] = [];
  readonly #shown: number;

  /** A row shows at most `shown` of its cells. */
  constructor(shown = CELLS) {
    this.#shown = shown;
  }

  show(memory: Memory, ownerOf: OwnerOf, touched = ''): void {
    let at = 0;
    for (let i = 0; i < memory.buckets; i++) {
      let depth = 0;
      for (const { name, cells } of memory.linesOf(i)) {
        this.#put(at++, depth === 0 ? `bucket ${i}` : '↳ overflow', name, cells, ownerOf, touched);
        if (++depth > DEEPEST) break;
      }
    }
    while (this.#rows.length > at) this.#rows.pop()?.row.remove();
  }

  #put(at: number, title: string, name: string, numbers: readonly number[], ownerOf: OwnerOf, touched: string): void {
    let row = this.#rows[at];
    if (row === undefined) {
      const cells = Array.from({ length: this.#shown }, () => h('span', { class: 'cell' }));
      row = { row: h('div', { class: 'bucket' }, h('span', { class: 'name' }), cells), cells };
      this.#rows[at] = row;
      this.element.append(row.row);
    }
    const label = row.row.firstElementChild as HTMLElement;
    if (label.textContent !== title) label.textContent = title;
    for (const [c, cell] of row.cells.entries()) {
      const number = numbers[c] ?? 0;
      const owner = number === 0 ? undefined : ownerOf(number - 1);
      const text = number === 0 ? '' : owner === undefined ? '×' : `e${number - 1}`;
      if (cell.textContent !== text) cell.textContent = text;
      const classes = `cell${owner === undefined ? '' : ` of t${owner % 8}`}${number !== 0 && owner === undefined ? ' taken' : ''}${touched === `${name}.cell${c}` ? ' touched' : ''}`;
      if (cell.className !== classes) cell.className = classes;
    }
  }
}
