/** Chromium and Firefox as the system has them, driven by puppeteer-core. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackage, Missing } from './fetch.js';

export type BrowserName = 'chromium' | 'firefox';

/** The part of puppeteer-core that is used here. The package is fetched when it is first needed. */
interface Puppeteer {
  launch(options: {
    browser: 'chrome' | 'firefox';
    executablePath: string;
    headless: boolean;
    args: readonly string[];
    extraPrefsFirefox: Record<string, string>;
    protocolTimeout: number;
  }): Promise<Browser>;
}

export interface Browser {
  version(): Promise<string>;
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  goto(url: string): Promise<unknown>;
  close(): Promise<void>;
  evaluate<Args extends unknown[], T>(run: (...args: Args) => T | Promise<T>, ...args: Args): Promise<T>;
  on(event: 'console', listener: (message: { text(): string; type(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
}

/** A name of this machine that browsers do not trust, as they trust localhost. */
export const INSECURE = 'insecure.test';

const PUPPETEER = '24.43.1';
const COMMANDS: Record<BrowserName, readonly string[]> = {
  chromium: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  firefox: ['firefox-esr', 'firefox'],
};
const PACKAGES: Record<BrowserName, string> = { chromium: 'chromium', firefox: 'firefox-esr' };

function find(name: BrowserName): string {
  const variable = name.toUpperCase();
  const given = process.env[variable];
  if (given && existsSync(given)) return given;
  if (given) throw new Missing(`${variable} names ${given}, which is not there`);
  for (const command of COMMANDS[name]) {
    const { status, stdout } = spawnSync('which', [command], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  throw new Missing(
    `no ${name} here: apt-get install ${PACKAGES[name]} (Debian), or name its program in the environment ` +
      `variable ${variable}`,
  );
}

export async function launch(name: BrowserName): Promise<Browser> {
  const executablePath = find(name);
  const folder = fetchPackage('puppeteer-core', PUPPETEER);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const puppeteer = (await import(pathToFileURL(join(folder, exports['.'].import)).href)) as {
    default: Puppeteer;
  };
  return puppeteer.default.launch({
    browser: name === 'chromium' ? 'chrome' : 'firefox',
    executablePath,
    headless: true,
    args: name === 'chromium' ? chromiumArgs() : [],
    // One call runs the whole suite, whose cases have deadlines of their own.
    protocolTimeout: 0,
    extraPrefsFirefox: { 'network.dns.localDomains': INSECURE },
  });
}

function chromiumArgs(): string[] {
  const args = [`--host-resolver-rules=MAP ${INSECURE} 127.0.0.1`];
  // Chromium's sandbox refuses to run as root, as in containers.
  return process.getuid?.() === 0 ? [...args, '--no-sandbox'] : args;
}
