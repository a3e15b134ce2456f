/**
 * Measures how long the victim of the lab's starvation experiment waits, at the barging semaphore and at ours, in this
 * machine's browsers. Prints each run, and the medians. The options:
 *
 * - `--seconds` is the length of a run (default 10), and `--runs` is their number (default 3).
 * - `--set hogs=1,hold=1` gives settings other than the page's own.
 * - `--browser chromium` chooses the browser.
 * - `--record` writes a part of the first run to src/opening/run.json, which the page's opening shows.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BROWSERS, launch } from './browsers.mjs';
import { serveLab } from './serve.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    runs: { type: 'string', default: '3' },
    set: { type: 'string', multiple: true, default: [''] },
    browser: { type: 'string', multiple: true },
    record: { type: 'boolean', default: false },
  },
});
const wholeNumber = (name) => {
  const n = Number(values[name]);
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`--${name}: a whole number from 1 on, not ${values[name]}`);
  return n;
};
const [seconds, runs] = [wholeNumber('seconds'), wholeNumber('runs')];
const chosen = (name) =>
  values.browser === undefined || values.browser.some((part) => name.toLowerCase().includes(part));
/** The milliseconds of a run that are recorded. */
const RECORDED_MS = 3000;
const ENABLED = { timeout: 60_000, polling: 100 };
const PRIMARY = '#starvation-lab .primary';

/** Runs the experiment once. Returns the longest wait of the victim in ms and how often it was overtaken, by side. */
async function run(browser, port, set) {
  const page = await browser.newPage();
  try {
    await page.setViewport({ width: 1280, height: 900 });
    const search = new URLSearchParams(
      set
        .split(',')
        .filter(Boolean)
        .map((one) => one.split('=')),
    ).toString();
    const query = search.replace(/(^|&)/g, '$1starvation.');
    await page.goto(`http://localhost:${port}/${set && `?${query}`}#starvation`);
    await page.waitForSelector('html[data-ready]');
    await page.evaluate(() => {
      URL.createObjectURL = (blob) => {
        globalThis.saved = blob.text();
        return '#';
      };
    });
    await page.$eval(PRIMARY, (button) => button.click());
    await page.waitForFunction((s) => document.querySelector(s).textContent === 'Stop', ENABLED, PRIMARY);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    await page.$eval(PRIMARY, (button) => button.click());
    await page.waitForFunction((s) => document.querySelector(s).textContent === 'Start', ENABLED, PRIMARY);
    await page.$eval('#starvation-lab .save', (button) => button.click());
    const told = JSON.parse(await page.evaluate(() => globalThis.saved));
    return { told, ...Object.fromEntries(['barging', 'ours'].map((side) => [side, waits(told[side])])) };
  } finally {
    await page.close();
  }
}

/**
 * The victim's longest wait, and how often it was overtaken in one wait at most. A victim that has no turn while the
 * hogs run gets one at the end of the run, when the hogs have gone.
 */
function waits(turns) {
  const own = turns.filter(([thread]) => thread === 0);
  const all = own.map(([, , arrived, admitted]) => admitted - arrived);
  const overtaken = own.map(
    ([, ticket, , admitted]) => turns.filter(([t, n, , at]) => t > 0 && n > ticket && at < admitted).length,
  );
  return { longest: Math.max(...all), others: Math.max(...overtaken), turns: own.length, of: turns.length };
}

/** Writes RECORDED_MS of both sides, from the beginning of the victim's longest wait at the barging semaphore. */
function record({ told }, version) {
  const own = told.barging.filter(([thread]) => thread === 0);
  const longest = own.sort((a, b) => b[3] - b[2] - (a[3] - a[2]))[0];
  if (longest[3] - longest[2] < RECORDED_MS) throw new Error('the victim did not wait for long enough; try again');
  const cut = (turns) => {
    const start = longest[2];
    return turns
      .filter(([, , arrived, , released]) => released > start && arrived < start + RECORDED_MS)
      .map(([thread, ticket, ...times]) => [thread, ticket, ...times.map((time) => Number((time - start).toFixed(1)))]);
  };
  const { threads, permits, hold, think, date, processors, turn } = told;
  const about = { browser: version.replace('/', ' '), processor: cpus()[0]?.model.trim(), processors, date };
  const lengths = { length: RECORDED_MS, permits, hold, think };
  const file = new URL('./src/opening/run.json', import.meta.url);
  const lines = (turns) =>
    `[\n${cut(turns)
      .map((one) => JSON.stringify(one))
      .join(',\n')}\n]`;
  const head = JSON.stringify({ ...about, ...lengths, threads, turn }).slice(0, -1);
  writeFileSync(file, `${head},"barging":${lines(told.barging)},"ours":${lines(told.ours)}}\n`);
  // As the linter of the repository wants it.
  spawnSync('npx', ['biome', 'format', '--write', fileURLToPath(file)]);
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
const server = await serveLab();
try {
  console.log(`${cpus()[0]?.model.trim()}, ${availableParallelism()} processors; ${seconds} s a run`);
  for (const found of BROWSERS) {
    if (found.path === undefined || !chosen(found.title)) continue;
    const browser = await launch(found);
    const version = await browser.version();
    try {
      for (const set of values.set) {
        const all = [];
        for (let i = 0; i < runs; i++) all.push(await run(browser, server.port, set));
        if (values.record) {
          record(all[0], version);
          values.record = false;
        }
        for (const side of ['barging', 'ours']) {
          const of = all.map((one) => one[side]);
          console.log(
            `${version}, ${set || 'as the page is set'}: ${side}: the victim’s longest wait ` +
              `${of.map(({ longest }) => (longest / 1000).toFixed(2)).join(', ')} s (median ${(median(of.map(({ longest }) => longest)) / 1000).toFixed(3)}), ` +
              `overtaken ${of.map(({ others }) => others).join(', ')}, its turns ${of.map(({ turns, of }) => `${turns} of ${of}`).join(', ')}; load ${loadavg()[0].toFixed(1)}`,
          );
        }
      }
    } finally {
      await browser.close();
    }
  }
} finally {
  server.close();
}
