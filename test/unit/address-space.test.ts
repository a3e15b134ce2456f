/** What an arena takes of a process's address space, which a limit such as `ulimit -v` may bound. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Arena } from '../../src/index.js';

const programAt = (name: string) => fileURLToPath(new URL(`../programs/${name}.mjs`, import.meta.url));

/** Runs the program with so many GB of address space. */
function within(gigabytes: number, ...flags: string[]): string {
  return run(gigabytes, ...flags, programAt('little-address-space'));
}

function run(gigabytes: number, ...program: string[]): string {
  const command = `ulimit -v ${gigabytes * 1e6} && exec "$@"`;
  const args = ['-c', command, 'sh', process.execPath, ...program];
  const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
  return stdout + stderr;
}

// Only Linux has a limit that bounds address space.
describe.runIf(process.platform === 'linux')('the address space', () => {
  it('of 20 GB suffices for one arena, though V8 reserves 10 GiB for each memory', () => {
    expect(within(20)).toContain('arenas: 1\n');
  });

  it('that does not suffice is an error that says what to do', () => {
    const told = within(8);
    expect(told).toContain('Error: taketurns cannot run here: ');
    expect(told).toContain('fewer arenas');
    expect(told).toContain('ulimit -v');
    expect(told).toContain('--disable-wasm-trap-handler');
    expect(told).toContain('because: WebAssembly.Memory(): could not allocate memory');
    expect(told).toContain('arenas: 0\n');
  });

  it('of 8 GB suffices for many arenas where V8 reserves nothing', () => {
    expect(within(8, '--disable-wasm-trap-handler')).toContain('arenas: 8\n');
  });
});

describe.runIf(process.platform === 'linux')('dispose', () => {
  it('leaves nothing that keeps the memory, so that 60 arenas come and go where five have room', () => {
    expect(run(60, programAt('disposed-arenas'))).toBe('arenas: 60\n');
    expect(run(60, programAt('disposed-arenas'), 'keep')).toMatch(/no address space left.*\narenas: [1-5]\n$/);
  });
});

describe('the memory of an arena', () => {
  const most = { objects: 1 << 20, threads: 4095, waiters: 4_000_000, slots: 65_536, chains: 65_536 };
  const least = { objects: 1, threads: 1, waiters: 8, slots: 1, chains: 1 };
  const some = { objects: 1000, threads: 100, waiters: 1000, slots: 512, chains: 512 };

  it.each(
    [least, some].flatMap((small) => [
      small,
      ...Object.entries(most).map(([name, value]) => ({ ...small, [name]: value })),
    ]),
  )('holds an arena of %o', (options) => {
    expect(new Arena(options).threads).toBe(1);
  });

  it('holds the largest arena', () => {
    expect(new Arena(most).threads).toBe(1);
  });
});
