/**
 * Serves the built lab. `--port` (default 4173, or the next that is free), `--host` (default localhost), and
 * `--no-headers` as a static host does that sets none: then the page's own service worker must.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { HEADERS } from './headers.mjs';

const ROOT = fileURLToPath(new URL('./dist', import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};
const TRIES = 20;

/** Resolves with the server once it listens. */
export function serve({ port = 4173, host = 'localhost', headers = HEADERS } = {}) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://lab');
    const path = normalize(decodeURIComponent(pathname)).replace(/^(?:\.\.[/\\])+/, '');
    let file = `${ROOT}${path.startsWith('/') ? '' : '/'}${path}`;
    try {
      if ((await stat(file)).isDirectory()) file += '/index.html';
      await stat(file);
      const type = TYPES[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-cache', ...headers });
      createReadStream(file).pipe(response);
    } catch {
      response.writeHead(404, headers).end('not found');
    }
  });
  return new Promise((resolve, reject) => {
    let left = port === 0 ? 0 : TRIES;
    server.on('error', (error) => {
      if (error.code !== 'EADDRINUSE' || left-- <= 0) reject(error);
      else server.listen(++port, host);
    });
    server.listen(port, host, () => resolve(server));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4173' },
      host: { type: 'string', default: 'localhost' },
      'no-headers': { type: 'boolean', default: false },
    },
  });
  const server = await serve({
    port: Number(values.port),
    host: values.host,
    ...(values['no-headers'] ? { headers: {} } : {}),
  });
  console.log(`the lab: http://${values.host}:${server.address().port}/   (Ctrl+C ends it)`);
}
