/** The browsers of this machine. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Found {
  readonly name: 'chrome' | 'firefox';
  readonly title: string;
  /** Undefined if the machine has none. */
  readonly path: string | undefined;
  readonly variable: string;
}

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
  firefox: [
    '/Applications/Firefox.app/Contents/MacOS/firefox',
    'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
  ],
};

function find(name: Found['name'], title: string): Found {
  const variable = `LAB_${title.toUpperCase()}`;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const places = PROGRAMS[name].flatMap((program) => folders.map((folder) => join(folder, program)));
  const path = process.env[variable] ?? [...places, ...ELSEWHERE[name]].find((place) => existsSync(place));
  return { name, title, path, variable };
}

export const BROWSERS = [find('chrome', 'Chromium'), find('firefox', 'Firefox')];
