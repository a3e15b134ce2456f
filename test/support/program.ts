/** Runs the modules of test/programs/, and other programs, each in a process of its own. */
import { spawn } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Outcome {
  /** The exit code; null if the program did not end and was killed, unless it has a handler of SIGTERM. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const DEADLINE = 50_000;
/** A program that is ended because it hangs has so many milliseconds left. */
const TO_TELL = 2000;

/** @param name of a module of test/programs/, or the whole path of a file. */
export function runProgram(name: string, args: readonly unknown[] = [], deadline = DEADLINE): Promise<Outcome> {
  const file = isAbsolute(name) ? name : fileURLToPath(new URL(`../programs/${name}.mjs`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args.map(String)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    // At SIGTERM a program may tell what it hangs in.
    let timer = setTimeout(() => {
      child.kill('SIGTERM');
      timer = setTimeout(() => child.kill('SIGKILL'), TO_TELL);
    }, deadline);
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      err += data;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, out, err });
    });
  });
}

/** Runs a program that prints one JSON value, and returns the value. */
export async function report<T>(name: string): Promise<T> {
  const { code, out, err } = await runProgram(name);
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${err}`);
  return JSON.parse(out) as T;
}
