/**
 * The files of a space, and which broker is the present one. Each broker has a number, its generation.
 *
 *     gen.G           JSON: how to reach the broker of generation G. A hard link, so it is made once, whole
 *     b.G.<16 hex>    its socket       j.G.n   its journal number n (journal.ts)
 *     m.<member>      the socket of a member, which is called <16 hex>-<process id>: proof that the process lives
 *     c.<member>      the same file, when the member has closed the space, and may have a session or had the last broker.
 *                     Else it is removed
 *     t.<16 hex>      a file before it gets its name
 *
 *     usurper of G+1: U1 link gen.G+1     U2 gen.G is still linked     U3 choose a journal, read     U4 rename, serve
 *     broker G:       B1 append the call  B2 gen.G+1 is not there      B3 gen.G is still linked      B4 answer
 *
 * Why no two brokers grant the same permits. Let broker G answer a call, and let another broker of a higher generation
 * serve. When B2 came, gen.G+1 was not made yet, or was removed already. In the first case B1 < B2 < U1 < U3, so the
 * usurper reads the call. In the second case gen.G was removed before, because a broker removes the links of older
 * generations from the lowest on; so B3 fails, and broker G does not answer. No clock takes part in this argument, so
 * anybody may take over at any time.
 *
 * Every version of the package has the same names of files, and `v`, `socket` and `member` in gen.G. So a process sees
 * which format a space has, and whether somebody lives who uses this format. If nobody does, it takes over, forgets
 * what the old format has told of objects, and goes on behind its tickets (journal.ts).
 *
 * U2 is for a usurper that was slow: gen.G+1 was made and removed meanwhile, and now it makes gen.G+1 again. Then gen.G
 * was removed before, and the usurper gives up. check/takeover.ts tries all orders of these steps.
 */
