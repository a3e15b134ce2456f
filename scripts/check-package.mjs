/**
 * Installs the packed tarball in an empty project and uses it as a stranger would: every entry imported,
 * the types checked under both module resolutions, and a worker that shares a semaphore.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'taketurns-'));

function run(cwd, command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed\n${stdout}\n${stderr}`);
  return stdout;
}

try {
  const [pack] = JSON.parse(
    run(root, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', project),
  );
  const stray = pack.files.filter(({ path }) => !/^(dist\/|README\.md$|LICENSE$|package\.json$)/.test(path));
  if (stray.length) throw new Error(`the package holds ${stray.map(({ path }) => path).join(', ')}`);
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  run(project, 'npm', 'install', '--no-audit', '--no-fund', join(project, pack.filename));

  writeFileSync(
    join(project, 'use.ts'),
    `import { Semaphore, type SemaphoreHandle } from 'taketurns';
import { TicketSemaphore, TwaSemaphore } from 'taketurns/algorithms';
import { AtomicSemaphore, atomicTryWait, BinarySemaphore, CountingSemaphore, Notify } from 'taketurns/p0514';
const pool: Semaphore = new Semaphore(2, { max: 2 });
const handle: SemaphoreHandle = pool.handle;
using held = Semaphore.from(handle).hold();
export const free: number = pool.available - held.permits;
new CountingSemaphore().signal(2, Notify.one);
export const changed: boolean = atomicTryWait(new Float64Array(new SharedArrayBuffer(8)), 0, 1);
export const third = [new BinarySemaphore(1), new AtomicSemaphore()];
export const others = [new TicketSemaphore(1), new TwaSemaphore(1, { threshold: 0 })];
`,
  );
  for (const [module, resolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ]) {
    run(
      project,
      process.execPath,
      join(root, 'node_modules/typescript/bin/tsc'),
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--lib',
      'es2024,esnext.disposable,dom',
      '--types',
      '',
      '--module',
      module,
      '--moduleResolution',
      resolution,
      'use.ts',
    );
  }

  writeFileSync(
    join(project, 'use.js'),
    `import { isMainThread, Worker } from 'node:worker_threads';
import { Semaphore } from 'taketurns';
import 'taketurns/algorithms';
import 'taketurns/p0514';
const pool = Semaphore.open('pool', 0);
if (isMainThread) {
  new Worker(new URL(import.meta.url));
  await pool.acquireAsync();
  console.log('shared');
} else pool.release();
`,
  );
  if (run(project, process.execPath, 'use.js').trim() !== 'shared')
    throw new Error('the worker did not share');
  console.log(`${pack.filename}: ${pack.entryCount} files, ${pack.size} bytes packed`);
} finally {
  rmSync(project, { recursive: true, force: true });
}
