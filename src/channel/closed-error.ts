/** The error of a request at an end that is closed, and how a loop knows that the error is of its own end. */

import { common } from '../runtime/common.js';
import { ClosedError } from '../runtime/errors.js';

/** The end of a channel or a watch at which an error was made, by whichever copy of the library. */
const madeAt = common('closedAt', () => new WeakMap<object, object>());

/** Returns the error for a request at this end, which is closed. */
export function closedAt(end: object, message: string): ClosedError {
  const error = new ClosedError(message);
  madeAt.set(error, end);
  return error;
}

/** Whether an error says that this end is closed. A codec may throw the ClosedError of another channel. */
export function isClosedAt(end: object, error: unknown): boolean {
  return madeAt.get(error as object) === end;
}
