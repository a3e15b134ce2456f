/**
 * Serves the stage to browsers, as it is but for the names of packages, which browsers do not resolve in workers:
 * `taketurns` and `#host` become the paths that the package's own `exports` and `imports` give them.
 */

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { PACKAGE, STAGE } from './stage.js';

const BASE = '/node_modules/taketurns';
const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', json: 'application/json' };

/** Paths by specifier. */
function specifiers(): Map<string, string> {
  const { exports, imports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
    imports: Record<string, { default: string }>;
  };
  const paths = new Map<string, string>();
  for (const [name, target] of [...Object.entries(exports), ...Object.entries(imports)]) {
    const path = typeof target === 'string' ? target : target.default;
    paths.set(name.replace(/^\./, 'taketurns'), `${BASE}/${path.replace('./', '')}`);
  }
  return paths;
}

export interface Served {
  readonly port: number;
  close(): void;
}

export const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** A server on a port of its own, that gives every answer these headers. */
export async function serve(headers: Record<string, string> = ISOLATED): Promise<Served> {
  const paths = specifiers();
  const server = createServer(async ({ url = '/' }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
    const type = TYPES[path.split('.').pop() as string];
    try {
      if (type === undefined) throw new Error('nothing of this type');
      let text = await readFile(join(STAGE, path), 'utf8');
      if (path.endsWith('.js'))
        text = text.replace(
          /((?:^|\n)(?:import|export)[^'";]*|\bimport\()'([^'.][^']*)'/g,
          (whole, before, name) => (paths.has(name) ? `${before}'${paths.get(name)}'` : whole),
        );
      response.writeHead(200, { ...headers, 'Content-Type': type }).end(text);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
