/**
 * WebKitGTK, the engine of Safari on Linux, driven by its own WebDriver (Debian: webkit2gtk-driver, and xvfb where there
 * is no screen). Shared memory is off in WebKitGTK, however isolated the page is; an option of its JavaScript engine,
 * which the environment names, turns it on.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Missing } from './fetch.js';

const MINI_BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';
const PATIENCE_MS = 20_000;

/** A page of WebKitGTK. */
export interface WebKit {
  readonly version: string;
  goto(url: string): Promise<void>;
  /** Runs the body of a function, whose last argument is called with the result. */
  evaluate<T>(body: string, ...args: unknown[]): Promise<T>;
  close(): Promise<void>;
}

const isThere = (program: string): boolean => spawnSync('which', [program]).status === 0;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function launchWebKit(): Promise<WebKit> {
  const hasScreen = process.env.DISPLAY !== undefined || process.env.WAYLAND_DISPLAY !== undefined;
  if (!isThere('WebKitWebDriver') || !existsSync(MINI_BROWSER) || !(hasScreen || isThere('Xvfb')))
    throw new Missing('no WebKitGTK here: apt-get install webkit2gtk-driver xvfb (Debian)');
  const port = await freePort();
  const processes: ChildProcess[] = [];
  const env: NodeJS.ProcessEnv = { ...process.env, JSC_useSharedArrayBuffer: '1' };
  // The sandbox refuses to run as root, as in containers.
  if (process.getuid?.() === 0) env.WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS = '1';
  if (!hasScreen) {
    // Xvfb chooses a free number, and writes it to this file descriptor.
    const screen = spawn('Xvfb', ['-displayfd', '3'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    processes.push(screen);
    const [number] = await Promise.race([
      new Promise<[Buffer]>((resolve) =>
        (screen.stdio[3] as NodeJS.ReadableStream).once('data', (data) => resolve([data])),
      ),
      sleep(PATIENCE_MS).then(() => [undefined]),
    ]);
    if (number === undefined) throw new Error('Xvfb has not started');
    env.DISPLAY = `:${number.toString().trim()}`;
  }
  processes.push(spawn('WebKitWebDriver', [`--port=${port}`], { env, stdio: 'ignore' }));

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const { value } = (await (await fetch(`http://127.0.0.1:${port}${path}`, init)).json()) as { value: T };
    const { error, message } = (value ?? {}) as { error?: string; message?: string };
    if (error) throw new Error(`WebKitWebDriver: ${error}: ${message}`);
    return value;
  }

  const options = { binary: MINI_BROWSER, args: ['--automation'] };
  // A call runs the whole suite, whose cases have deadlines of their own.
  const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options, timeouts: { script: 3_600_000 } } };
  try {
    for (let tries = 100; ; tries--) {
      const status = await call<{ ready: boolean }>('GET', '/status').catch(() => undefined);
      if (status?.ready) break;
      if (tries === 0) throw new Error('WebKitWebDriver has not started');
      await sleep(PATIENCE_MS / 100);
    }
    const session = await call<{ sessionId: string; capabilities: { browserVersion: string } }>('POST', '/session', {
      capabilities,
    });
    const at = `/session/${session.sessionId}`;
    return {
      version: session.capabilities.browserVersion,
      goto: (url) => call('POST', `${at}/url`, { url }),
      evaluate: (script, ...args) => call('POST', `${at}/execute/async`, { script, args }),
      async close() {
        await call('DELETE', at);
        for (const child of processes.reverse()) child.kill();
      },
    };
  } catch (error) {
    for (const child of processes.reverse()) child.kill();
    throw error;
  }
}
