/** Findings are the errors that a search looks for, as opposed to mistakes in the checker itself. */
import { Trap } from '../machine/machine.js';

/** The program breaks a promise that is checked. */
export class Violation extends Error {}

/** Says whether an error is a finding: a broken promise, or a trap of the program. */
export function isFinding(error: unknown): error is Error {
  return error instanceof Violation || error instanceof Trap;
}
