/** A small disk for a server: a tmpfs that only this server sees, and that ends with it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../servers/postgres.js';
import { endsWithThisProcess, temporaryDirectory } from '../servers/servers.js';

/** Why this machine has no small disks; undefined if it has. */
export const NO_SMALL_DISK =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
    ? undefined
    : 'no small disk: only root may mount one, on Linux, with unshare, nsenter and setpriv';

export interface SmallDisk extends Disk {
  /** Takes all room that is left. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): void;
  stop(): Promise<void>;
}

export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const folder = temporaryDirectory();
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=0777 none "$0" && echo mounted && exec sleep infinity`;
  // The disk is there as long as this program runs in its namespace.
  const keeper = spawn('unshare', ['--mount', 'sh', '-c', script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithThisProcess(keeper);
  await once(keeper.stdout, 'data');
  const ballast = join(`/proc/${keeper.pid}/root`, folder, 'ballast');
  return {
    folder,
    by: ['nsenter', `--mount=/proc/${keeper.pid}/ns/mnt`],
    async fill() {
      // Another program writes, so that this process goes on beating.
      const filler = spawn('sh', ['-c', 'cat /dev/zero > "$0"', ballast], { stdio: 'ignore' });
      endsWithThisProcess(filler);
      await once(filler, 'exit');
    },
    free: () => rmSync(ballast, { force: true }),
    async stop() {
      const exit = once(keeper, 'exit');
      keeper.kill('SIGKILL');
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
