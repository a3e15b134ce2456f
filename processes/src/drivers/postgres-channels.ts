/**
 * The channels of a connection to PostgreSQL, and when the connection listens to them.
 *
 * The server wakes every connection that listens in the database for each message, whomever the message is for. So a
 * connection listens only while this process holds or awaits something, and a moment longer:
 *
 *     a channel is subscribed --> listens <---------------------------------------+
 *                                    | the process needs nothing for REST ms      | the process needs something:
 *                                    +--> does not listen ------------------------+ messages may have been missed
 *
 * With the option `listen: false` the connection never listens. While the process needs something, it is told every
 * LOOK ms that messages may have been missed.
 */
import { clock, type Timer } from '../runtime/clock.js';

/** The prefix of the channels. A name of a channel has at most 63 bytes, so it has no name of a space. */
export const CHANNEL = 'tt_';

/** For how long a connection listens after the process has neither held nor awaited anything, in milliseconds. */
const REST = 2000;

/** How often a process that holds or awaits something looks for news if it cannot listen, in milliseconds. */
export const LOOK = 250;

/** What the channels need of their connection. */
interface Needs {
  /** Whether the connection may listen. */
  readonly listens: boolean;
  run(statement: string): Promise<unknown>;
  /** Messages may have been missed. */
  missed(): void;
}

export class Channels {
  readonly #needs: Needs;
  /** The channels that somebody has subscribed, by their names in PostgreSQL. */
  readonly #subscribed = new Map<string, string>();
  /** The names of the channels to which the connection listens. */
  readonly #listened = new Set<string>();
  #isAlive = true;
  #isOver = false;
  #resting: Timer;
  #looking: Timer;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The channel that has this name in PostgreSQL. */
  named(name: string): string | undefined {
    return this.#subscribed.get(name);
  }

  async subscribe(channel: string): Promise<void> {
    this.#subscribed.set(nameOf(channel), channel);
    if (this.#isAlive) await this.#listen();
  }

  async unsubscribe(channel: string): Promise<void> {
    const name = nameOf(channel);
    this.#subscribed.delete(name);
    if (this.#listened.delete(name)) await this.#needs.run(`unlisten ${name}`);
  }

  /** alive: the process holds or awaits something. */
  keepAlive(alive: boolean): void {
    this.#isAlive = alive;
    this.#stop();
    if (this.#subscribed.size === 0) return;
    if (!alive) this.#resting = clock.after(REST, () => this.#rest(), false);
    else if (this.#listened.size < this.#subscribed.size) this.#listen().then(this.#needs.missed, () => {});
  }

  close(): void {
    this.#isOver = true;
    this.#stop();
  }

  #stop(): void {
    clock.stop(this.#resting);
    clock.stop(this.#looking);
  }

  /** Listens to all channels. */
  async #listen(): Promise<void> {
    if (!this.#needs.listens) return this.#look();
    const names = [...this.#subscribed.keys()].filter((name) => !this.#listened.has(name));
    for (const name of names) this.#listened.add(name);
    await Promise.all(names.map((name) => this.#needs.run(`listen ${name}`)));
  }

  #rest(): void {
    if (this.#listened.size === 0) return;
    this.#listened.clear();
    this.#needs.run('unlisten *').catch(() => {});
  }

  /** Looks for news from time to time, because this connection cannot listen. */
  #look(): void {
    clock.stop(this.#looking);
    const look = (): void => {
      if (this.#isOver || !this.#isAlive) return;
      this.#needs.missed();
      this.#look();
    };
    this.#looking = clock.after(LOOK, look, false);
  }
}

/** The name of a channel of PostgreSQL: the last 16 characters of a channel name the session. */
const nameOf = (channel: string): string => CHANNEL + channel.slice(-16);
