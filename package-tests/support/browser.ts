/** A page in Chromium, if this machine has one. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };
const LONGEST = 60_000;

/** Its command; undefined if there is none. `CHROMIUM` names another. */
export const chromium: string | undefined = [process.env.CHROMIUM, ...NAMES].find(
  (name) => name && spawnSync(name, ['--version']).status === 0,
);

/** Posts the page's output to /result whenever that changes: in pages that do not themselves. */
const REPORTER = `<script type="module">
  const output = document.querySelector('output');
  const tell = () => fetch('/result', { method: 'POST', body: output.textContent });
  if (output) new MutationObserver(tell).observe(output, { childList: true, characterData: true, subtree: true });
</script>`;

/** Serves a folder with the two headers that shared memory needs; `told` gets what the page posts to /result. */
function serve(folder: string, told: (result: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        response.end();
        told(body);
      });
      return;
    }
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    try {
      const content = readFileSync(file);
      response.writeHead(200, {
        'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      });
      // Before the page's own script, which may be done at once.
      response.end(
        file.endsWith('.html') ? content.toString().replace('<script', `${REPORTER}<script`) : content,
      );
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, 'localhost', () => resolve(server)));
}

/** What the page at the address says, by the function that waits for that. */
async function visit(address: string, result: Promise<string>): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'taketurns-chromium-'));
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    `--user-data-dir=${profile}`,
  ];
  const browser: ChildProcess = spawn(chromium as string, [...flags, address], {
    stdio: 'ignore',
    detached: true,
  });
  const ended = new Promise<void>((resolve) => browser.on('exit', () => resolve()));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('the page says nothing'), LONGEST);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
    // The whole group, since it has processes of its own, which write to the profile.
    process.kill(-(browser.pid as number));
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** What the page of the folder posts to /result, or shows as its output once that has changed. */
export async function resultOf(folder: string): Promise<string> {
  let told: (result: string) => void = () => {};
  const result = new Promise<string>((resolve) => {
    told = resolve;
  });
  const server = await serve(folder, told);
  try {
    return await visit(`http://localhost:${(server.address() as AddressInfo).port}/`, result);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
