/**
 * What taketurns-processes needs of a server of Valkey, Redis or PostgreSQL. A driver provides this for each client
 * library.
 */
import type { AnswerTimes } from './answer-times.js';

/** Stops listening. */
export type StopListening = () => Promise<void>;

/** Old rows of the data. warning: what keeps them for long, and what to do. */
export interface Leftovers {
  readonly oldRows: number;
  readonly warning?: string;
}

/**
 * What connects a space to one server or one cluster. A driver is made from a client of the user. It has two
 * connections of its own, which are duplicates of the user's client: one for commands and one for messages. A
 * connection never resends a command that may have run, and keeps no commands for later while it is down.
 */
export interface Driver {
  /** Whether the driver speaks to a cluster. In a cluster messages are sharded. */
  readonly cluster: boolean;

  /**
   * Whether what the driver speaks to knows by itself when a process ends. Then a session has no lease that could run
   * out: it holds what it holds as long as its process lives.
   */
  readonly knowsDeaths?: boolean;

  /** The file number of the socket that shows that this process lives, if there is one that another can inherit. */
  proofOfLife?(): number | undefined;

  /** The code of a `SpaceError` for a call that this trouble has kept from an answer. Default `UNREACHABLE`. */
  codeOf?(trouble: Error): string | undefined;

  /** At least 15 random hexadecimal digits, if the driver has them sooner than node:crypto, which is slow to load. */
  randomDigits?(): string;

  /** The longest pause between two attempts to enter a session, in milliseconds. Default 1,000. */
  readonly longestPause?: number;

  /**
   * Runs the script with the keys and arguments: by `EVALSHA`, and by `EVAL` if the server does not know the script. On
   * PostgreSQL a function takes the place of the script. Resolves to the reply, whose strings are decoded as UTF-8.
   * Rejects at once while the driver is not connected. If the connection is lost before the answer has come, rejects with
   * the client's error. Calls are sent in the order in which they are made; on PostgreSQL a beat goes before those that
   * wait.
   *
   * Never throws.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;

  /**
   * Subscribes to a channel, sharded in a cluster. Resolves when the server has confirmed the subscription, and rejects
   * if the server cannot subscribe. After each reconnect the driver subscribes again, before it calls `up`.
   */
  listen(channel: string, heard: (message: string) => void): Promise<StopListening>;

  /**
   * Runs the script on a third connection, which is made when it is first needed. Then waits until `replicas` replicas
   * have confirmed all earlier writes of this connection, but at most `timeout` milliseconds (`WAIT`). Resolves to the
   * number of replicas that have confirmed these writes. Before that it calls `ran` with the reply of the script: the
   * third connection may lead to another server than the first one. If no answer comes for two seconds more than
   * `timeout`, the driver drops the third connection and rejects.
   */
  confirm(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    replicas: number,
    timeout: number,
    ran?: (reply: unknown) => void,
  ): Promise<number>;

  /**
   * The space calls this once. The driver begins to connect only then. The driver calls `down` when either connection
   * is lost, and after each failed attempt to connect. The argument `gaveUp` says that the user's strategy wants no
   * more attempts. When a connection has been replaced, the driver calls `up`, as soon as both connections are open and
   * the subscriptions are confirmed. In a cluster, a redirection counts as a loss, and so does a sharded subscription
   * that has moved. So the driver then calls `down` and `up`, too.
   *
   * missed: messages may have been missed although no connection was lost, because the driver did not listen.
   *
   * answers: how long the server takes to answer. The driver notes there how long it takes to open a connection, and
   * waits accordingly. Without `answers` the driver measures by itself.
   */
  watch(
    events: { up(): void; down(error: Error | undefined, gaveUp?: boolean): void; missed?(): void },
    answers?: AnswerTimes,
  ): void;

  /**
   * Begins to connect again if the driver has given up, and does nothing else. A driver that never gives up needs no
   * `connect`.
   */
  connect?(): void;

  /**
   * Sends something to the node that has the key, on the connection for messages. The promise is settled when the
   * answer has come. So the caller learns whether the connection still works. A driver may lack this method.
   */
  ping?(key: string): Promise<unknown>;

  /**
   * The fields of these sections of `INFO`, from the node that has the key. Resolves to undefined if `INFO` is
   * forbidden.
   */
  info(key: string, section: string): Promise<Map<string, string> | undefined>;

  /** What the server keeps that is old. A driver lacks this if the server keeps nothing. */
  leftovers?(): Promise<Leftovers>;

  /**
   * With true, the connections keep the process alive (`ref`). With false they do not (`unref`): the space passes false
   * while it neither holds nor awaits anything.
   */
  keepAlive(alive: boolean): void;

  /**
   * Finds out whether the connections to the node that has the key still carry anything. Use it when an answer does not
   * come. A connection that is dead is lost with this error, as by a cut, and is replaced. While the server itself does
   * not answer, nothing is lost: its answers may come later.
   */
  probe(key: string, error: Error): void;

  /**
   * Drops the connections and connects again, as after a loss: calls that are not answered are rejected, the driver
   * calls `down`, and later `up`. Use it for connections that lead to the wrong server.
   */
  reset(error?: Error): void;

  /**
   * Closes the driver's own connections. Calls that are not answered are rejected, and neither `up` nor `down` is
   * called again. The user's client stays open.
   */
  close(): Promise<void>;
}

/** A script and its SHA-1 in hexadecimal digits. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}
