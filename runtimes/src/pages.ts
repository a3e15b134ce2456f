/**
 * Checks the error that a page gets if it lacks something that the library needs. Also checks pages with just enough.
 */
import { ISOLATED, serve } from '@taketurns/static-server';
import type { Browser } from './browser.js';
import { INSECURE } from './browser.js';
import { PAGES } from './stage.js';
import type { ProbePage } from './suite/probe.js';
import type { Result } from './suite/run.js';

interface PageCase {
  readonly name: string;
  readonly headers: Record<string, string>;
  readonly host?: string;
  readonly without?: string;
  /** Parts of the outcome. */
  readonly outcome: readonly string[];
  /** Parts of the one line that the library writes to the console. If undefined, the library must write nothing. */
  readonly told?: readonly string[];
}

const COOP = 'Cross-Origin-Opener-Policy: same-origin';
const COEP = 'Cross-Origin-Embedder-Policy: require-corp';
const csp = (policy: string): Record<string, string> => ({ ...ISOLATED, 'Content-Security-Policy': policy });

const CASES: readonly PageCase[] = [
  { name: 'isolated', headers: ISOLATED, outcome: ['shared'] },
  {
    name: 'neither header',
    headers: {},
    outcome: ['Error: taketurns', 'not cross-origin isolated', COOP, COEP],
  },
  {
    name: 'one header alone',
    headers: { 'Cross-Origin-Opener-Policy': 'same-origin' },
    outcome: ['Error: taketurns', 'not cross-origin isolated', COOP, COEP],
  },
  {
    name: 'COEP credentialless',
    headers: { ...ISOLATED, 'Cross-Origin-Embedder-Policy': 'credentialless' },
    outcome: ['shared'],
  },
  {
    name: 'not a secure context',
    headers: ISOLATED,
    host: INSECURE,
    outcome: ['Error: taketurns', 'no secure context', 'https', COOP, COEP],
  },
  {
    name: 'a CSP that forbids WebAssembly',
    headers: csp("script-src 'self'"),
    outcome: ['Error: taketurns', 'Content-Security-Policy', "'wasm-unsafe-eval'", 'script-src'],
  },
  {
    name: 'the same by default-src',
    headers: csp("default-src 'self'"),
    outcome: ['Error: taketurns', 'Content-Security-Policy', "'wasm-unsafe-eval'", 'default-src'],
  },
  {
    name: 'a CSP that allows it',
    headers: csp("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:"),
    outcome: ['shared'],
  },
  {
    name: 'no Atomics.waitAsync, a CSP with worker-src blob:',
    headers: csp("script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:"),
    without: 'waitAsync',
    outcome: ['shared'],
  },
  {
    name: 'no Atomics.waitAsync, a CSP without',
    headers: csp("script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'"),
    without: 'waitAsync',
    outcome: ['shared'],
    told: ['taketurns', 'Atomics.waitAsync', 'worker-src', 'blob:'],
  },
];

export async function runPages(browser: Browser, only: string, tell: (result: Result) => void): Promise<void> {
  for (const { name, headers, host = 'localhost', without, outcome, told } of CASES) {
    const title = `page: ${name}`;
    if (!title.includes(only)) continue;
    const begun = Date.now();
    const server = await serve(PAGES, { headers });
    const page = await browser.newPage();
    const lines: string[] = [];
    page.on('console', (message) => lines.push(message.text()));
    let error: string | undefined;
    let said: string | undefined;
    try {
      await page.goto(`http://${host}:${server.port}/probe.html${without ? `?without=${without}` : ''}`);
      said = await page.evaluate(() => (globalThis as unknown as ProbePage).outcome);
      const heard = lines.filter((line) => line.startsWith('taketurns'));
      const lacking = outcome.filter((part) => !said?.includes(part));
      if (lacking.length > 0) error = `without "${lacking.join('", "')}": ${said}`;
      else if (heard.length !== (told ? 1 : 0) || told?.some((part) => !heard[0]?.includes(part)))
        error = `the console was told: ${JSON.stringify(heard)}`;
    } catch (thrown) {
      error = (thrown as Error).message;
    }
    await page.close();
    server.close();
    tell({
      name: title,
      ok: error === undefined,
      ms: Date.now() - begun,
      ...(error === undefined ? {} : { error }),
    });
  }
}