import {
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { address, errorAt, hasEnded, hasFiles, ownStart, random, showsEnd } from './platform.js';

/** The format of the files and of the lines. Processes of different formats cannot share a space. */
export const VERSION = 3;

/**
 * A draft lives for less than a millisecond. If one that is older than this, in milliseconds, is removed nevertheless,
 * its process makes another.
 */
const OLD_DRAFT = 3_600_000;

/** How to reach a broker. */
export interface Address {
  readonly v: number;
  /** The name of its socket in the folder, which another process may see at another path; or its pipe of Windows. */
  readonly socket: string;
  readonly cookie: string;
  readonly member: string;
  /** Whether the broker has a thread for itself. */
  readonly hasThread: boolean;
}

/** A broker, as its file gen.G tells. `fd` is this file, also when it is removed. */
export interface Generation {
  readonly number: number;
  readonly fd: number;
  readonly address: Address;
}

/** Closes the file of a generation. */
export const close = (generation: Generation | undefined): void => {
  if (generation) closeSync(generation.fd);
};

/** A generation that nobody has made yet. */
export type Draft = Omit<Generation, 'fd'>;

const { now } = Date;

/** A later time, of the year 2248, counts as this one: the tickets that are made of it are exact numbers. */
const LATEST = 2 ** 43;

/** The time of day, as it is when this file is loaded: a test may replace the global clock. */
export const timeOfDay = (): number => Math.min(now(), LATEST);

/** The name of a member: eight digits of the start of its process, eight random ones, and the process id. */
export const newMember = (): string => `${ownStart()}${random().slice(8)}-${process.pid}`;
export const isMember = (name: unknown): name is string => typeof name === 'string' && /^[0-9a-f]{16}-\d+$/.test(name);
export const pidOf = (member: string): number => Number(member.slice(17));
const startOf = (member: string): string => member.slice(0, 8);

/** Whether the process of a member has ended, as this process sees it: in another container there are others. */
export const hasDied = (member: string): boolean => hasEnded(pidOf(member), startOf(member));

export class Folder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  of(name: string): string {
    return `${this.path}/${name}`;
  }

  /** The members whose sockets are there, also those that have closed the space. */
  members(): string[] {
    const sockets = readdirSync(this.path).filter((name) => /^[cm]\./.test(name));
    return sockets.map((name) => name.slice(2)).filter(isMember);
  }

  /** Removes the files of a member that has ended, or has closed the space. */
  removeMember(member: string): void {
    this.remove(`m.${member}`);
    this.remove(`c.${member}`);
  }

  /** At what a broker listens. */
  listensAt({ socket }: Address): string {
    return hasFiles ? this.of(socket) : socket;
  }

  /**
   * Resolves to a member of another process that has neither ended nor closed the space. A member may have joined a
   * broker after the list was made, and the broker may have ended before it was asked. So the members are listed again
   * when those of the list have ended, until there is no other (F1, F2 of check/takeover.ts).
   */
  async living(own: string): Promise<string | undefined> {
    const ended = new Set([own]);
    while (true) {
      const others = this.members().filter((member) => !ended.has(member));
      if (others.length === 0) return undefined;
      for (const member of others) {
        if (!(await this.hasEnded(member))) return member;
        ended.add(member);
      }
    }
  }

  /** Asks the kernel whether the process of a member has ended, or has closed the space. */
  async hasEnded(member: string): Promise<boolean> {
    const error = await errorAt(address(this.of(`m.${member}`), member));
    return error !== undefined && this.isOver(member, error.code);
  }

  /** Whether a member has ended or closed the space. code: of the error of a connection to its socket. */
  isOver(member: string, code: string | undefined): boolean {
    return showsEnd(code, pidOf(member), startOf(member)) || this.#has(`c.${member}`);
  }

  /** The journals, the newest first. */
  journals(): { readonly generation: number; readonly n: number }[] {
    const found = readdirSync(this.path).flatMap((name) => {
      const [, generation, n] = /^j\.(\d+)\.(\d+)$/.exec(name) ?? [];
      return generation === undefined ? [] : [{ generation: Number(generation), n: Number(n) }];
    });
    return found.sort((a, b) => b.generation - a.generation || b.n - a.n);
  }

  /** The broker of the highest generation, or undefined if there is none. */
  highest(): Generation | undefined {
    while (true) {
      const number = Math.max(0, ...this.#generations());
      if (number === 0) return undefined;
      let fd: number | undefined;
      try {
        fd = openSync(this.of(`gen.${number}`), 'r');
        return { number, fd, address: JSON.parse(readFileSync(fd, 'utf8')) };
      } catch (error) {
        if (fd !== undefined) closeSync(fd);
        // A later broker may have removed it meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }

  /** How a broker of the next generation will be reached. before: the broker from which it takes over. */
  draft(before: Generation | undefined, member: string, hasThread: boolean): Draft {
    const number = (before?.number ?? this.journals()[0]?.generation ?? 0) + 1;
    const socket = hasFiles ? `b.${number}.${random()}` : address('', random());
    return { number, address: { v: VERSION, socket, cookie: random(), member, hasThread } };
  }

  /** Whether the next broker is there already. */
  isFollowed(generation: Generation | undefined): boolean {
    return generation !== undefined && this.#isMade(generation.number + 1);
  }

  #isMade(number: number): boolean {
    return this.#has(`gen.${number}`);
  }

  #has(name: string): boolean {
    return lstatSync(this.of(name), { throwIfNoEntry: false }) !== undefined;
  }

  /** Makes the generation (U1, U2). Returns undefined if somebody else was faster. */
  usurp(before: Generation | undefined, { number, address }: Draft): Generation | undefined {
    const name = `t.${random()}`;
    let fd: number | undefined;
    let generation: Generation | undefined;
    try {
      writeFileSync(this.of(name), JSON.stringify(address), { mode: 0o600, flag: 'wx' });
      fd = openSync(this.of(name), 'r');
      linkSync(this.of(name), this.of(`gen.${number}`));
      const isFirst = before ? fstatSync(before.fd).nlink > 0 : Math.max(...this.#generations()) === number;
      if (isFirst) generation = { number, fd, address };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      this.remove(name);
      if (fd !== undefined && !generation) closeSync(fd);
    }
    return generation;
  }

  /** Whether no later broker can serve that does not know what this broker has written by now (B2, B3). */
  isCurrent({ number, fd }: Generation): boolean {
    return !this.#isMade(number + 1) && fstatSync(fd).nlink > 0;
  }

  /**
   * Removes what earlier brokers have left, their links from the lowest on; drafts that are so old that their processes
   * have died over them; and the files of members that have closed the space, except those that have a session.
   */
  clean(number: number, withSession: ReadonlySet<string>): void {
    for (const each of this.#generations().sort((a, b) => a - b)) if (each < number) this.remove(`gen.${each}`);
    for (const name of readdirSync(this.path)) {
      const [, generation] = /^[jb]\.(\d+)\./.exec(name) ?? [];
      if (generation !== undefined && Number(generation) < number) this.remove(name);
      if (name.startsWith('c.') && isMember(name.slice(2)) && !withSession.has(name.slice(2))) this.remove(name);
      if (/^t\.[0-9a-f]{16}$/.test(name)) {
        const draft = lstatSync(this.of(name), { throwIfNoEntry: false });
        if (draft && timeOfDay() - draft.mtimeMs > OLD_DRAFT) this.remove(name);
      }
    }
  }

  /** Removes a file, if it is there. */
  remove(name: string): void {
    try {
      unlinkSync(this.of(name));
    } catch {}
  }

  #generations(): number[] {
    return readdirSync(this.path).flatMap((name) => (/^gen\.\d+$/.test(name) ? [Number(name.slice(4))] : []));
  }
}
