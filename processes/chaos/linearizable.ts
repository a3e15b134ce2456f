/**
 * Checks whether a history is linearizable: whether each operation can take effect at one moment between its call and
 * its return, so that the operations in this order are steps of a sequential object. The search is that of Wing and
 * Gong, with the memo of Lowe: a set of operations that has once led to a dead end is not tried again. The state of the
 * object follows from the set of operations, so the memo need not store the state.
 */

/** An operation. It takes effect between `call` and `end`. If `end` is Infinity, it may take effect later, or never. */
export interface Operation<What> {
  readonly call: number;
  readonly end: number;
  readonly what: What;
}

/** A sequential object whose state depends only on which operations have taken effect, not on their order. */
export interface Model<What> {
  /** Takes effect and returns true, or returns false and changes nothing. */
  apply(what: What): boolean;
  /** Takes back the last operation that has taken effect. */
  undo(what: What): void;
  /** Operations of a smaller rank are tried first. The rank decides how fast a search is, not what it finds. */
  rank(what: What): number;
}

export type Verdict<What> =
  | { readonly is: 'linearizable' }
  /** stuck: the operation that fits in no way after the longest explanation of the operations before it. */
  | { readonly is: 'not linearizable'; readonly stuck: Operation<What> }
  | { readonly is: 'not decided' };

export function linearize<What>(
  history: readonly Operation<What>[],
  model: Model<What>,
  most = 20_000_000,
): Verdict<What> {
  const operations = [...history].sort((one, other) => one.call - other.call);
  const count = operations.length;
  const done = new Uint8Array(count);
  // The number of operations that must still take effect.
  let missing = operations.filter(({ end }) => end !== Infinity).length;
  /** All operations before this index have taken effect. */
  let first = 0;
  /** The operations after `first` that have taken effect. */
  const ahead = new Set<number>();
  const failed = new Set<string>();
  const path: { readonly at: number; readonly rest: number[] }[] = [];
  let steps = 0;
  let furthest = -1;
  let stuck: Operation<What> | undefined;

  /** The operations that may take effect next: those called before any other remaining operation has ended. */
  const candidates = (): number[] => {
    const found: number[] = [];
    let soonest = Infinity;
    for (let i = first; i < count; i++) {
      const { call, end } = operations[i] as Operation<What>;
      if (call > soonest) break;
      if (done[i]) continue;
      found.push(i);
      if (end < soonest) soonest = end;
    }
    const possible = found.filter((i) => (operations[i] as Operation<What>).call <= soonest);
    const rank = (i: number) => model.rank((operations[i] as Operation<What>).what);
    return possible.sort((one, other) => rank(other) - rank(one) || other - one);
  };
  const key = (): string => `${first} ${[...ahead].sort((one, other) => one - other).join(' ')}`;
  const take = (i: number): void => {
    done[i] = 1;
    if ((operations[i] as Operation<What>).end !== Infinity) missing--;
    ahead.add(i);
    while (first < count && done[first]) ahead.delete(first++);
  };
  const giveBack = (i: number): void => {
    done[i] = 0;
    if ((operations[i] as Operation<What>).end !== Infinity) missing++;
    ahead.delete(i);
    while (first > i) ahead.add(--first);
    ahead.delete(i);
  };

  let rest = candidates();
  while (missing > 0) {
    const at = rest.pop();
    if (at === undefined) {
      // No operation fits next. The operation that should have ended first is stuck.
      if (path.length > furthest) {
        furthest = path.length;
        stuck = undefined;
        for (let i = first; i < count; i++) {
          const operation = operations[i] as Operation<What>;
          if (!done[i] && (stuck === undefined || operation.end < stuck.end)) stuck = operation;
          if (stuck && operation.call > stuck.end) break;
        }
      }
      failed.add(key());
      const last = path.pop();
      if (!last) return { is: 'not linearizable', stuck: stuck as Operation<What> };
      giveBack(last.at);
      model.undo((operations[last.at] as Operation<What>).what);
      rest = last.rest;
      continue;
    }
    if (++steps > most) return { is: 'not decided' };
    const { what } = operations[at] as Operation<What>;
    if (!model.apply(what)) continue;
    take(at);
    if (failed.size > 0 && failed.has(key())) {
      giveBack(at);
      model.undo(what);
      continue;
    }
    path.push({ at, rest });
    rest = candidates();
  }
  return { is: 'linearizable' };
}
