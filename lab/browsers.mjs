/** The browsers of this machine. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import puppeteer from 'puppeteer-core';

const PROGRAMS = {
  chrome: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  firefox: ['firefox', 'firefox-esr'],
};
const ELSEWHERE = {
  chrome: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  ],
  firefox: ['/Applications/Firefox.app/Contents/MacOS/firefox', 'C:\\Program Files\\Mozilla Firefox\\firefox.exe'],
};

/** Finds a browser. `path` is undefined if the machine has none. The environment `variable` may name the path. */
function find(name, title) {
  const variable = `LAB_${title.toUpperCase()}`;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const places = PROGRAMS[name].flatMap((program) => folders.map((folder) => join(folder, program)));
  const path = process.env[variable] ?? [...places, ...ELSEWHERE[name]].find((place) => existsSync(place));
  return { name, title, path, variable };
}

export const BROWSERS = [find('chrome', 'Chromium'), find('firefox', 'Firefox')];

export function launch({ name, path }) {
  return puppeteer.launch({
    browser: name,
    executablePath: path,
    headless: true,
    // The sandbox refuses to run as root, and programs in containers often run as root.
    args: name === 'chrome' && process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}
