/**
 * What all drivers have in common: which connections there are, how they are opened and replaced, and how channels are
 * subscribed. A client library is needed only to open a connection, so all libraries behave the same.
 *
 * A place is a server, or, in a cluster, the node that has a slot. The driver has two connections to each place: one
 * for commands and one for messages. It opens a third one for `WAIT` when it needs one. In a cluster the driver asks
 * again which node has which slot each time a connection is lost. It treats a redirection, or the refusal to subscribe
 * in a slot that has moved, like the loss of a connection.
 *
 * When an answer does not come, either a connection is dead, because a router has forgotten it, or the server does not
 * answer. To tell the two apart, the driver opens one more connection, the probe, and keeps the others meanwhile. The
 * probe is open when the server has answered a PING over it. By then at least two round trips have passed since the
 * last question over the other connections, so a connection that is still silent is dead. The probe replaces it. As
 * long as the server does not answer, the probe is not open either, and no connection is given up. So a server that
 * stands still is asked for one connection by each process, and finds all others as they were. If a call may wait for
 * another one on the server, the probe also asks whether the server works on the call, and then gives up no connection.
 *
 *     down --> up          up: all connections are open, and all channels are subscribed; `#repair` leads to it
 *      ^ ^------+          gave up: the user's strategy wants no more attempts to connect
 *      +--> gave up        closed: the driver was closed, and leaves this state no more
 */

import { SpaceError } from '../errors.js';
import { clock } from '../runtime/clock.js';
import { eventsHandled } from '../runtime/ticks.js';
import { AnswerTimes } from './answer-times.js';
import type { Driver, Script, StopListening } from './driver.js';
import { asError, type Connection, ELSEWHERE, type Events, impatient, Link, SilentError } from './link.js';

/** A server, or a node of a cluster. */
export interface Place {
  /** Tells this place from other places. */
  readonly name: string;
  /** most: how many milliseconds it may take to connect to one address. role: what the connection is for at first. */
  open(events: Events, most: number, role: Role): Connection;
}

/** What a client library provides. */
export interface Library {
  readonly cluster: boolean;
  /** Finds out which place has each of these slots. A single server has all slots. */
  locate(slots: readonly number[], signal: AbortSignal): Promise<(slot: number) => Place | undefined>;
  /**
   * The option of the user that says how long to wait before a further attempt to connect: milliseconds, or a function
   * that gets the number of the attempt (from 1 on) and the last error, and returns milliseconds. Any other value, of
   * the option or returned by the function, means that there are no more attempts. If the option is missing (undefined
   * or null), or the function throws, the driver waits a random time, which grows up to a second.
   */
  readonly strategy: unknown;
  /** How long the user's client may take to connect to one address, in milliseconds. */
  readonly connectTimeout: number | undefined;
  /** How many addresses may have to be tried until a connection is open. */
  readonly addresses: number;
  /** How many round trips a connection takes to be ready, after it has connected. Default 2. */
  readonly greeting?: number;
}

