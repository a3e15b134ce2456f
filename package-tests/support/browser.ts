/** Visits a page in Chromium, if this machine has it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@taketurns/static-server';
import puppeteer, { type Page } from 'puppeteer-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const LONGEST = 60_000;

/** The command of Chromium; undefined if there is none. The variable `CHROMIUM` may name it. */
export const chromium: string | undefined = [process.env.CHROMIUM, ...NAMES].find(
  (name) => name && spawnSync(name, ['--version']).status === 0,
);

/** A script for pages that do not report by themselves. It posts the page's output to /result whenever it changes. */
const REPORTER = `<script type="module">
  const output = document.querySelector('output');
  const tell = () => fetch('/result', { method: 'POST', body: output.textContent });
  if (output) new MutationObserver(tell).observe(output, { childList: true, characterData: true, subtree: true });
</script>`;

/** Makes a copy of the folder whose pages post their output. */
function withReporter(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'taketurns-pages-'));
  cpSync(folder, copy, { recursive: true });
  for (const name of readdirSync(copy, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.html')) continue;
    const page = join(copy, name);
    // The reporter stands before the page's own script, because that script may end at once.
    writeFileSync(page, readFileSync(page, 'utf8').replace('<script', `${REPORTER}<script`));
  }
  return copy;
}

/** Opens the page at the address in Chromium, and resolves to its result. */
async function visit(address: string, result: Promise<string>): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'taketurns-chromium-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${profile}`];
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
    // Kills the whole process group, since Chromium starts processes that write to the profile.
    process.kill(-(browser.pid as number));
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/**
 * Resolves to what the page of the folder posts to /result, or to the page's output after its first change.
 * @param headers what the server sends; without it, the headers that shared memory needs.
 */
export async function resultOf(folder: string, headers?: Record<string, string>): Promise<string> {
  let onPost: (result: string) => void = () => {};
  const result = new Promise<string>((resolve) => {
    onPost = resolve;
  });
  const pages = withReporter(folder);
  const server = await serve(pages, headers ? { onPost, headers } : { onPost });
  try {
    return await visit(`http://localhost:${server.port}/`, result);
  } finally {
    server.close();
    rmSync(pages, { recursive: true });
  }
}

/**
 * Opens the page of the folder from a server that sends no headers. Then loads the page again `reloads` times, as the
 * shift key does: past the caches and the service worker. Resolves to what the page says after each load.
 */
export async function resultsOfReloads(folder: string, reloads: number, ...flags: string[]): Promise<string[]> {
  const server = await serve(folder, { headers: {} });
  const executablePath = spawnSync('which', [chromium as string], { encoding: 'utf8' }).stdout.trim();
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...flags] });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(`http://localhost:${server.port}/`);
    const results = [await saidBy(page, errors)];
    while (results.length <= reloads) {
      const loaded = new Promise((resolve) => page.once('framenavigated', resolve));
      const session = await page.createCDPSession();
      await session.send('Page.reload', { ignoreCache: true });
      await loaded;
      results.push(await saidBy(page, errors));
    }
    return results;
  } finally {
    await browser.close();
    server.close();
  }
}

/** Resolves to the output of the page, once there is one, or to an error of the page. */
async function saidBy(page: Page, errors: string[]): Promise<string> {
  for (const end = Date.now() + LONGEST; Date.now() < end; await sleep(100)) {
    // The evaluation fails while the page is being loaded again.
    const output = await page.evaluate("document.querySelector('output').textContent").catch(() => '');
    const said = errors.shift() ?? String(output);
    if (said) return said;
  }
  return 'the page says nothing';
}
