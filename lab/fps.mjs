/**
 * Counts the frames a second of the built page's main thread, scene by scene, in this machine's browsers. For each
 * scene it prints the frames of the median second and of the worst second out of `--seconds`. In Chromium it also
 * prints the share of the time in which the main thread works. `--browser chromium` and `--scene idle` choose browsers
 * and scenes; both options may be repeated.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { BROWSERS, launch } from './browsers.mjs';
import { serveLab } from './serve.mjs';

const SETTLE_MS = 2500;
const STOPPED = { timeout: 60_000, polling: 200 };

/** A scene says what is on the screen (`at`), what is clicked, and which values are chosen before the click. */
const SCENES = {
  'idle, the opening plays': { at: '#top' },
  'starvation, sleeping hold': { at: '#starvation-lab', press: '#starvation-lab .primary' },
  'starvation, computing hold': {
    at: '#starvation-lab',
    press: '#starvation-lab .primary',
    choose: 'computes',
  },
  'starvation, computing hold, 8 hogs': {
    at: '#starvation-lab',
    press: '#starvation-lab .primary',
    choose: 'computes',
    slide: ['#starvation-lab input[aria-label=hogs]', 5],
  },
  'queue live': { at: '#queue-lab', press: '#queue-lab .primary' },
  'readers and writers': { at: '#rw-lab', press: '#rw-lab .primary' },
  'a condition': { at: '#condition-lab', press: '#condition-lab .primary' },
  'taketurns/sync': { at: '#sync-lab', press: '#sync-lab .primary' },
  'queue in slow motion': { at: '#stepper-lab', press: '#stepper-lab .group button:nth-child(3)' },
  semabench: { at: '[data-bench=semaphores]', press: '[data-bench=semaphores] .primary' },
  capacitor: { at: '#capacitor-lab', press: '#capacitor-lab .primary' },
};

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    browser: { type: 'string', multiple: true },
    scene: { type: 'string', multiple: true },
  },
});
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1)
  throw new RangeError(`--seconds: a whole number from 1 on, not ${values.seconds}`);
const chosen = (list, name) => list === undefined || list.some((part) => name.toLowerCase().includes(part));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the frames in each second by the page's own animation callbacks. Also finds the longest frame. */
const count = (page) =>
  page.evaluate(
    (length) =>
      new Promise((resolve) => {
        const perSecond = Array(length).fill(0);
        let [start, last, longest] = [0, 0, 0];
        const frame = () => {
          const now = performance.now();
          if (start === 0) start = now;
          else {
            longest = Math.max(longest, now - last);
            const second = Math.floor((now - start) / 1000);
            if (second >= length) return resolve({ perSecond, longest });
            perSecond[second]++;
          }
          last = now;
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      }),
    seconds,
  );

/** Returns undefined in a browser that does not report metrics. */
async function metrics(page) {
  try {
    return await page.metrics();
  } catch {
    return undefined;
  }
}

async function measure(browser, url, { at, press, choose, slide }) {
  const page = await browser.newPage();
  try {
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(url);
    await page.waitForSelector('html[data-ready]');
    await page.$eval(at, (element) => element.scrollIntoView({ behavior: 'instant' }));
    if (choose) await page.select(`${at} select`, choose);
    if (slide)
      await page.$eval(
        slide[0],
        (input, to) => {
          input.value = String(to);
          input.dispatchEvent(new Event('input'));
        },
        slide[1],
      );
    if (press) await page.$eval(press, (button) => button.click());
    await wait(SETTLE_MS);
    const before = await metrics(page);
    const { perSecond, longest } = await count(page);
    const after = await metrics(page);
    perSecond.sort((a, b) => a - b);
    const busy = before && (after.TaskDuration - before.TaskDuration) / (after.Timestamp - before.Timestamp);
    if (press) {
      await page.$eval(press, (button) => button.click());
      await page.waitForFunction((selector) => !document.querySelector(selector).disabled, STOPPED, press);
    }
    return { median: perSecond[perSecond.length >> 1], least: perSecond[0], longest, busy };
  } finally {
    await page.close();
  }
}

const server = await serveLab();
try {
  console.log('| browser | scene | median | least | longest frame, ms | main thread busy | load |');
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const found of BROWSERS) {
    if (found.path === undefined || !chosen(values.browser, found.title)) continue;
    const browser = await launch(found);
    try {
      for (const [name, scene] of Object.entries(SCENES)) {
        if (!chosen(values.scene, name)) continue;
        const { median, least, longest, busy } = await measure(browser, `http://localhost:${server.port}/`, scene);
        const share = busy === undefined ? '' : `${(100 * busy).toFixed(0)} %`;
        const row = [found.title, name, median, least, longest.toFixed(0), share, loadavg()[0].toFixed(1)];
        console.log(`| ${row.join(' | ')} |`);
      }
    } finally {
      await browser.close();
    }
  }
} finally {
  server.close();
}