/** The milliseconds before an attempt. They are random, so that not all programs come at once. */
function backOff(attempt: number, most: number): number {
  return Math.min(most, 25 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
}

/** How long a step of opening a connection may take at most, if the user's client does not say, in milliseconds. */
const LONGEST = 10_000;

/** How long each step has at least while the driver was never up, and so nothing can be lost, in milliseconds. */
const FIRST = 1000;

/**
 * After so many attempts in a row that got no answer, a driver that was up takes longer for each attempt: perhaps the
 * network is slower than it was. By then an outage has lasted for about half a lease.
 */
const DOUBTS = 6;

/** How long to ask where the slots of a cluster are: to connect, to greet and to ask one node are three steps. */
const STEPS_TO_LOCATE = 3;

/** How much longer than the replicas may take the answer to `WAIT` may take, in milliseconds. */
const LATE = 2000;

/** After it has connected, a client library may ask twice before it is ready: by HELLO, and by INFO. */
const GREETING = 2;

const ROLES = ['commands', 'messages', 'waits', 'probe'] as const;

/** What a connection is for. A probe may take the place of one for commands or for messages. */
export type Role = (typeof ROLES)[number];

/** A place and the connections to it. */
type Node = { readonly place: Place } & { [R in Role]?: Link | undefined };

interface Channel {
  readonly slot: number;
  readonly heard: (message: string) => void;
}

/** A driver on the connections of a library. */
export class Connections implements Driver {
  readonly cluster: boolean;
  readonly #library: Library;
  readonly #nodes = new Map<string, Node>();
  /** The slots that are in use. The node of a slot stands here once it is known. */
  readonly #slots = new Map<number, Node | undefined>();
  readonly #channels = new Map<string, Channel>();
  /**
   * The calls that wait until the driver knows the node of a slot, because the slot is used for the first time. They
   * are rejected if no node is found.
   */
  readonly #newcomers: { slot: number; go: (node: Node | undefined) => void }[] = [];
  #events: Parameters<Driver['watch']>[0] | undefined;
  #alive = true;
  #closed = false;
  #up = false;
  #wasUp = false;
  #answers = new AnswerTimes(LONGEST);
  /** How many attempts in a row to open a connection got no answer. */
  #silences = 0;
  /** Whether the loop of `#repair` runs. */
  #repairing = false;
  #gaveUp = false;
  /** The number of failed attempts since the driver was last up. */
  #attempt = 0;
  #error = new Error('not yet connected');
  #asking: AbortController | undefined;
  #pausing: NodeJS.Timeout | undefined;

  constructor(library: Library) {
    this.#library = library;
    this.cluster = library.cluster;
    if (!library.cluster) this.#slots.set(0, undefined);
  }

  watch(events: Parameters<Driver['watch']>[0], answers?: AnswerTimes): void {
    this.#events = events;
    if (answers) this.#answers = answers;
    this.#repair();
  }

  connect(): void {
    if (!this.#gaveUp) return;
    this.#gaveUp = false;
    this.#repair();
  }

  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const [key = ''] = keys;
    const link = this.#slots.get(this.#slotOf(key))?.commands;
    if (link?.ready) return link.run(script, keys, args);
    return this.at(key, 'commands', (link) => link.run(script, keys, args));
  }

  confirm(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    replicas: number,
    timeout: number,
    ran?: (reply: unknown) => void,
  ): Promise<number> {
    const [key = ''] = keys;
    return this.at(key, 'commands', async (_, node) => {
      const link = node.waits ?? this.#open(node, 'waits');
      await link.opened;
      const { resent } = link;
      const wait = () => {
        const count = link.ask((server) => server.wait(replicas, timeout, key));
        return impatient(count, (error) => link.drop(error), timeout + LATE);
      };
      const [reply, count] = await Promise.all([link.run(script, keys, args), wait()]);
      ran?.(reply);
      // The call may have been sent a second time, behind WAIT.
      return Number(link.resent === resent ? count : await wait());
    });
  }

  async listen(channel: string, heard: (message: string) => void): Promise<StopListening> {
    const slot = this.#slotOf(channel);
    const stop = async () => {
      this.#channels.delete(channel);
      await this.#slots
        .get(slot)
        ?.messages?.unsubscribe(channel)
        .catch(() => {});
    };
    this.#channels.set(channel, { slot, heard });
    try {
      await this.at(channel, 'messages', (link) => link.subscribe(channel));
    } catch (error) {
      await stop();
      throw error;
    }
    return stop;
  }

  ping(key: string): Promise<unknown> {
    return this.at(key, 'messages', (link) => link.ask((server) => server.ping(key)));
  }

  async info(key: string, section: string): Promise<Map<string, string> | undefined> {
    try {
      const sentAt = clock.now();
      const text = await this.at(key, 'commands', (link) => link.ask((server) => server.info(section, key)));
      this.#answers.answered(sentAt);
      const fields = `${text}`.matchAll(/^([^#:\r\n]+):([^\r\n]*)/gm);
      return new Map(Array.from(fields, ([, name, value]) => [name as string, value as string]));
    } catch (error) {
      if ((error as Error).message.startsWith('NOPERM')) return undefined;
      throw error;
    }
  }

  keepAlive(alive: boolean): void {
    this.#alive = alive;
    for (const link of this.#links()) link.keepAlive(alive);
    if (alive) this.#pausing?.ref();
    else this.#pausing?.unref();
  }

  probe(key: string, error: Error): void {
    const node = this.#slots.get(this.#slotOf(key));
    if (!node || node.probe) return;
    const silent = new Set<Link>();
    for (const link of [node.commands, node.messages]) {
      // A connection that is being opened has a time of its own.
      if (!link?.ready) continue;
      silent.add(link);
      link.onceHeard(() => {
        if (silent.delete(link) && silent.size === 0) probe.drop(new Error('the connections have answered'));
      });
      if (!link.owes) link.ask((server) => server.ping(key)).catch(() => {});
    }
    if (silent.size === 0) return;
    const probe = this.#open(node, 'probe');
    this.#takeOver(node, probe, silent, key, error).catch((failure) => {
      if (failure instanceof SilentError) this.#silences++;
    });
  }

  /** Lets the probe take the place of the connections that are still silent when the probe is open. */
  async #takeOver(node: Node, probe: Link, silent: Set<Link>, key: string, error: Error): Promise<void> {
    await probe.opened;
    const sentAt = clock.now();
    const asked = probe.ask((server) => server.ping(key));
    await impatient(asked, (error) => probe.drop(error), this.#step());
    this.#answers.answered(sentAt);
    for (const link of silent) {
      if (await impatient(probe.worksOn(link), (error) => probe.drop(error), this.#step())) silent.delete(link);
    }
    // An answer that came while the process was busy is read first.
    await eventsHandled();
    const role = (['commands', 'messages'] as const).find((each) => silent.has(node[each] as Link));
    if (node.probe !== probe) return;
    if (!role) return probe.drop(new Error('no connection is to be replaced'));
    node.probe = undefined;
    node[role] = probe;
    // From now on the probe is a connection like the others, so no answer may end it.
    const dead = [...silent];
    silent.clear();
    for (const link of dead) link.drop(error);
  }

  reset(error = new Error('the connection was reset')): void {
    for (const link of this.#links()) link.drop(error);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = new Error('the driver is closed');
    this.reset(this.#error);
    this.#refuseNewcomers();
    clock.stop(this.#pausing);
    this.#asking?.abort();
  }

  /**
   * Calls `act` with a connection to the node that has the key. Rejects if there is no such connection. Never throws.
   */
  protected at<T>(key: string, role: Role, act: (link: Link, node: Node) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = (node: Node | undefined) => {
        const link = node?.[role];
        if (link?.ready) resolve(act(link, node as Node));
        else reject(new Error(`not connected: ${this.#error.message}`, { cause: this.#error }));
      };
      const slot = this.#slotOf(key);
      const node = this.#slots.get(slot);
      if (node || !this.cluster || this.#closed || this.#gaveUp || !this.#events) go(node);
      else {
        // The slot is used for the first time. The calls for this slot keep their order.
        this.#newcomers.push({ slot, go });
        this.#slots.set(slot, undefined);
        this.#repair();
      }
    });
  }

  #refuseNewcomers(): void {
    for (const { go } of this.#newcomers.splice(0)) go(undefined);
  }

  #slotOf(key: string): number {
    return this.cluster ? slotOf(key) : 0;
  }

  #links(): Link[] {
    return [...this.#nodes.values()].flatMap(linksOf);
  }

  /** Opens a connection that a node lacks. */
  #open(node: Node, role: Role): Link {
    const heard = (channel: string, text: string) => this.#channels.get(channel)?.heard(text);
    const most = this.#step();
    const { addresses, greeting = GREETING } = this.#library;
    const opening = { most: most * addresses, greeting, answers: this.#answers };
    let link: Link | undefined;
    const lost = (error: Error): void => {
      // A probe may have taken the place of this link.
      const place = ROLES.find((each) => node[each] === link);
      if (place) node[place] = undefined;
      if (ELSEWHERE.test(error.message)) for (const other of linksOf(node)) other.drop(error);
      if (role === 'waits' || place === 'probe') return;
      // If a node has lost its slots, the driver no longer uses it.
      if (this.#nodes.get(node.place.name) === node) this.#lost(error);
    };
    const missed = (): void => {
      if (this.#up) this.#events?.missed?.();
    };
    link = new Link(
      (events) => node.place.open({ ...events, missed }, most, role),
      ...([opening, this.#alive, heard, lost] as const),
    );
    link.opened.then(
      () => {
        this.#silences = 0;
      },
      () => {},
    );
    node[role] = link;
    return link;
  }

  /** How long a step of opening a connection may take now, in milliseconds. */
  #step(): number {
    const { opening, usual } = this.#answers;
    const first = this.#wasUp ? opening : Math.max(FIRST, opening);
    const doublings = Math.max(0, this.#silences - (this.#wasUp ? DOUBTS : 0));
    const most = this.#library.connectTimeout || LONGEST;
    return Math.max(2 * usual, Math.min(most, first * 2 ** Math.min(doublings, 10)));
  }

  #lost(error: Error): void {
    if (this.#closed) return;
    this.#error = error;
    if (this.#up) {
      this.#up = false;
      this.#attempt = 1;
      this.#events?.down(error);
    }
    this.#repair();
  }

  /** Opens the missing connections, again and again until none is missing. */
  async #repair(): Promise<void> {
    if (this.#repairing || this.#gaveUp) return;
    this.#repairing = true;
    do {
      if (this.#attempt > 0) {
        const delay = this.#delay();
        if (typeof delay !== 'number') return this.#giveUp();
        await new Promise<void>((resolve) => {
          this.#pausing = clock.after(delay, resolve, this.#alive) as NodeJS.Timeout;
        });
      }
      try {
        await this.#assemble();
        // If something is missing still, a connection was lost again, or a slot or channel has been added.
        if (!this.#up && !this.#isWhole()) this.#attempt++;
      } catch (error) {
        if (this.#closed) return;
        this.#attempt++;
        if (error instanceof SilentError) this.#silences++;
        this.#error = asError(error);
        this.#refuseNewcomers();
        // What will not pass by itself is told at once: who has never been up cannot lose anything.
        if (error instanceof SpaceError && !this.#wasUp) return this.#giveUp();
        this.#events?.down(this.#error);
      }
      if (this.#closed) return;
    } while (!this.#isWhole());
    this.#attempt = 0;
    this.#repairing = false;
    for (const { slot, go } of this.#newcomers.splice(0)) go(this.#slots.get(slot));
    if (this.#up) return;
    this.#up = true;
    this.#wasUp = true;
    this.#events?.up();
  }

  #giveUp(): void {
    this.#gaveUp = true;
    this.#repairing = false;
    this.#attempt = 0;
    this.#refuseNewcomers();
    this.reset(this.#error);
    this.#events?.down(this.#error, true);
  }

  #delay(): unknown {
    const { strategy } = this.#library;
    try {
      if (typeof strategy === 'function') return strategy(this.#attempt, this.#error);
    } catch {
      return backOff(this.#attempt, this.#answers.pause);
    }
    return strategy ?? backOff(this.#attempt, this.#answers.pause);
  }

  async #assemble(): Promise<void> {
    const slots = [...this.#slots.keys()];
    const find = await this.#locate(slots);
    if (this.#closed) return;
    const used = new Map<string, Node>();
    const nodes = slots.map((slot) => {
      const place = find(slot);
      if (!place) throw new Error(`CLUSTERDOWN No node has the slot ${slot}`);
      const node = used.get(place.name) ?? this.#nodes.get(place.name) ?? { place };
      used.set(place.name, node);
      return node;
    });
    for (const [name, node] of this.#nodes) {
      if (used.has(name)) continue;
      this.#nodes.delete(name);
      for (const link of linksOf(node)) link.drop(new Error('the slot has moved to another node'));
    }
    const opening = [...used].flatMap(([name, node]) => {
      this.#nodes.set(name, node);
      return [node.commands ?? this.#open(node, 'commands'), node.messages ?? this.#open(node, 'messages')];
    });
    await Promise.all(opening.map((link) => link.opened));
    for (const [i, slot] of slots.entries()) this.#slots.set(slot, nodes[i]);
    try {
      await Promise.all(
        [...this.#unsubscribed()].map(
          ([channel, link]) => link && impatient(link.subscribe(channel), (error) => link.drop(error), this.#step()),
        ),
      );
    } catch (error) {
      // A cluster may refuse the subscription because the slot has moved. Then this connection is of no use, and
      // another one is tried.
      for (const node of nodes) node.messages?.drop(asError(error));
      throw error;
    }
  }

  /** The channels that are not subscribed, and the connection of each. */
  *#unsubscribed(): Generator<[string, Link | undefined]> {
    for (const [channel, { slot }] of this.#channels) {
      const link = this.#slots.get(slot)?.messages;
      if (!link?.channels.has(channel)) yield [channel, link];
    }
  }

  #isWhole(): boolean {
    for (const node of this.#slots.values()) if (!node?.commands?.ready || !node.messages?.ready) return false;
    return this.#unsubscribed().next().done === true;
  }

  /** Asks which node has which slot. The question ends if the driver is closed or if no answer comes. */
  #locate(slots: readonly number[]): Promise<(slot: number) => Place | undefined> {
    const asking = new AbortController();
    this.#asking = asking;
    const aborted = new Promise<never>((_, reject) => {
      asking.signal.onabort = () => reject(new SilentError());
    });
    const most = STEPS_TO_LOCATE * this.#step() * this.#library.addresses;
    return impatient(Promise.race([this.#library.locate(slots, asking.signal), aborted]), () => asking.abort(), most);
  }
}

function linksOf(node: Node): Link[] {
  return ROLES.flatMap((role) => node[role] ?? []);
}

/**
 * The slot of a key in a cluster: the CRC-16 (XMODEM) of the hash tag of the key, or of the whole key if it has no hash
 * tag.
 */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const end = open < 0 ? -1 : key.indexOf('}', open + 1);
  let crc = 0;
  for (const byte of new TextEncoder().encode(end > open + 1 ? key.slice(open + 1, end) : key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc % 16384;
}
