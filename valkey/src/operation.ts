/** One operation of a call, and who sends it. */
import type { Request } from './request.js';
import type { Surroundings } from './surroundings.js';
import type { Arguments } from './wire.js';

export interface Operation {
  readonly args: Arguments;
  answered(answer: unknown): void;
  /** Is called when the server refuses. Undefined: only the space need hear of it. */
  readonly failed: ((error: unknown) => void) | undefined;
  /** The request whose fate `list` settles after a loss. */
  readonly request: Request | undefined;
  /** The operation is sent again after a loss, because nothing else settles it. */
  readonly repeats: boolean;
  withdrawn: boolean;
}

/** The session, as its requests and objects need it. */
export interface Sender {
  readonly around: Surroundings;
  readonly sid: string;
  /** Names the session and the history of the data. In another session or history, objects are opened again. */
  readonly place: string;
  /** Whether operations are sent. If not, the permits are asked for when the session has been entered. */
  readonly isOpen: boolean;
  /** Why nothing can be asked for any more. */
  readonly fatal: Error | undefined;
  /** Enters the session again, and compares the states, because the state of the server is not what it was. */
  reconnect(): void;
  send(
    args: Arguments,
    answered: (answer: unknown) => void,
    failed?: (error: unknown) => void,
    request?: Request,
    repeats?: boolean,
  ): Operation;
  /** Sends an operation that belongs to no request, and resolves to its answer. */
  operate(args: Arguments): Promise<unknown>;
  /** Asks for the server's state of all requests. Those that are not listed are dropped. */
  compare(): void;
  enter(): void;
  look(): void;
}
