// The figure of the platoon: how many threads a capacitor has let in after each event of a trace.

import type { TopLevelSpec } from 'vega-lite';
import type { Results } from '../results.js';
import { frame } from './frame.js';

export function sawtooth(results: Results): TopLevelSpec | undefined {
  const { trace } = results;
  if (trace === undefined || trace.inside.length === 0) return undefined;
  const values = trace.inside.map((inside, event) => ({ inside, milliseconds: trace.milliseconds[event] }));
  return {
    ...frame(
      results,
      'MutexBench: platoons in a capacitor',
      `${trace.lock}, bypass limit ${trace.bypass}, ${trace.threads} threads; the last ${values.length} events of a run`,
      'inside: let in by the capacitor and not departed, whether running or not',
    ),
    width: 900,
    height: 200,
    data: { values },
    mark: {
      type: 'area',
      interpolate: 'step-after',
      line: { strokeWidth: 1.2 },
      color: '#0b5394',
      opacity: 0.35,
    },
    encoding: {
      x: { field: 'milliseconds', type: 'quantitative', title: 'Milliseconds' },
      y: {
        field: 'inside',
        type: 'quantitative',
        // Without this, Vega-Lite would add up the values of events at the same moment.
        stack: null,
        title: 'Threads inside',
        axis: { tickMinStep: 1 },
        scale: { domain: [0, trace.bypass] as number[] },
      },
    },
  };
}
