/** Tells what the operating system's threads of this process wait for: whether a worker blocks, idles or computes. */
import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';

/** A line a thread: its number, its name, its state (R runs, S sleeps) and its system call. Empty but on Linux. */
export function threadsOfProcess(): string[] {
  try {
    return readdirSync(TASKS).map(describeThread);
  } catch {
    return [];
  }
}

function describeThread(id: string): string {
  const read = (name: string) => {
    try {
      return readFileSync(`${TASKS}/${id}/${name}`, 'latin1').trim();
    } catch {
      return '?';
    }
  };
  // The name is in parentheses, and may contain any sign. The state comes after it.
  const state = /\) (\S)/.exec(read('stat'))?.[1];
  // 202 is futex and 281 epoll_pwait on x86-64. The arguments tell which futex, and for how long.
  return `${id} ${read('comm')} ${state} ${read('syscall')}`;
}
