/** The server answers each request, even a malformed one, and keeps serving. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ISOLATED, type Served, serve } from '../server.js';

const parent = mkdtempSync(join(tmpdir(), 'taketurns-static-server-'));
const folder = join(parent, 'pages');
mkdirSync(folder);
writeFileSync(join(folder, 'index.html'), '<title>page</title>');
writeFileSync(join(folder, 'main.js'), 'let number = 1;');
writeFileSync(join(parent, 'secret.txt'), 'not for browsers');

let server: Served;
const posted: string[] = [];
beforeAll(async () => {
  server = await serve(folder, { onPost: (body) => posted.push(body) });
});
afterAll(() => {
  server.close();
  rmSync(parent, { recursive: true });
});

const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, init);

/** The status of a request for a path that `fetch` would normalise. */
const statusOf = (path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: server.port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });

describe('static server', () => {
  it('serves the files of the folder, with their types and the headers for shared memory', async () => {
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/main.js?x=1', 'text/javascript'],
    ] as const) {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toContain(type);
      expect(response.headers.get('Cache-Control')).toBe('no-cache');
      for (const [name, value] of Object.entries(ISOLATED)) expect(response.headers.get(name)).toBe(value);
    }
  });

  it('answers a path that is not there with 404, and the same headers', async () => {
    const response = await get('/none.js');
    expect(response.status).toBe(404);
    expect(response.headers.get('Cross-Origin-Embedder-Policy')).toBe('require-corp');
  });

  it.each(['/%', '/%00', '/%ff', '//', '/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt'])(
    'survives GET %s and reveals nothing',
    async (path) => {
      expect([200, 400, 404]).toContain(await statusOf(path));
      if (path !== '//') expect(await statusOf(path)).not.toBe(200);
      expect((await get('/')).status).toBe(200);
    },
  );

  it('survives a range that ends before it begins', async () => {
    expect((await get('/main.js', { headers: { Range: 'bytes=5-2' } })).status).toBe(200);
    expect((await get('/')).status).toBe(200);
  });

  it('passes on what is posted', async () => {
    await get('/result', { method: 'POST', body: 'counted' });
    expect(posted).toEqual(['counted']);
  });

  it('takes the next port where the first is in use', async () => {
    const next = await serve(folder, { port: server.port, tries: 20 });
    expect(next.port).toBeGreaterThan(server.port);
    next.close();
    await expect(serve(folder, { port: server.port })).rejects.toThrow('EADDRINUSE');
  });

  it('sends other headers, or none, if the options say so', async () => {
    const plain = await serve(folder, { headers: {} });
    const response = await fetch(`http://127.0.0.1:${plain.port}/`);
    expect(response.headers.get('Cross-Origin-Embedder-Policy')).toBeNull();
    plain.close();
  });
});
