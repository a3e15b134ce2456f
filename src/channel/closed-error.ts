import { knowEverywhere } from '../errors.js';

/** The channel is closed: nothing more can be sent, or every message has been received. */
export class ClosedError extends Error {
  /** `ClosedError`. */
  override readonly name = 'ClosedError';

  /** @internal */
  constructor(message = 'the channel is closed') {
    super(message);
  }
}

knowEverywhere(ClosedError);
