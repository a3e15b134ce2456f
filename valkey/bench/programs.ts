/** Programs that a measurement starts, and their messages. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The next message of a program. Rejects if the program has failed, or has ended. */
export async function next(program: ChildProcess): Promise<unknown> {
  const ended = once(program, 'exit').then(() => {
    throw new Error('a program of clients has ended');
  });
  ended.catch(() => undefined);
  const [message] = await Promise.race([once(program, 'message'), ended]);
  const { failure } = Object(message) as { failure?: string };
  if (failure !== undefined) throw new Error(`a program of clients has failed: ${failure}`);
  return message;
}

/** Asks a program to end, and ends it if it has not after ten seconds. */
export async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exit = once(program, 'exit');
  const timer = setTimeout(() => program.kill('SIGKILL'), 10_000);
  if (program.connected) program.send('close');
  await exit;
  clearTimeout(timer);
}
