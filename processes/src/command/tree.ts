/**
 * The processes of a command: the command itself, and whatever it has started. `end` ends all of them.
 *
 *     SIGTERM to each --> looks for more of them, again and again --> none lives
 *                                                                 --> the time is over: SIGKILL to each
 *
 * A process group would be simpler. But a command in a group of its own cannot read from its terminal, and the group of
 * this program may have other processes: the shell script that runs it, or `tee` behind it. So the members of the tree
 * are found by their parents. When a parent ends, its children get another parent. So a process that was found once
 * stays known, and `end` looks often. Where processes cannot be listed (Windows, or no `ps`), only the command itself
 * is ended, and nothing tells it from a later process with the same number.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** When it was started: tells it from a later process with the same number. */
  readonly start: string;
}

/** The pause between two looks, in milliseconds. */
const AGAIN = 20;
/** How often `end` looks for processes that were started while the others were being killed. */
const ROUNDS = 50;

const isDead = (state: string | undefined): boolean => /^[ZXx]/.test(`${state}`);

/** The process of this number on Linux, unless it is dead. Throws if there is none. */
function processOf(pid: number): Process | undefined {
  // The name of the program stands in parentheses, and may have some itself.
  const [state, parent, ...others] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return isDead(state) ? undefined : { pid, parent: Number(parent), start: `${others[17]}` };
}

/** The living processes of this machine; none if they cannot be listed, as on Windows. */
export function processes(): Process[] {
  const found: Process[] = [];
  if (process.platform === 'linux') {
    for (const name of readdirSync('/proc')) {
      if (!/^\d/.test(name)) continue;
      try {
        const each = processOf(Number(name));
        if (each) found.push(each);
      } catch {
        // It has ended meanwhile.
      }
    }
    return found;
  }
  try {
    const columns = ['pid', 'ppid', 'stat', 'lstart'].flatMap((name) => ['-o', `${name}=`]);
    for (const line of execFileSync('ps', ['-A', ...columns], { encoding: 'utf8' }).split('\n')) {
      const [, pid, parent, state, start] = /^ *(\d+) +(\d+) +(\S+) +(.*?) *$/.exec(line) ?? [];
      if (start !== undefined && !isDead(state)) found.push({ pid: Number(pid), parent: Number(parent), start });
    }
  } catch {
    // There is no `ps`.
  }
  return found;
}

/** When the process was started, or undefined if this is not known. */
export const startOf = (pid: number): string | undefined => processes().find((each) => each.pid === pid)?.start;

export class Tree {
  readonly #root: number;
  /** The processes that were found, and when each was started; undefined if it could not be found. */
  readonly #members = new Map<number, string | undefined>();

  /** start: as `startOf` tells it. */
  constructor(pid: number, start: string | undefined) {
    this.#root = pid;
    this.#members.set(pid, start);
  }

  /** Looks for processes. Returns those that live, and whether one of them is new. */
  #look(): { readonly living: readonly number[]; readonly isNew: boolean } {
    const all = processes();
    // A command of which no start was known had ended by then. Its number may be that of another process now.
    const isMember = ({ pid, start }: Process): boolean => this.#members.get(pid) === start;
    let isNew = false;
    for (let before = -1; before !== this.#members.size; ) {
      before = this.#members.size;
      const living = new Set(all.filter(isMember).map(({ pid }) => pid));
      for (const { pid, parent, start } of all) {
        if (!living.has(parent) || living.has(pid)) continue;
        this.#members.set(pid, start);
        isNew = true;
      }
    }
    const living = all.filter(isMember).map(({ pid }) => pid);
    return { living: all.length === 0 ? [this.#root] : living, isNew };
  }

  #signal(pids: readonly number[], name: NodeJS.Signals): void {
    // The command is first: it can decide what becomes of the others.
    for (const pid of [...pids].sort((a, b) => Number(b === this.#root) - Number(a === this.#root))) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended meanwhile, or is of another user, as with sudo.
      }
    }
  }

  /**
   * Ends all processes. Resolves when all have ended or were killed.
   * @param until when they are killed, by `performance.now()`.
   * @param isTold whether they have got SIGTERM already.
   */
  async end(until: number, isTold = false): Promise<void> {
    const first = this.#look().living;
    if (!isTold) this.#signal(first, 'SIGTERM');
    while (performance.now() < until) {
      await sleep(Math.max(0, Math.min(AGAIN, until - performance.now())));
      if (this.#look().living.length === 0) return;
    }
    for (let round = 0; round < ROUNDS; round++) {
      const { living, isNew } = this.#look();
      if (round > 0 && !isNew) return;
      this.#signal(living, 'SIGKILL');
    }
  }
}
