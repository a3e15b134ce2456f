/** Findings are the errors that a search looks for. Any other error is a mistake in the checker itself. */
import { Trap } from '../machine/machine.js';

/** The program breaks an invariant that a check knows. */
export class Violation extends Error {}

/** Says whether an error is a finding: a violation, or a trap of the program. */
export function isFinding(error: unknown): error is Error {
  return error instanceof Violation || error instanceof Trap;
}
