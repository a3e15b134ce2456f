/** Who opens a name in a process of `cluster` is warned once that the name is of this process alone. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

// Node has `process.getBuiltinModule` since 20.16.
it.runIf('getBuiltinModule' in process)('a name that is opened in a process of cluster warns once', () => {
  const program = fileURLToPath(new URL('../programs/cluster-names.mjs', import.meta.url));
  const { stderr, status } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 60_000 });
  expect(status).toBe(0);
  const lines = stderr.split('\n').filter((line) => /forked|Warning/.test(line));
  expect(lines.map((line) => line.replace(/^\(node:\d+\) /, '').replace(/^\(Use .*/, ''))).toEqual([
    'forked',
    'TaketurnsWarning: names are of one process: see taketurns-processes',
  ]);
});
