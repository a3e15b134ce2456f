/**
 * Draws who waits for whom: threads and mutexes in turns on a circle. A line from a thread to a mutex that it holds is
 * solid, and an arrow to one for which it waits is dashed. Lines of a deadlock are red.
 */
import type { ArenaReport } from 'taketurns/report';
import { put } from '../ui/dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, RADIUS] = [420, 300, 112];

type Point = readonly [x: number, y: number];
type Line = 'holds' | 'waits' | 'stuck';

function element(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** Returns a point at such a part of the way from one point to another. */
function between([x1, y1]: Point, [x2, y2]: Point, part: number): Point {
  return [x1 + part * (x2 - x1), y1 + part * (y2 - y1)];
}

export class Graph {
  readonly svg = element('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'graph', role: 'img' });
  readonly #title = element('title', {});
  readonly #threads: readonly string[];
  readonly #mutexes: readonly string[];
  readonly #places = new Map<string, Point>();
  readonly #lines = new Map<string, SVGElement>();
  readonly #nodes = new Map<string, SVGElement>();

  /** Thread i uses the mutexes i and i + 1. */
  constructor(threads: readonly string[], mutexes: readonly string[]) {
    this.#threads = threads;
    this.#mutexes = mutexes;
    const count = threads.length + mutexes.length;
    const place = (name: string, i: number): void => {
      const angle = (2 * Math.PI * i) / count - Math.PI / 2;
      this.#places.set(name, [WIDTH / 2 + 1.4 * RADIUS * Math.cos(angle), HEIGHT / 2 + RADIUS * Math.sin(angle)]);
    };
    mutexes.forEach((name, i) => {
      place(name, 2 * i);
    });
    threads.forEach((name, i) => {
      place(name, 2 * i + 1);
    });
    const head = element('marker', { id: 'hang-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, orient: 'auto' });
    head.append(element('path', { d: 'M0 0 8 4 0 8Z', fill: 'context-stroke' }));
    this.svg.append(this.#title, head);
    for (const thread of threads)
      for (const mutex of mutexes) {
        const line = element('line', { class: 'none' });
        this.#lines.set(`${thread} ${mutex}`, line);
        this.svg.append(line);
      }
    for (const [name, [x, y]] of this.#places) {
      const isThread = threads.includes(name);
      const shape = isThread
        ? element('circle', { cx: x, cy: y, r: 22 })
        : element('rect', { x: x - 44, y: y - 17, width: 88, height: 34, rx: 6 });
      const text = element('text', { x, y: y + 5, 'text-anchor': 'middle' });
      put(text, name);
      const node = element('g', { class: isThread ? 'thread' : 'mutex', 'data-name': name });
      node.append(shape, text);
      this.#nodes.set(name, node);
      this.svg.append(node);
    }
    put(this.#title, 'Nobody holds anything.');
  }

  /** Draws what a report says of these threads and mutexes. */
  draw({ threads, deadlocks }: ArenaReport): void {
    const stuck = new Set<string>();
    for (const { edges } of deadlocks)
      for (const { thread, holds, waitsFor } of edges)
        for (const object of [holds, waitsFor]) stuck.add(`${thread.name} ${object?.name}`);
    const lines = new Map<string, Line>();
    const said: string[] = [];
    for (const { name = '', holds, waits } of threads) {
      if (!this.#threads.includes(name)) continue;
      for (const one of holds) lines.set(`${name} ${one.name}`, 'holds');
      for (const one of waits) lines.set(`${name} ${one.name}`, 'waits');
      const list = (some: readonly { readonly name: string | undefined }[]): string =>
        some.map((one) => one.name).join(' and ');
      if (holds.length > 0) said.push(`${name} holds ${list(holds)}`);
      if (waits.length > 0) said.push(`${name} waits for ${list(waits)}`);
    }
    for (const thread of this.#threads)
      for (const mutex of this.#mutexes) {
        const key = `${thread} ${mutex}`;
        this.#line(key, thread, mutex, lines.get(key), stuck.has(key));
      }
    for (const [name, node] of this.#nodes) {
      const isStuck = [...stuck].some((key) => key.split(' ').includes(name));
      node.classList.toggle('stuck', isStuck);
    }
    put(this.#title, `${said.join('; ') || 'Nobody holds anything'}.`);
  }

  #line(key: string, thread: string, mutex: string, kind: Line | undefined, isStuck: boolean): void {
    const line = this.#lines.get(key) as SVGElement;
    const shown = kind === undefined ? 'none' : isStuck ? `${kind} stuck` : kind;
    if (line.getAttribute('class') === shown) return;
    line.setAttribute('class', shown);
    const [from, to] = [this.#places.get(thread) as Point, this.#places.get(mutex) as Point];
    const [x1, y1] = between(from, to, 0.16);
    // The arrow ends before the box.
    const [x2, y2] = between(from, to, kind === 'waits' ? 0.72 : 0.9);
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value.toFixed(1));
    if (kind === 'waits') line.setAttribute('marker-end', 'url(#hang-arrow)');
    else line.removeAttribute('marker-end');
  }
}
