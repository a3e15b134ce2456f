// Runs a program to its end and reads the line of JSON that it prints.

import { execFile } from 'node:child_process';

/** Runs a program. When `signal` is aborted, the program is killed, and the promise is rejected. */
export function runJson<T>(
  program: string,
  args: readonly string[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      args,
      { timeout: timeoutMs, killSignal: 'SIGKILL', ...(signal && { signal }) },
      (error, stdout, stderr) => {
        if (error) {
          const why = error.killed ? `did not end within ${timeoutMs / 1000} s` : firstLine(stderr) || error.message;
          reject(new Error(why));
          return;
        }
        try {
          resolve(JSON.parse(stdout) as T);
        } catch {
          reject(new Error(`printed no JSON but: ${firstLine(stdout) || 'nothing'}`));
        }
      },
    );
  });
}

export function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
