/**
 * Runs Lighthouse on the built lab, in this machine's Chromium, or with `--site` on five pages of the built site. It
 * scores accessibility and best practices, in the light and the dark theme, at the width of a phone and of a desktop.
 * The program fails if a score is below 95 and says what Lighthouse has found. Without Chromium the program checks
 * nothing. Its first run fetches Lighthouse, because no other command needs Lighthouse.
 */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serve } from '@taketurns/static-server';
import { fetchPackage } from '../runtimes/dist/fetch.js';
import { BROWSERS, launch } from './browsers.mjs';
import { serveLab } from './serve.mjs';

const LEAST = 95;
const CATEGORIES = ['accessibility', 'best-practices'];
const SIZES = [
  { width: 390, height: 844, mobile: true, deviceScaleFactor: 2, disabled: false },
  { width: 1280, height: 900, mobile: false, deviceScaleFactor: 1, disabled: false },
];

const chromium = BROWSERS.find(({ name }) => name === 'chrome');
if (chromium.path === undefined) {
  console.log(`skipped: no Chromium is on this machine, or ${chromium.variable} does not name it`);
  process.exit(0);
}

const entry = join(fetchPackage('lighthouse', '12.8.2'), 'core/index.js');
const { default: lighthouse } = await import(pathToFileURL(entry).href);

/** The failed audits of a category: the name of each, and the places on the page that it complains of. */
function findings({ categories, audits }, category) {
  return categories[category].auditRefs
    .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 1)
    .map(({ id }) => {
      const places = (audits[id].details?.items ?? []).map(
        (item) => item.node?.snippet ?? item.description ?? item.url,
      );
      return `  ${audits[id].title}: ${places.slice(0, 5).join(' ')}`;
    });
}

const ofSite = process.argv.includes('--site');
const PAGES = ofSite ? ['', 'docs/choosing', 'docs/mutex', 'docs/guides/from-web-locks', 'processes/'] : [''];
const server = ofSite ? await serve(fileURLToPath(new URL('../build/site', import.meta.url))) : await serveLab();
const browser = await launch(chromium);
const low = [];
try {
  console.log(`Lighthouse, ${await browser.version()}`);
  console.log(`| width | theme | page | ${CATEGORIES.join(' | ')} |\n| ---: | --- | --- | ---: | ---: |`);
  for (const screenEmulation of SIZES) {
    for (const [path, theme] of PAGES.flatMap((path) => ['light', 'dark'].map((theme) => [path, theme]))) {
      const page = await browser.newPage();
      // The lab is told its theme by the address, and the site follows the system.
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      const flags = {
        onlyCategories: CATEGORIES,
        formFactor: screenEmulation.mobile ? 'mobile' : 'desktop',
        screenEmulation,
        throttlingMethod: 'provided',
        logLevel: 'error',
      };
      const { lhr } = await lighthouse(
        `http://localhost:${server.port}/${path}?theme=${theme}`,
        flags,
        undefined,
        page,
      );
      const scores = CATEGORIES.map((category) => Math.round(100 * (lhr.categories[category].score ?? 0)));
      console.log(`| ${screenEmulation.width} | ${theme} | /${path} | ${scores.join(' | ')} |`);
      for (const [i, score] of scores.entries()) {
        if (score < 100) console.log(findings(lhr, CATEGORIES[i]).join('\n'));
        if (score < LEAST) low.push(`/${path}: ${CATEGORIES[i]}, ${screenEmulation.width} pixels, ${theme}: ${score}`);
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
  server.close();
}
if (low.length > 0) {
  console.error(`below ${LEAST}: ${low.join('; ')}`);
  process.exitCode = 1;
}
