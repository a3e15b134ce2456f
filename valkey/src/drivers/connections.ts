/**
 * What all drivers have in common: how connections are opened, watched and replaced, how calls are sent, and how
 * channels are subscribed. A client library is needed only to open a connection, so all libraries behave the same.
 *
 * A connection is opened once, becomes ready once and is lost once. It never connects again: a new one replaces it, and
 * the driver decides when. Nothing is sent twice, but for a script that the server does not know, which it has not run.
 *
 * A place is a server, or in a cluster the node that has a slot. The driver has two connections to each place: one for
 * commands and one for messages, and a third for `WAIT` when it is needed. In a cluster it asks anew where the slots are
 * after each loss, and it takes a redirection or a moved subscription for a loss.
 */
import type { Driver, Script, StopListening } from './driver.js';

/** One connection, made by a client library. */
export interface Connection {
  /**
   * Sends a command. Rejects when it cannot, or when the connection is lost before the answer has come. key: for a client
   * that speaks to all nodes of a cluster, of which node a command is meant that does not tell by its own keys.
   */
  send(command: string, args: readonly string[], key?: string): Promise<unknown>;
  /** Resolves when the server has confirmed it. */
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  keepAlive(alive: boolean): void;
  /** Closes it at once. It tells nothing afterwards. */
  close(): void;
}

/** What a connection tells. */
export interface Events {
  ready(): void;
  /** It is over. Called once, also when it could not be opened. */
  lost(error: Error): void;
  message(channel: string, text: string): void;
}

/** A server, or a node of a cluster. */
export interface Place {
  /** Tells it from others. */
  readonly name: string;
  open(events: Events): Connection;
}

/** What a client library does. */
export interface Library {
  readonly cluster: boolean;
  /** Finds out which places have these slots. A single server has all of them. */
  locate(slots: readonly number[], signal: AbortSignal): Promise<(slot: number) => Place | undefined>;
  /** How long to wait before the attempt of this number, from 1 on. Undefined: no more attempts. */
  delay(attempt: number, error: Error): number | undefined;
}

/** How long it may take to open a connection, or to find out about the slots. */
const PATIENCE = 10_000;

/** Errors of a server that is no longer the one that takes writes for the slot. */
const ELSEWHERE = /^(MOVED|READONLY) | -READONLY /;

/** Milliseconds before an attempt: random, so that not all programs come at once, and at most a second. */
export function backOff(attempt: number): number {
  return Math.min(1000, 25 * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2);
}

export function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(`${value}`);
}

// One connection ------------------------------------------------------------------------------------------------------

interface Call {
  readonly script: Script;
  /** Calls of one key keep their order. */
  readonly key: string;
  /** After the script or its SHA-1. */
  readonly rest: readonly string[];
  /** Whether it was held, or refused and sent again. What was sent behind it may have come before it. */
  late: boolean;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A connection as the driver keeps it. */
class Link {
  readonly opened: Promise<void>;
  readonly channels = new Set<string>();
  readonly #connection: Connection;
  readonly #onLoss: (error: Error) => void;
  /** What is to be rejected when the connection is lost. */
  readonly #pending = new Set<(error: Error) => void>();
  /** The calls of scripts that were sent and are not answered. */
  #flying = 0;
  /** Calls that the server has not run, since it does not know the script, in the order in which they were sent. */
  #unknown: Call[] = [];
  /** Calls that wait until those are sent again. */
  #held: Call[] = [];
  #overtaken = false;
  #over = false;
  #ready = false;
  readonly #patience: ReturnType<typeof setTimeout>;

