/**
 * Runs scripts/smoke.mjs in this Node, in Deno and Bun where they are found, and in the programs that are named:
 *
 *     npm run runtimes -w processes -- /path/to/another/node /path/to/bun
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findServer } from '../examples/server.mjs';

const url = await findServer();
const smoke = fileURLToPath(new URL('smoke.mjs', import.meta.url));
const cwd = fileURLToPath(new URL('..', import.meta.url));
const found = ['deno', 'bun'].filter((name) => spawnSync(name, ['--version']).status === 0);

let failures = 0;
for (const command of [process.execPath, ...found, ...process.argv.slice(2)]) {
  const { stdout, status } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  const [version = ''] = (stdout ?? '').split('\n');
  if (status !== 0) {
    console.log(`${command}: it does not run`);
    failures++;
    continue;
  }
  const isDeno = version.startsWith('deno');
  const name = isDeno
    ? version.split(' (')[0]
    : version.startsWith('v')
      ? `node ${version.slice(1)}`
      : `bun ${version}`;
  const args = [...(isDeno ? ['run', '--allow-all'] : []), smoke, url];
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 });
  const ok = ran.status === 0 && ran.stdout.trimEnd().endsWith('done');
  if (!ok) failures++;
  const lines = ran.stdout
    .trimEnd()
    .split('\n')
    .slice(0, ok ? -1 : undefined);
  console.log(`${name}: ${ok ? 'passed' : 'FAILED'}: ${lines.join(', ')}`);
  if (!ok) console.log(ran.stderr);
}
process.exitCode = failures === 0 ? 0 : 1;
