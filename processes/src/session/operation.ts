/** One operation of a call, and the part of a session that sends operations. */

import type { Arguments } from '../script/wire.js';
import type { Request } from './request.js';
import type { Surroundings } from './surroundings.js';

/**
 * What an operation says; or a function that makes this each time the operation is sent, for an operation that tells how
 * much time has passed. An operation that is sent again after a loss would otherwise tell too little, and the script
 * would take the difference for a jump of the server's clock.
 */
export type Saying = Arguments | (() => Arguments);

export interface Operation {
  readonly args: Saying;
  answered(answer: unknown): void;
  /** Is called when the server refuses the operation. If undefined, the space emits `error` instead. */
  readonly failed: ((error: unknown) => void) | undefined;
  /** The request to which the operation belongs, and whose fate `list` settles after a loss. */
  readonly request: Request | undefined;
  /** Whether the operation is sent again after a loss, because nothing else settles it. */
  readonly repeats: boolean;
  /** Whether the operation is not to be sent any more. */
  withdrawn: boolean;
}

/** What the requests and objects need of the session. */
export interface Sender {
  readonly around: Surroundings;
  /** The name of the session on the server; '' if the server knows none. */
  readonly sid: string;
  /** Names the session and the history of the data. In another session or history, objects are opened again. */
  readonly place: string;
  /** Whether operations can be sent. If not, requests are sent when the session has been entered. */
  readonly isOpen: boolean;
  /** Why the session has ended for good. */
  readonly fatal: Error | undefined;
  readonly calls: {
    /** Sends an operation with the next call. `answered` gets the answer. */
    send(
      args: Saying,
      answered: (answer: unknown) => void,
      failed?: (error: unknown) => void,
      request?: Request,
      repeats?: boolean,
    ): Operation;
    /** Sends an operation that belongs to no request, and resolves to its answer. */
    operate(args: Saying): Promise<unknown>;
  };
  readonly beats: {
    /** Is called when the process holds nothing and waits for nothing, and is about to ask. */
    hasten(): void;
  };
  /** Enters the session again and compares the states, because the state of the server is not what it was. */
  reconnect(): void;
  /**
   * Asks for the server's state of all requests that the process knows. The server drops all other requests of the
   * session.
   */
  compare(): void;
  /** Enters the session. */
  enter(): void;
  /** Looks at the clock. If the lease is over, the process loses all that it holds. */
  look(): void;
}
