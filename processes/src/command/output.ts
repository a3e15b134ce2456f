/**
 * What the program prints. The reader may be slow: then the program waits, and ends only when all is read. Or it may
 * have gone, as behind `| head`: then the program ends, silently, with the status that a shell tells of SIGPIPE.
 */
import { once } from 'node:events';

const BROKEN_PIPE = 128 + 13;
const CANNOT_WRITE = 74;

/** Lets the program end when nobody reads any more, or when it cannot write. */
export function endWithReader(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(BROKEN_PIPE);
    console.error(`taketurns-processes: the output cannot be written: ${message}`);
    process.exit(CANNOT_WRITE);
  });
  // Nobody can be told.
  process.stderr.on('error', () => process.exit(BROKEN_PIPE));
}

/** Prints a text. Resolves when the program may print more. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Resolves when all that was printed is with its reader. */
export async function printed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength === 0) continue;
    await new Promise<void>((resolve) => {
      stream.write('', () => resolve());
    });
  }
}

/** A name or a label in a line: as it is, or as a string of JSON if it could be taken for something else. */
export const inLine = (name: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed.
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|^"/.test(name) ? JSON.stringify(name) : name;

/** A value as a line of JSON. Tokens are too large for numbers, and become strings. */
export const json = (value: unknown): string =>
  `${JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each))}\n`;
