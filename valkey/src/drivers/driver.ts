/** What taketurns-valkey needs of a client of Valkey or Redis. A driver gives it, for one client library each. */

/** Stops listening. */
export type StopListening = () => Promise<void>;

/**
 * A connection to one server or cluster, made from a client of the user's. It has two connections of its own, duplicates
 * of the user's: one for commands and one for messages. Neither resends a command by itself, and neither keeps commands
 * for later while it is down.
 */
export interface Driver {
  /** Whether it speaks to a cluster. Messages are sharded there. */
  readonly cluster: boolean;

  /**
   * Runs the script with the keys and arguments: by `EVALSHA`, and once by `EVAL` where the server does not know it.
   * Resolves to the reply, whose strings are decoded as UTF-8. Rejects at once while it is not connected, and, when the
   * connection is lost before the answer has come, with the client's error. Calls are sent in the order in which they
   * are made.
   *
   * Never throws.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;

  /**
   * Subscribes to a channel, sharded in a cluster. Resolves when the server has confirmed it, and rejects when it
   * cannot. After each reconnect the driver subscribes anew, before it calls `up`.
   */
  listen(channel: string, heard: (message: string) => void): Promise<StopListening>;

  /**
   * Runs the script, on a third connection that is made when it is first needed, and then waits until `replicas`
   * replicas have confirmed all writes before it, at most `timeout` milliseconds (`WAIT`). Resolves to the number of
   * replicas that have.
   */
  confirm(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    replicas: number,
    timeout: number,
  ): Promise<number>;

  /**
   * Called by the space, once; the driver connects only then. `down` is called when either connection is lost, and after
   * each attempt to connect that has failed. `up` is called when both stand again and the subscriptions are confirmed,
   * each time that either connection is new. In a cluster a redirection and a sharded subscription that has moved count
   * as a loss, so `down` and `up` are called too. gaveUp: the client's strategy wants no more attempts.
   */
  watch(events: { up(): void; down(error: Error | undefined, gaveUp?: boolean): void }): void;

  /** Begins to connect anew where it has given up, and does nothing else. A driver that never gives up needs none. */
  connect?(): void;

  /**
   * Sends something to the node that has the key, by the connection for messages, and is settled when the answer has come.
   * So who asks learns that the connection carries nothing. Optional.
   */
  ping?(key: string): Promise<unknown>;

  /** The fields of `INFO` of these sections, of the node that has the key. Resolves to undefined where it is forbidden. */
  info(key: string, section: string): Promise<Map<string, string> | undefined>;

  /** Lets the process end while nothing is held or awaited (`unref`), or keeps it alive (`ref`). */
  keepAlive(alive: boolean): void;

  /**
   * Drops its connections and connects anew, as after a loss: calls that are not answered are rejected, `down` is called,
   * and later `up`. For a connection that gives no answer any more.
   */
  reset(error?: Error): void;

  /** Closes its own connections. Calls that are not answered are rejected, and neither `up` nor `down` is called again.
   * The user's client stays open.
   */
  close(): Promise<void>;
}

/** A script and its SHA-1 in hexadecimal digits. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}
