/** Makes the clock of a server jump: the server starts with a small library, which the C compiler builds here. */
import { spawnSync } from 'node:child_process';
import { openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../../chaos/clock.c', import.meta.url));

export class JumpingClock {
  /** Environment variables for the server's process. */
  readonly env: Record<string, string>;
  readonly #file: number;
  jumps = 0;

  private constructor(library: string, path: string) {
    this.env = { LD_PRELOAD: library, TAKETURNS_CLOCK: path };
    writeFileSync(path, Buffer.alloc(8));
    this.#file = openSync(path, 'r+');
  }

  /** Makes the clock. Returns the reason as a text if the machine has no C compiler or no LD_PRELOAD. */
  static make(dir: string): JumpingClock | string {
    if (process.platform !== 'linux') return 'the clock jumps only on Linux, by LD_PRELOAD';
    const library = join(dir, 'clock.so');
    const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl'], { encoding: 'utf8' });
    if (built.error) return 'no C compiler (cc), which builds the clock that jumps: apt-get install gcc';
    if (built.status !== 0) return `the clock that jumps cannot be built: ${built.stderr}`;
    return new JumpingClock(library, join(dir, 'clock'));
  }

  /** Sets the clock to 1 s to 10 years before or behind the true time. Each order of magnitude is as likely. */
  jump(): void {
    const seconds = Math.round(10 ** (Math.random() * Math.log10(10 * 365 * 86400)));
    this.set(Math.random() < 0.5 ? -seconds : seconds);
    this.jumps++;
  }

  set(seconds: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    writeSync(this.#file, bytes, 0, 8, 0);
  }
}
