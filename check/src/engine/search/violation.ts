/** Findings: the errors that a search looks for, told apart from mistakes in the checker itself. */
import { Trap } from '../machine/machine.js';

/** The program breaks a promise that is checked. */
export class Violation extends Error {}

/** Whether an error is a finding: a promise that is broken, or a trap of the program. */
export function isFinding(error: unknown): error is Error {
  return error instanceof Violation || error instanceof Trap;
}
