import { capacitor } from './capacitor.js';
import { lemmaChecks } from './counting.js';
import { type Check, checksOf, preambleOf, type System } from './system.js';
import { waitingArray } from './waiting-array.js';

export interface Proof {
  readonly name: string;
  readonly preamble: readonly string[];
  readonly checks: readonly Check[];
}

export const systems: readonly System[] = [capacitor, waitingArray];

/** All proofs. The proof of the capacitor uses the lemmas. */
export const proofs: readonly Proof[] = [
  { name: 'lemmas', preamble: [], checks: lemmaChecks },
  ...systems.map((system) => ({ name: system.name, preamble: preambleOf(system), checks: checksOf(system) })),
];
