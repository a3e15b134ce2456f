/**
 * What the driver for PostgreSQL needs of a client library: connections that run statements without parameters.
 * `pg` (pg.ts) and `postgres` (postgres-js.ts) provide this.
 */

export type Rows = readonly (readonly (string | null)[])[];

/** A connection as a client library provides it. */
export interface Sql {
  /** Resolves when statements can be run. Rejects if the connection cannot be opened. */
  readonly opened: Promise<unknown>;
  /** Runs a statement without parameters. Resolves to its rows, whose values are texts. */
  query(text: string): Promise<Rows>;
  /** The number of the backend that the server has told when it greeted. It is known after the first statement. */
  backend(): number | undefined;
  keepAlive(alive: boolean): void;
  /** Closes the connection, which may be lost already. The server is told of the end within FAREWELL, or not at all. */
  close(): void;
}

/** How long a connection may take to tell the server that it ends, in milliseconds. */
export const FAREWELL = 500;

/** What a connection of a client library reports. */
export interface SqlEvents {
  connected(): void;
  lost(error: unknown): void;
  notified(channel: string, text: string): void;
}

/** What a client library provides. */
export interface SqlLibrary {
  /** most: how many milliseconds it may take to connect to one address. */
  open(events: SqlEvents, most: number): Sql;
  /** How long the user's client may take to connect, in milliseconds. */
  readonly connectTimeout: number | undefined;
}
