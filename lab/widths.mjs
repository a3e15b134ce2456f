/**
 * Opens every page of the built site and the lab in this machine's Chromium, at the width of a phone, and fails if one
 * is wider than the screen. Lighthouse does not look at this. Without Chromium the program checks nothing.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { serve } from '@taketurns/static-server';
import { BROWSERS, launch } from './browsers.mjs';

const SITE = fileURLToPath(new URL('../build/site', import.meta.url));
const WIDTH = 390;

const chromium = BROWSERS.find(({ name }) => name === 'chrome');
if (chromium.path === undefined) {
  console.log(`skipped: no Chromium is on this machine, or ${chromium.variable} does not name it`);
  process.exit(0);
}
const server = await serve(SITE);
const browser = await launch(chromium);
const pages = readdirSync(SITE, { recursive: true }).filter((file) => file.endsWith('.html'));
const wide = [];
try {
  const page = await browser.newPage();
  await page.setViewport({ width: WIDTH, height: 844, isMobile: true });
  for (const path of pages) {
    await page.goto(`http://localhost:${server.port}/${path}`, { waitUntil: 'load' });
    const needed = await page.evaluate('document.documentElement.scrollWidth');
    if (needed > WIDTH) wide.push(`/${path}: ${needed} pixels`);
  }
} finally {
  await browser.close();
  server.close();
}
console.log(`${pages.length} pages at ${WIDTH} pixels, ${wide.length} too wide`);
if (wide.length > 0) {
  console.error(wide.join('\n'));
  process.exitCode = 1;
}
