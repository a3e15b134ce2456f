/** Bundles the package for Node, Deno and Bun (../../scripts/for-node.mjs has the options). */
import { fileURLToPath } from 'node:url';
import { bundle, writeModules } from '../../scripts/for-node.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const FILES = {
  index: 'src/index.ts',
  cli: 'src/cli/cli.ts',
  // The process that ends a command if `cli` cannot.
  guardian: 'src/cli/guardian.ts',
  // What a process loads when it needs it: a space with a server, one without, and a thread that beats.
  drivers: 'src/drivers/recognise.ts',
  script: 'src/turn-source.ts',
  local: 'src/local/index.ts',
  heartbeat: 'src/heartbeat.ts',
  'heartbeat-thread': 'src/heartbeat-thread.ts',
};

writeModules(await bundle(FILES, [{ name: 'space', test: /\/src\/index\.ts$/ }]));
