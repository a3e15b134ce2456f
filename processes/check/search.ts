/** Looks at every state that can be reached, breadth first, so that the trace of a finding is one of the shortest. */
import { createHash } from 'node:crypto';
import { type Configuration, Protocol, type State } from './protocol.js';
import type { Server } from './server.js';

export interface Finding {
  readonly fault: string;
  /** What happened, step by step. */
  readonly trace: readonly string[];
}

export interface Result {
  readonly states: number;
  readonly ends: number;
  readonly seconds: number;
  /** All states were looked at. */
  readonly complete: boolean;
  readonly finding: Finding | undefined;
}

/** A graph of states. */
export interface Model<S> {
  first(): S;
  /** The same text for the same state. */
  text(state: S): string;
  steps(state: S): readonly { readonly label: string; readonly to: S; readonly optional?: boolean }[];
  /** What is wrong with a state, and with one after which nothing must happen. */
  fault(state: S): string | undefined;
  endFault(state: S): string | undefined;
}

/** Searches the protocol on the script, from the first steps of the configuration on. */
export const search = (configuration: Configuration, most?: number, server?: Server): Result =>
  explore<State>(new Protocol(configuration, server), most, configuration.after);

const hashOf = (text: string): string => createHash('md5').update(text).digest('base64');

export function explore<S>(model: Model<S>, most = 5_000_000, after: readonly string[] = []): Result {
  const started = performance.now();
  /** The hashes of the states, which are shorter than their texts. */
  const seen = new Set<string>();
  const parents: number[] = [];
  const labels: string[] = [];
  let ends = 0;
  const result = (finding: Finding | undefined, complete: boolean): Result => ({
    states: seen.size,
    ends,
    seconds: (performance.now() - started) / 1000,
    complete,
    finding,
  });
  const trace = (from: number): string[] => {
    const steps: string[] = [];
    for (let at = from; at > 0; at = parents[at] as number) steps.push(labels[at] as string);
    return steps.reverse();
  };
  const first = model.first();
  seen.add(hashOf(model.text(first)));
  parents.push(-1);
  labels.push('');
  let state = first;
  for (const label of after) {
    const step = model.steps(state).find((each) => each.label.startsWith(label));
    if (!step) throw new Error(`"${label}" cannot come next; what can is ${labelsOf(model, state)}`);
    state = step.to;
    seen.add(hashOf(model.text(state)));
    parents.push(parents.length - 1);
    labels.push(step.label);
    const fault = model.fault(state);
    if (fault) return result({ fault, trace: trace(parents.length - 1) }, false);
  }
  let level: { id: number; state: S }[] = [{ id: parents.length - 1, state }];
  while (level.length > 0) {
    const below: typeof level = [];
    for (const { id, state } of level) {
      const steps = model.steps(state);
      if (steps.every(({ optional }) => optional)) {
        ends++;
        const fault = model.endFault(state);
        if (fault) return result({ fault, trace: trace(id) }, false);
      }
      for (const { label, to } of steps) {
        const hash = hashOf(model.text(to));
        if (seen.has(hash)) continue;
        seen.add(hash);
        const next = parents.length;
        parents.push(id);
        labels.push(label);
        const fault = model.fault(to);
        if (fault) return result({ fault, trace: trace(next) }, false);
        if (seen.size >= most) return result(undefined, false);
        below.push({ id: next, state: to });
      }
    }
    level = below;
  }
  return result(undefined, true);
}

const labelsOf = <S>(model: Model<S>, state: S): string =>
  model
    .steps(state)
    .map(({ label }) => `"${label}"`)
    .join(', ');