  constructor(place: Place, alive: boolean, heard: Events['message'], onLoss: (error: Error) => void) {
    this.#onLoss = onLoss;
    let ready: () => void;
    this.opened = new Promise((resolve, reject) => {
      ready = resolve;
      this.#pending.add(reject);
    });
    this.opened.catch(() => undefined);
    this.#connection = place.open({
      ready: () => {
        if (this.#over) return;
        clearTimeout(this.#patience);
        this.#ready = true;
        ready();
      },
      lost: (error) => this.drop(error),
      message: heard,
    });
    this.#patience = setTimeout(() => {
      if (!this.#ready) this.drop(new Error('the server does not answer'));
    }, PATIENCE);
    this.keepAlive(alive);
  }

  get ready(): boolean {
    return this.#ready && !this.#over;
  }

  keepAlive(alive: boolean): void {
    if (this.#over) return;
    this.#connection.keepAlive(alive);
    if (alive) this.#patience.ref();
    else this.#patience.unref();
  }

  /** Ends it. All that is pending is rejected. */
  drop(error: Error, tell = true): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#patience);
    this.#connection.close();
    if (tell) this.#onLoss(error);
    for (const reject of this.#pending) reject(error);
    for (const call of [...this.#unknown, ...this.#held]) call.reject(error);
    this.#pending.clear();
    this.#unknown = [];
    this.#held = [];
  }

  async subscribe(channel: string): Promise<void> {
    const late = setTimeout(() => this.drop(new Error('the server does not answer')), PATIENCE);
    late.unref();
    try {
      await this.#settled(this.#connection.subscribe(channel));
      this.channels.add(channel);
    } catch (error) {
      if (ELSEWHERE.test(asError(error).message)) this.drop(asError(error));
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    if (!this.channels.delete(channel)) return;
    await this.#settled(this.#connection.unsubscribe(channel));
  }

  send(command: string, args: readonly string[], key: string): Promise<unknown> {
    return this.#settled(this.#connection.send(command, args, key));
  }

  /**
   * Runs a script. The server may forget scripts at any time. A call that it refuses for that has done nothing, and is
   * sent again with the text. No later call may run before it does: so new calls are held until all that were sent are
   * answered. If one of these was run nevertheless, because somebody else has brought the script meanwhile, the order
   * is broken, and the connection ends as if the refused calls had been lost with it. Calls of other keys may be run: the
   * connection may lead to several servers.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const [key = ''] = keys;
      this.#start({ script, key, rest: [`${keys.length}`, ...keys, ...args], late: false, resolve, reject });
    });
  }

  /** Runs a script, and tells besides whether the call was late. */
  runAndTell(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<{ reply: unknown; late: boolean }> {
    return new Promise((resolve, reject) => {
      const call: Call = {
        script,
        key: keys[0] ?? '',
        rest: [`${keys.length}`, ...keys, ...args],
        late: false,
        resolve: (reply) => resolve({ reply, late: call.late }),
        reject,
      };
      this.#start(call);
    });
  }

  #start(call: Call): void {
    if (this.#unknown.length > 0 && !this.#over) {
      call.late = true;
      this.#held.push(call);
    } else {
      this.#send(call, false);
    }
  }

  #send(call: Call, text: boolean): void {
    if (this.#over) {
      call.reject(new Error('the connection is closed'));
      return;
    }
    this.#flying++;
    const fail = (error: Error): void => {
      if (!this.#over && !text && error.message.startsWith('NOSCRIPT')) {
        this.#answered(call, true);
        return;
      }
      this.#answered(call, false);
      call.reject(error);
      if (ELSEWHERE.test(error.message)) this.drop(error);
    };
    this.#pending.add(fail);
    const { script, rest } = call;
    const sent = text
      ? this.#connection.send('EVAL', [script.text, ...rest])
      : this.#connection.send('EVALSHA', [script.sha, ...rest]);
    sent.then(
      (reply) => {
        // Otherwise the connection was lost before.
        if (!this.#pending.delete(fail)) return;
        this.#answered(call, false);
        call.resolve(reply);
      },
      (error) => {
        if (this.#pending.delete(fail)) fail(asError(error));
      },
    );
  }

  #answered(call: Call, unknown: boolean): void {
    this.#flying--;
    if (unknown) {
      call.late = true;
      this.#unknown.push(call);
    } else if (this.#unknown.some(({ key }) => key === call.key)) this.#overtaken = true;
    if (this.#flying > 0 || this.#unknown.length === 0 || this.#over) return;
    if (this.#overtaken) {
      this.drop(new Error('the server has forgotten the script, and has run a later call first'));
      return;
    }
    const calls = [...this.#unknown, ...this.#held];
    this.#unknown = [];
    this.#held = [];
    for (const [i, call] of calls.entries()) this.#send(call, i === 0);
  }

  /** The promise, rejected also when the connection is lost. */
  #settled<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#over) reject(new Error('the connection is closed'));
      this.#pending.add(reject);
      promise.then(
        (value) => {
          this.#pending.delete(reject);
          resolve(value);
        },
        (error) => {
          this.#pending.delete(reject);
          reject(asError(error));
        },
      );
    });
  }
}

/** The connections to one place. */
interface Node {
  readonly place: Place;
  commands: Link | undefined;
  messages: Link | undefined;
  waits: Link | undefined;
}

const ROLES = ['commands', 'messages', 'waits'] as const;

// The driver ----------------------------------------------------------------------------------------------------------

interface Channel {
  readonly slot: number;
  readonly listeners: Set<(message: string) => void>;
}

/** A driver on the connections of a library. */
export class Connections implements Driver {
  readonly cluster: boolean;
  readonly #library: Library;
  readonly #nodes = new Map<string, Node>();
  /** The slots that are in use, and the node of each, once it is known. */
  readonly #slots = new Map<number, Node | undefined>();
  readonly #channels = new Map<string, Channel>();
  /** Wait for the node of a slot that is used for the first time. */
  #newcomers: { slot: number; go: (node: Node) => void; fail: (error: Error) => void }[] = [];
  #events: Parameters<Driver['watch']>[0] | undefined;
  #alive = true;
  #closed = false;
  #up = false;
  /** Whether the loop of `#repair` runs. */
  #repairing = false;
  /** Failed attempts since it was last up. */
  #attempt = 0;
  #error = new Error('not yet connected');
  #asking: AbortController | undefined;
  #pausing: { timer: ReturnType<typeof setTimeout>; end: () => void } | undefined;

  constructor(library: Library) {
    this.#library = library;
    this.cluster = library.cluster;
    if (!library.cluster) this.#slots.set(0, undefined);
  }

  watch(events: Parameters<Driver['watch']>[0]): void {
    this.#events = events;
    this.#repair();
  }

  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const key = keys[0] ?? '';
    const link = this.#slots.get(this.#slotOf(key))?.commands;
    if (link?.ready) return link.run(script, keys, args);
    return this.#at(key, (node) => linkOf(node, 'commands').run(script, keys, args));
  }

  async confirm(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    replicas: number,
    timeout: number,
  ): Promise<number> {
    const key = keys[0] ?? '';
    return this.#at(key, async (node) => {
      linkOf(node, 'commands');
      const link = node.waits ?? this.#open(node, 'waits');
      await link.opened;
      const wait = () => link.send('WAIT', [`${replicas}`, `${timeout}`], key);
      const [{ late }, count] = await Promise.all([link.runAndTell(script, keys, args), wait()]);
      return Number(late ? await wait() : count);
    });
  }

  async listen(channel: string, heard: (message: string) => void): Promise<StopListening> {
    const slot = this.#slotOf(channel);
    const entry: Channel = this.#channels.get(channel) ?? { slot, listeners: new Set() };
    // A function of its own, so that the same one may listen twice.
    const listener = (message: string) => heard(message);
    const stop = async () => {
      if (!entry.listeners.delete(listener) || entry.listeners.size > 0) return;
      this.#channels.delete(channel);
      await this.#slots
        .get(slot)
        ?.messages?.unsubscribe(channel)
        .catch(() => undefined);
    };
    this.#channels.set(channel, entry);
    entry.listeners.add(listener);
    try {
      await this.#at(channel, (node) => linkOf(node, 'messages').subscribe(channel));
    } catch (error) {
      await stop();
      throw error;
    }
    return stop;
  }

  async info(key: string, section: string): Promise<Map<string, string> | undefined> {
    try {
      const text = await this.#at(key, (node) => linkOf(node, 'commands').send('INFO', [section], key));
      const fields = `${text}`.matchAll(/^([^#:\r\n]+):([^\r\n]*)/gm);
      return new Map(Array.from(fields, ([, name, value]) => [name as string, value as string]));
    } catch (error) {
      if (asError(error).message.startsWith('NOPERM')) return undefined;
      throw error;
    }
  }

  keepAlive(alive: boolean): void {
    this.#alive = alive;
    for (const link of this.#links()) link.keepAlive(alive);
    if (alive) this.#pausing?.timer.ref();
    else this.#pausing?.timer.unref();
  }

  reset(error = new Error('the connection was reset')): void {
    for (const link of this.#links()) link.drop(error);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#up = false;
    this.#error = new Error('the driver is closed');
    for (const node of this.#nodes.values()) closeNode(node, this.#error);
    this.#refuseNewcomers();
    this.#pausing?.end();
    this.#asking?.abort();
  }

  /** Does something with the node that has the key, and rejects while it cannot be reached. Never throws. */
  #at<T>(key: string, act: (node: Node) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = (node: Node) => {
        try {
          resolve(act(node));
        } catch {
          reject(this.#disconnected());
        }
      };
      const slot = this.#slotOf(key);
      const node = this.#slots.get(slot);
      if (node) go(node);
      else if (!this.cluster || this.#closed || !this.#events) reject(this.#disconnected());
      else {
        // The slot is used for the first time. The order of what is done with it stays.
        this.#newcomers.push({ slot, go, fail: reject });
        this.#slots.set(slot, undefined);
        this.#repair();
      }
    });
  }

  #disconnected(): Error {
    return new Error(`not connected: ${this.#error.message}`, { cause: this.#error });
  }

  #slotOf(key: string): number {
    return this.cluster ? slotOf(key) : 0;
  }

  *#links(): Generator<Link> {
    for (const node of this.#nodes.values()) {
      for (const role of ROLES) {
        const link = node[role];
        if (link) yield link;
      }
    }
  }

  #open(node: Node, role: (typeof ROLES)[number]): Link {
    const heard = (channel: string, text: string) => {
      for (const listener of this.#channels.get(channel)?.listeners ?? []) listener(text);
    };
    const link: Link = new Link(node.place, this.#alive, heard, (error) => {
      if (node[role] === link) node[role] = undefined;
      if (ELSEWHERE.test(error.message)) for (const other of ROLES) node[other]?.drop(error);
      if (role !== 'waits') this.#lost(error);
    });
    node[role] = link;
    return link;
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

  /** Opens what is missing, again and again until nothing is. */
  async #repair(): Promise<void> {
    if (this.#repairing) return;
    this.#repairing = true;
    while (!this.#closed) {
      if (this.#attempt > 0) {
        const delay = this.#delay();
        // The user's strategy wants no more attempts.
        if (delay === undefined) return this.#refuseNewcomers();
        await this.#pause(delay);
        if (this.#closed) return;
      }
      try {
        await this.#assemble();
      } catch (error) {
        if (this.#closed) return;
        this.#attempt++;
        this.#error = asError(error);
        this.#refuseNewcomers();
        this.#events?.down(this.#error);
        continue;
      }
      if (this.#closed) return;
      if (!this.#whole()) {
        // Lost again meanwhile, or something has been added.
        if (!this.#up) this.#attempt++;
        continue;
      }
      break;
    }
    if (this.#closed) return;
    this.#attempt = 0;
    this.#repairing = false;
    const newcomers = this.#newcomers;
    this.#newcomers = [];
    for (const { slot, go } of newcomers) go(this.#slots.get(slot) as Node);
    if (this.#up) return;
    this.#up = true;
    this.#events?.up();
  }

  #delay(): number | undefined {
    try {
      return this.#library.delay(this.#attempt, this.#error);
    } catch {
      // The strategy of the user has thrown.
      return backOff(this.#attempt);
    }
  }

  async #assemble(): Promise<void> {
    const slots = [...this.#slots.keys()];
    const find = await this.#locate(slots);
    if (this.#closed) return;
    const used = new Set<Node>();
    for (const slot of slots) {
      const place = find(slot);
      if (!place) throw new Error(`CLUSTERDOWN No node has the slot ${slot}`);
      let node = this.#nodes.get(place.name);
      if (!node) {
        node = { place, commands: undefined, messages: undefined, waits: undefined };
        this.#nodes.set(place.name, node);
      }
      used.add(node);
    }
    for (const [name, node] of this.#nodes) {
      if (used.has(node)) continue;
      this.#nodes.delete(name);
      closeNode(node, new Error('the slot has moved to another node'));
    }
    const opened: Promise<void>[] = [];
    for (const node of used) {
      opened.push((node.commands ?? this.#open(node, 'commands')).opened);
      opened.push((node.messages ?? this.#open(node, 'messages')).opened);
    }
    await Promise.all(opened);
    for (const slot of slots) this.#slots.set(slot, this.#nodes.get((find(slot) as Place).name));
    const subscribed: Promise<void>[] = [];
    for (const [channel, { slot }] of this.#channels) {
      const link = this.#slots.get(slot)?.messages;
      if (link && !link.channels.has(channel)) subscribed.push(link.subscribe(channel));
    }
    try {
      await Promise.all(subscribed);
    } catch (error) {
      // A cluster may refuse it because the slot has moved. So that connection is of no use, and another is tried.
      for (const node of used) node.messages?.drop(asError(error));
      throw error;
    }
  }

  #whole(): boolean {
    for (const node of this.#slots.values()) if (!node?.commands?.ready || !node.messages?.ready) return false;
    for (const [channel, { slot }] of this.#channels) {
      if (!this.#slots.get(slot)?.messages?.channels.has(channel)) return false;
    }
    return true;
  }

  #refuseNewcomers(): void {
    const newcomers = this.#newcomers;
    this.#newcomers = [];
    for (const { fail } of newcomers) fail(this.#disconnected());
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#pausing = undefined;
        resolve();
      };
      const timer = setTimeout(end, delay);
      if (!this.#alive) timer.unref();
      this.#pausing = { timer, end };
    });
  }

  /** Asks where the slots are. The question ends with the driver, and where there is no answer. */
  async #locate(slots: readonly number[]): Promise<(slot: number) => Place | undefined> {
    const asking = new AbortController();
    this.#asking = asking;
    const timer = setTimeout(() => asking.abort(), PATIENCE);
    if (!this.#alive) timer.unref();
    const aborted = new Promise<never>((_, reject) => {
      asking.signal.onabort = () => reject(new Error('the server does not answer'));
    });
    try {
      return await Promise.race([this.#library.locate(slots, asking.signal), aborted]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function linkOf(node: Node, role: 'commands' | 'messages'): Link {
  const link = node[role];
  if (!link?.ready) throw new Error('not connected');
  return link;
}

function closeNode(node: Node, error: Error): void {
  for (const role of ROLES) {
    node[role]?.drop(error, false);
    node[role] = undefined;
  }
}

// Slots ---------------------------------------------------------------------------------------------------------------

/** The slot of a key in a cluster: the CRC-16 (XMODEM) of its hash tag, if it has one, else of the whole. */
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
