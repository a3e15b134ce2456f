/**
 * Finds the live words at each instruction of a function: the words of its frame that the function may still read. The
 * method is the usual backward data flow. A set of words is a bigint with a bit for each word.
 */
export interface Flow {
  /** What the instruction reads, as pairs of the first word of the frame and a count. */
  readonly reads: readonly (readonly [word: number, count: number])[];
  readonly writes: readonly [word: number, count: number];
  /** The indices of the instructions that may follow. */
  readonly next: readonly number[];
}

export interface Live {
  /** The words live before the instruction, with those that it reads. */
  readonly before: readonly number[];
  /** The words live after the instruction, without those that it writes. */
  readonly across: readonly number[];
}

function bits([word, count]: readonly [number, number]): bigint {
  return ((1n << BigInt(count)) - 1n) << BigInt(word);
}

function wordsOf(set: bigint): number[] {
  const words = [];
  for (let word = 0, rest = set; rest; word++, rest >>= 1n) if (rest & 1n) words.push(word);
  return words;
}

export function liveness(flow: readonly Flow[]): (index: number) => Live {
  const reads = flow.map((node) => node.reads.reduce((set, range) => set | bits(range), 0n));
  const kept = flow.map((node) => ~bits(node.writes));
  const before = new Array<bigint>(flow.length).fill(0n);
  const after = (i: number) => flow[i].next.reduce((set, follower) => set | before[follower], 0n);
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = flow.length - 1; i >= 0; i--) {
      const set = (after(i) & kept[i]) | reads[i];
      if (set === before[i]) continue;
      before[i] = set;
      changed = true;
    }
  }
  return (i) => ({ before: wordsOf(before[i]), across: wordsOf(after(i) & kept[i]) });
}
