/**
 * Reads an arena's memory for display. The memory is that of the simulated machine or that of real threads. The offsets
 * are the constants of core/arena/words.ts.
 */
import { constant, type Regions } from '@taketurns/check/dist/scene/layout.js';

const [LINE, OBJECT, ELEMENT] = ['LINE', 'OBJECT_SIZE', 'ELEMENT_SIZE'].map(constant) as [number, number, number];
const [TICKET, GRANT] = [constant('TICKET'), constant('GRANT')];
const [B_CELLS, B_EXTENT, EXTENT_MASK] = ['B_CELLS', 'B_EXTENT', 'EXTENT_MASK'].map(constant) as [
  number,
  number,
  number,
];
/** The most overflow lines that belong to one bucket. Beyond these the bucket uses the common lines. */
const ROUNDS_MOST = 64;
const [E_STATE, E_START, E_REQUEST, E_CELLS] = ['E_STATE', 'E_START', 'E_REQUEST', 'E_CELLS'].map(constant) as [
  number,
  number,
  number,
  number,
];
const STATE_MASK = constant('STATE_MASK');
const EPOCH = constant('EPOCH');
const OBJECT_SHIFT = BigInt(constant('OBJECT_SHIFT'));
const OWNER_SHIFT = BigInt(constant('OWNER_SHIFT'));
const THREAD_MASK = constant('THREAD_MASK');

/** The number of cells of one line. */
export const CELLS = (LINE - B_CELLS) / 4;

/** What the page calls the states of an element, by their names in core/arena/words.ts. */
const STATES = {
  IDLE: 'idle',
  RESERVED: 'reserved',
  WAITING: 'waiting',
  GRANTED: 'granted',
  CLOSED: 'closed',
  ASKED: 'asked',
  AWAKE: 'awake',
  TOMBSTONE: 'cancelled',
  CLAIMED: 'claimed',
  MERGING: 'merging',
  ATTACHED: 'attached',
  BORROWED: 'borrowed',
} as const;
export type StateName = (typeof STATES)[keyof typeof STATES];
const stateNames = new Map(Object.entries(STATES).map(([name, shown]) => [constant(name), shown]));

export interface Element {
  readonly index: number;
  readonly address: number;
  readonly state: StateName;
  readonly epoch: number;
  /** The thread's number in the arena, from 1 on; 0 if the element belongs to no thread. */
  readonly thread: number;
  readonly start: number;
  readonly width: number;
  /** The address of the object that the element is for. */
  readonly object: number;
  /** The addresses of the cells that name the element. */
  readonly cells: readonly number[];
}

export interface Line {
  /** The name of the line in the steps of the simulated machine, such as `bucket3`. */
  readonly name: string;
  /** The numbers of elements, from 1 on; 0 for an empty cell. */
  readonly cells: readonly number[];
}

/** Where the regions that the page shows begin. */
type Bases = Pick<Regions, 'objects' | 'buckets' | 'lines' | 'common' | 'elements' | 'end'>;

/** Computes the bases from the sizes in an arena's header, as core/arena/arena.ts does, but backwards from the end. */
export function basesIn(words: Int32Array): Bases {
  const size = (name: string): number => words[constant(name) >> 2] as number;
  const [bucketCount, elementCount, end] = [size('H_BUCKETS'), size('H_ELEMENTS'), size('H_END')];
  const step = constant('NAME_HEADS_STEP');
  const heads = Math.ceil(Math.max(size('H_OBJECTS'), constant('NAME_HEADS_LEAST')) / step) * step;
  const rounds = Math.min(Math.max(Math.floor(elementCount / 8 / bucketCount), 1), ROUNDS_MOST);
  const elements = end - elementCount * ELEMENT;
  const common = elements - (Math.floor(elementCount / 6) + 1) * LINE;
  const lines = common - rounds * bucketCount * LINE;
  const buckets = lines - bucketCount * LINE;
  return { objects: constant('NAME_HEADS') + 8 * heads, buckets, lines, common, elements, end };
}

export class Memory {
  readonly regions: Bases;
  readonly #words: Int32Array;

  constructor(words: Int32Array, regions: Bases = basesIn(words)) {
    this.#words = words;
    this.regions = regions;
  }

  #long(address: number): bigint {
    const lo = BigInt.asUintN(32, BigInt(this.#words[address >> 2] as number));
    return (BigInt(this.#words[(address >> 2) + 1] as number) << 32n) | lo;
  }

  ticket(object: number): number {
    return Number(this.#long(object + TICKET));
  }

  grant(object: number): number {
    return Number(this.#long(object + GRANT));
  }

  /** Yields a bucket and its overflow lines. A thread that seeks an element of the bucket looks through these lines. */
  *linesOf(bucket: number): Generator<Line> {
    const { buckets, common } = this.regions;
    let line = buckets + bucket * LINE;
    const extent = (this.#words[(line + B_EXTENT) >> 2] as number) & EXTENT_MASK;
    for (let depth = 0; depth <= extent; depth++) {
      yield this.#line(line);
      line = line < common ? Math.min(line + this.buckets * LINE, common) : line + LINE;
    }
  }

  #line(address: number): Line {
    const { buckets, lines, common } = this.regions;
    const at = (address + B_CELLS) >> 2;
    const [kind, base] =
      address < lines ? ['bucket', buckets] : address < common ? ['line', lines] : ['common', common];
    return {
      name: `${kind}${(address - (base as number)) / LINE}`,
      cells: Array.from(this.#words.subarray(at, at + CELLS)),
    };
  }

  get buckets(): number {
    return (this.regions.lines - this.regions.buckets) / LINE;
  }

  /** Yields those of the first `most` elements that are not idle. */
  *elements(most = Infinity): Generator<Element> {
    const { elements, end, objects } = this.regions;
    const last = Math.min(end, elements + most * ELEMENT);
    for (let address = elements; address < last; address += ELEMENT) {
      const life = this.#words[(address + E_STATE) >> 2] as number;
      const state = stateNames.get(life & STATE_MASK) ?? 'idle';
      if (state === 'idle') continue;
      const request = this.#long(address + E_REQUEST);
      const cells = this.#long(address + E_CELLS);
      yield {
        index: (address - elements) / ELEMENT,
        address,
        state,
        epoch: Math.floor((life >>> 0) / EPOCH),
        thread: Number(request >> OWNER_SHIFT) & THREAD_MASK,
        start: Number(this.#long(address + E_START)),
        width: Number(request & 0x7fffffffn),
        object: objects + Number((request >> OBJECT_SHIFT) & 0xfffffn) * OBJECT,
        cells: [Number(cells & 0xffffffffn), Number(cells >> 32n)].filter((cell) => cell !== 0),
      };
    }
  }

  /** Names a cell, such as `bucket 3, cell 0`. */
  placeOf(cell: number): string {
    const { buckets, lines, common } = this.regions;
    const line = Math.floor((cell - buckets) / LINE);
    const at = ((cell - buckets) % LINE) - B_CELLS;
    const name =
      cell < lines
        ? `bucket ${line}`
        : cell < common
          ? `overflow ${Math.floor((cell - lines) / LINE)}`
          : `common ${Math.floor((cell - common) / LINE)}`;
    return `${name}, cell ${at / 4}`;
  }
}
