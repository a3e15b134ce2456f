/**
 * Finds the commands that `run` has started on this machine. A command has the fencing token of its turn in its
 * environment, which Linux shows to its user. So a command is found also when its `run` was killed.
 * Without a server such a command keeps its turn.
 */
import { readFileSync } from 'node:fs';
import { processes } from './tree.js';

const TOKEN = /(?:^|\0)TAKETURNS_TOKEN=(\d+)/;

/** The token that the process was started with, if it may be seen. */
function tokenOf(pid: number): string | undefined {
  try {
    return TOKEN.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
  } catch {
    return undefined;
  }
}

/** A command, and whether the `run` that has started it lives. */
export interface Command {
  readonly pid: number;
  readonly isAlone: boolean;
}

/** The commands that run on this machine, by their tokens. What a command has started is left out. */
export function commands(): Map<string, Command> {
  const found = new Map<string, Command>();
  if (process.platform !== 'linux') return found;
  const tokens = new Map<number, string>();
  const all = processes();
  for (const { pid } of all) {
    const token = tokenOf(pid);
    if (token !== undefined) tokens.set(pid, token);
  }
  for (const { pid, parent } of all) {
    const token = tokens.get(pid);
    if (token === undefined || tokens.get(parent) === token || found.has(token)) continue;
    found.set(token, { pid, isAlone: !isRun(parent) });
  }
  return found;
}

/** Whether this program runs in the process. Without its parent, a process has another one. */
function isRun(pid: number): boolean {
  try {
    return /taketurns-processes[^\0]*\0run\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  } catch {
    return false;
  }
}
