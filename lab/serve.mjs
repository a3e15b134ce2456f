/**
 * Serves the built lab. The options are `--port` (default 4173, or the next free one), `--host` (default localhost),
 * and `--no-headers`. With `--no-headers` it serves like a static host that sets no headers for shared memory, so the
 * page's own service worker has to set them.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serve } from '@taketurns/static-server';
import { HEADERS } from './headers.mjs';

const FOLDER = fileURLToPath(new URL('./dist', import.meta.url));
const TRIES = 21;

/** Serves the built lab on any free port, unless the options say otherwise. */
export function serveLab(options) {
  return serve(FOLDER, { host: 'localhost', headers: HEADERS, ...options });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4173' },
      host: { type: 'string', default: 'localhost' },
      'no-headers': { type: 'boolean', default: false },
    },
  });
  const { host } = values;
  const { port } = await serveLab({
    port: Number(values.port),
    tries: values.port === '0' ? 1 : TRIES,
    host,
    ...(values['no-headers'] ? { headers: {} } : {}),
  });
  console.log(`the lab: http://${host}:${port}/   (Ctrl+C ends it)`);
}
