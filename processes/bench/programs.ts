/** Messages of the programs that a measurement starts, and their ends. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Resolves to the next message of a program. Rejects if the program has failed or has ended. */
export function next(program: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      program.off('message', told);
      program.off('exit', ended);
    };
    const told = (message: unknown): void => {
      stop();
      const { failure } = Object(message) as { failure?: string };
      if (failure === undefined) resolve(message);
      else reject(new Error(`a program of clients has failed: ${failure}`));
    };
    const ended = (): void => {
      stop();
      reject(new Error('a program of clients has ended'));
    };
    program.on('message', told);
    program.on('exit', ended);
  });
}

/** Asks a program to end, and kills it if it has not ended after ten seconds. */
export async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exit = once(program, 'exit');
  const timer = setTimeout(() => program.kill('SIGKILL'), 10_000);
  if (program.connected) program.send('close');
  await exit;
  clearTimeout(timer);
}
