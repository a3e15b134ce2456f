/** Copies of a source with one fault each; mutants.ts says which faults. */

/** A copy of a source with one fault. */
export interface Mutant {
  /** The file, and the line there. */
  readonly place: string;
  /** The line, trimmed. */
  readonly text: string;
  readonly from: string;
  readonly to: string;
  /** Where the fault begins in the source. */
  readonly at: number;
  readonly source: string;
}

/** Why nothing need tell some mutants. `text` is part of the line, `from` what is changed, and `to` what it becomes. */
export interface Explained {
  readonly text: string;
  readonly from?: string;
  readonly to?: string;
  readonly reason: string;
}

/** The reasons why nothing need tell some mutants, and which of them were of use. */
export class Reasons {
  readonly #all: readonly Explained[];
  readonly #used = new Set<Explained>();

  constructor(all: readonly Explained[]) {
    this.#all = all;
  }

  /** The reason for a mutant. */
  of(mutant: Mutant): Explained | undefined {
    return this.#all.find(
      ({ text, from, to }) =>
        mutant.text.includes(text) &&
        (from === undefined || mutant.from.includes(from)) &&
        (to === undefined || mutant.to === to),
    );
  }

  /** Whether there is a reason for a mutant that nothing has told. Says so if there is none. */
  explains(mutant: Mutant): boolean {
    const reason = this.of(mutant);
    if (reason) this.#used.add(reason);
    else {
      const { place, from, to, text } = mutant;
      console.log(`NOT TOLD ${place}: ${from} -> ${to}    in: ${text}`);
    }
    return reason !== undefined;
  }

  /** The places in the list of the reasons that were of use. */
  get used(): number[] {
    return [...this.#all.keys()].filter((at) => this.#used.has(this.#all[at] as Explained));
  }

  /** Says which reasons explain no mutant, and returns how many they are. */
  sayUnused(): number {
    const unused = this.#all.filter((each) => !this.#used.has(each));
    for (const { text, reason } of unused) console.log(`a reason is of no use: ${text}: ${reason}`);
    return unused.length;
  }
}

/** Makes the mutants of a source, each of them once. */
export class Mutations {
  readonly made: Mutant[] = [];
  readonly #source: string;
  readonly #others: Readonly<Record<string, readonly string[]>>;
  readonly #placeOf: (lines: readonly string[]) => string;
  readonly #comment: RegExp;
  readonly #seen: Set<string>;
  readonly #lines: readonly string[];
  /** The places of the lines that were asked for. */
  readonly #places = new Map<number, string>();

  /**
   * others: what may stand in place of an operator. placeOf: where the last of these lines stands. comment: what is no
   * part of the text of a line.
   */
  constructor(
    source: string,
    others: Readonly<Record<string, readonly string[]>>,
    placeOf: (lines: readonly string[]) => string,
    comment = /$/,
  ) {
    this.#source = source;
    this.#others = others;
    this.#placeOf = placeOf;
    this.#comment = comment;
    this.#seen = new Set([source]);
    this.#lines = source.split('\n');
  }

  /** Puts a text in place of what stands between two places. */
  replace(start: number, end: number, to: string): void {
    const source = this.#source.slice(0, start) + to + this.#source.slice(end);
    if (this.#seen.has(source)) return;
    this.#seen.add(source);
    const count = this.#source.slice(0, start).split('\n').length;
    const place = this.#places.get(count) ?? this.#placeOf(this.#lines.slice(0, count));
    this.#places.set(count, place);
    const text = (this.#lines[count - 1] as string).replace(this.#comment, '').trim();
    const old = this.#source.slice(start, end).replace(/\s+/g, ' ');
    const from = old.length > 60 ? `${old.slice(0, 57)}...` : old;
    this.made.push({ place, text, from, to, at: start, source });
  }

  /** Puts others in place of an operator that stands between two places. */
  operator(start: number, end: number, which: string): void {
    const at = this.#source.indexOf(which, start);
    if (at < 0 || at >= end) return;
    for (const other of this.#others[which] ?? []) this.replace(at, at + which.length, other);
  }
}

/** The operators that take the place of one that Lua and JavaScript have in common. */
export const OTHERS_IN_BOTH: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '+': ['-'],
  '-': ['+'],
  '*': ['+'],
};
