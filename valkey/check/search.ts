/** Looks at every state that can be reached, breadth first, so that the trace of a finding is one of the shortest. */
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

export function search(configuration: Configuration, most = 5_000_000, server?: Server): Result {
  const started = performance.now();
  const protocol = new Protocol(configuration, server);
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
  const first = protocol.first();
  seen.add(protocol.text(first));
  parents.push(-1);
  labels.push('');
  let state = first;
  for (const label of configuration.after ?? []) {
    const step = protocol.steps(state).find((each) => each.label.startsWith(label));
    if (!step)
      throw new Error(`${configuration.name}: "${label}" cannot come next; what can is ${labelsOf(protocol, state)}`);
    state = step.to;
    seen.add(protocol.text(state));
    parents.push(parents.length - 1);
    labels.push(step.label);
    const fault = protocol.fault(state);
    if (fault) return result({ fault, trace: trace(parents.length - 1) }, false);
  }
  let level: { id: number; state: State }[] = [{ id: parents.length - 1, state }];
  while (level.length > 0) {
    const below: typeof level = [];
    for (const { id, state } of level) {
      const steps = protocol.steps(state);
      if (steps.every(({ optional }) => optional)) {
        ends++;
        const fault = protocol.endFault(state);
        if (fault) return result({ fault, trace: trace(id) }, false);
      }
      for (const { label, to } of steps) {
        const text = protocol.text(to);
        if (seen.has(text)) continue;
        seen.add(text);
        const next = parents.length;
        parents.push(id);
        labels.push(label);
        const fault = protocol.fault(to);
        if (fault) return result({ fault, trace: trace(next) }, false);
        if (seen.size >= most) return result(undefined, false);
        below.push({ id: next, state: to });
      }
    }
    level = below;
  }
  return result(undefined, true);
}

const labelsOf = (protocol: Protocol, state: State): string =>
  protocol
    .steps(state)
    .map(({ label }) => `"${label}"`)
    .join(', ');
