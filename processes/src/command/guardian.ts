/**
 * The guardian of a command whose turn is a lease of a server: a process of its own, which `run` starts (guard.ts). It
 * ends the command before others can get the turn, also when `run` was killed or stands still.
 *
 *     `run` tells of a renewed lease                          --> waits for the end of that lease
 *     `run` is gone                                           --> SIGTERM at once, SIGKILL before others get it
 *     the lease ends, and `run` does not say that it is alive --> SIGTERM, and a moment later SIGKILL
 *     `run` says that the command has ended                   --> ends
 *
 * It is in a session of its own, so that nothing stops or ends it which does so to the process group of `run`.
 */
import type { Word } from './guard.js';
import { Tree } from './tree.js';

let tree: Tree | undefined;
let killAt = Number.POSITIVE_INFINITY;
let isTold = false;
let isEnding = false;
let timer: NodeJS.Timeout | undefined;

async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  clearTimeout(timer);
  await tree?.end(killAt, isTold);
  process.exit();
}

// A service manager tells all processes of a service to end. This one ends with `run`.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

process.on('message', ({ command, left, isTold: told, isOver }: Word) => {
  if (isOver) process.exit();
  if (command) tree = new Tree(command.pid, command.start);
  if (told) isTold = true;
  // A renewed lease is not that of a turn which is lost.
  if (!left || isTold || isEnding) return;
  const now = performance.now();
  killAt = now + left.toKill;
  clearTimeout(timer);
  timer = setTimeout(end, Math.max(0, left.toTell));
});
process.on('disconnect', end);
