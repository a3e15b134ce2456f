/** Clicks through the built page in each browser of this machine, and looks at what it shows. */
import type { Served } from '@taketurns/static-server';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BROWSERS, launch } from '../browsers.mjs';
import { serveLab } from '../serve.mjs';

/** Long enough for a busy machine: nothing here depends on how long a thing takes. */
const PATIENCE = { timeout: 60_000, polling: 100 };

const address = ({ port }: Served): string => `http://localhost:${port}/`;

async function open(browser: Browser, url: string, errors: string[]): Promise<Page> {
  const page = await browser.newPage();
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(url);
  await page.waitForSelector('html[data-ready]');
  return page;
}

const text = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, (element) => element.textContent ?? '');

/** What a figure shows, as a number. */
const figure = async (page: Page, within: string, name: string): Promise<number> =>
  Number((await text(page, `${within} [data-figure="${name}"]`)).replaceAll(',', ''));

/** Scrolls to the button with this text and clicks it. Panels off the screen do nothing. */
async function press(page: Page, within: string, label: string): Promise<void> {
  await page.evaluate(
    (selector, wanted) => {
      const buttons = [...document.querySelectorAll<HTMLButtonElement>(`${selector} button`)];
      const button = buttons.find(({ textContent }) => textContent === wanted);
      if (!button) throw new Error(`no button ${wanted} in ${selector}`);
      if (button.disabled) throw new Error(`the button ${wanted} in ${selector} is disabled`);
      button.scrollIntoView({ block: 'center', behavior: 'instant' });
      button.click();
    },
    within,
    label,
  );
}

const hasButton = (page: Page, within: string, label: string): Promise<unknown> =>
  page.waitForFunction(
    (selector, wanted) =>
      [...document.querySelectorAll<HTMLButtonElement>(`${selector} button`)].some(
        ({ textContent, disabled }) => textContent === wanted && !disabled,
      ),
    PATIENCE,
    within,
    label,
  );

/** Puts the slider whose label begins with this text to a position. */
async function slide(page: Page, within: string, label: string, position: number): Promise<void> {
  await page.evaluate(
    (selector, wanted, to) => {
      const inputs = [...document.querySelectorAll<HTMLInputElement>(`${selector} input[type=range]`)];
      const input = inputs.find((one) => one.getAttribute('aria-label')?.startsWith(wanted));
      if (!input) throw new Error(`no slider ${wanted} in ${selector}`);
      input.value = String(to);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    },
    within,
    label,
    position,
  );
}

/** Catches downloads from now on. Returns a function that tells the texts of the files, by their names. */
async function catchDownloads(page: Page): Promise<() => Promise<Record<string, string>>> {
  await page.evaluate(() => {
    const caught: [string, Promise<string>][] = [];
    const blobs = new Map<string, Blob>();
    const create = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob: Blob) => {
      const url = create(blob);
      blobs.set(url, blob);
      return url;
    };
    HTMLAnchorElement.prototype.click = function () {
      caught.push([this.download, (blobs.get(this.href) as Blob).text()]);
    };
    Object.assign(window, { caught });
  });
  return () =>
    page.evaluate(async () => {
      const { caught } = window as unknown as { caught: [string, Promise<string>][] };
      return Object.fromEntries(await Promise.all(caught.map(async ([name, body]) => [name, await body])));
    });
}

/** What the page tells of each object of `taketurns/sync` with four threads, sooner or later. */
const STATES: Record<string, RegExp[]> = {
  Barrier: [/^1 of 4 have arrived\.$/, /^3 of 4 have arrived\.$/],
  Condition: [/^[0-3] of 3 places are full; W[0-3] has the mutex\.$/, /^[1-3] of 3 .* the mutex is free\.$/],
  Event: [/^It is set\.$/, /^It is not set\.$/],
  Latch: [/^1[0-2] of 12 tasks are left\.$/, /^[1-6] of 12 tasks are left\.$/],
  WaitGroup: [/^No task is pending\.$/, /^Pending: [2-9] tasks, [0-6] not begun\.$/],
  Once: [/^Nobody runs it yet\.$/, /^W[0-3] runs it\.$/, /^It has been done\.$/],
  RwLock: [/^W0 writes\.$/, /^W[1-3], W[1-3].* read/],
};
const WAITERS: Record<string, RegExp> = {
  Condition: /^Who waits: W\d \((notEmpty|notFull|mutex)\) for [\d.]+/,
  RwLock: /^Who waits: W\d \((for readers to leave|to read|to write)\) for [\d.]+/,
};

for (const found of BROWSERS) suite(found);

function suite(found: (typeof BROWSERS)[number]): void {
  const { title, path, variable } = found;
  const why = `no ${title} is on this machine, or ${variable} does not name it`;
  describe.skipIf(path === undefined)(path === undefined ? `${title}: skipped, ${why}` : title, () => {
    let server: Served;
    let browser: Browser;
    let page: Page;
    const errors: string[] = [];

    beforeAll(async () => {
      server = await serveLab();
      browser = await launch(found);
      page = await open(browser, address(server), errors);
    });
    afterAll(async () => {
      await browser?.close();
      server?.close();
    });
    afterEach(() => {
      expect(errors.splice(0)).toEqual([]);
    });

    test('the page is isolated, and shows its sections and its frames a second', async () => {
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
      expect(await page.$eval('#isolation', (notice) => (notice as HTMLElement).hidden)).toBe(true);
      const headings = await page.$$eval('h2', (all) => all.map(({ textContent }) => textContent));
      expect(headings).toEqual([
        '1Starvation',
        '2The queue',
        '3Waiting together',
        '4It hangs. What now?',
        '5A channel',
        '6Benchmarks',
        '7The capacitor',
      ]);
      await page.$eval('footer', (element) => element.scrollIntoView({ behavior: 'instant' }));
      await page.waitForFunction(() => /^\d+ fps$/.test(document.querySelector('#fps')?.textContent ?? ''), PATIENCE);
    });

    test('starvation: the victim is overtaken at the barging semaphore, and never at ours', async () => {
      const lab = '#starvation-lab';
      await press(page, lab, 'Start');
      await page.waitForFunction(
        () =>
          // The victim starved for seconds, while the hogs had hundreds of turns.
          Number(document.querySelector<HTMLElement>('.barging [data-figure=most]')?.dataset.value) > 200 &&
          /^[2-9].*\d s$/.test(document.querySelector('.barging [data-figure=now]')?.textContent ?? '') &&
          /^[1-9]/.test(document.querySelector('.ours [data-figure=rate]')?.textContent ?? ''),
        PATIENCE,
      );
      const overtook = (side: string): Promise<(string | null)[]> =>
        page.$$eval(`.${side} .lane:not(.heads, .victim) .overtook`, (cells) => cells.map((cell) => cell.textContent));
      expect(await overtook('barging')).toHaveLength(4);
      expect(await overtook('barging')).toContainEqual(expect.stringMatching(/^[1-9]/));
      const ours = await page.$eval('.ours [data-figure=most]', (cell) => (cell as HTMLElement).dataset.value);
      // At our semaphore, no later request is admitted before a victim that takes all permits.
      expect(ours).toBe('0');
      expect(await overtook('ours')).toEqual(['0', '0', '0', '0']);
      expect(await text(page, '.ours [data-figure=longest]')).toMatch(/^\d[\d.]* (µs|ms|s)$/);
      // Each side has a line, and the barging side has an area below its line.
      const paths = await page.$$eval(`${lab} .chart svg > path`, (all) => all.map((one) => one.getAttribute('d')));
      expect(paths).toHaveLength(3);
      for (const path of paths) expect(path).toMatch(/^M[\d.,]+L/);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      const downloads = await catchDownloads(page);
      await press(page, lab, 'Download this run');
      const run = JSON.parse((await downloads())['starvation.json'] as string);
      expect(run).toMatchObject({ permits: 3, hold: 20, threads: ['victim', 'hog 1', 'hog 2', 'hog 3', 'hog 4'] });
      // Nobody with a later ticket was admitted while the victim waited.
      type Turn = [thread: number, ticket: number, arrived: number, admitted: number, released: number];
      for (const [victim, ticket, arrived, admitted] of run.ours as Turn[]) {
        if (victim !== 0) continue;
        const past = (run.ours as Turn[]).filter(([, other, , at]) => other > ticket && at > arrived && at < admitted);
        expect(past).toEqual([]);
      }
    });

    test('starvation: its settings change while it runs', async () => {
      const lab = '#starvation-lab';
      await slide(page, lab, 'hogs', 1);
      await page.select(`${lab} select`, 'computes');
      await press(page, lab, 'Start');
      await page.waitForFunction(() => document.querySelectorAll('.barging .lane').length === 4, PATIENCE);
      await hasButton(page, lab, 'Stop');
      await slide(page, lab, 'hogs', 0);
      await page.waitForFunction(() => document.querySelectorAll('.barging .lane').length === 3, PATIENCE);
      await hasButton(page, lab, 'Stop');
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
    });

    test('the opening: plays a recorded run, pauses, and shows a moment by its address', async () => {
      const lab = '#opening-lab';
      const told = (side: string): Promise<string> => text(page, `[data-race=${side}] .tally`);
      await page.$eval('#top', (element) => element.scrollIntoView({ behavior: 'instant' }));
      if ((await text(page, `${lab} .primary`)) === 'Play') await press(page, lab, 'Play');
      const before = await told('barging');
      await page.waitForFunction(
        (was) => document.querySelector('[data-race=barging] .tally')?.textContent !== was,
        PATIENCE,
        before,
      );
      await press(page, lab, 'Pause');
      await slide(page, lab, 'moment', 2500);
      const link = await page.$eval(`${lab} .permalink`, (a) => {
        a.dispatchEvent(new Event('focus'));
        return (a as HTMLAnchorElement).href;
      });
      expect(link).toMatch(
        /opening\.slower=20&opening\.at=2\.50#opening$|opening\.at=2\.50&opening\.slower=20#opening$/,
      );
      // At the barging semaphore the victim waits for all of the recording, and at ours it is never overtaken.
      const other = await browser.newPage();
      try {
        await other.goto(link);
        await other.waitForSelector('html[data-ready]');
        expect(await text(other, `${lab} .primary`)).toBe('Play');
        expect(await text(other, '[data-race=barging] .tally')).toBe(await told('barging'));
        expect(await text(other, '[data-race=ours] .tally')).toBe(await told('ours'));
      } finally {
        await other.close();
      }
      expect(await told('barging')).toMatch(/^the big job: 2\.50 s longest wait[1-9]\d\d times overtaken0 turns had$/);
      expect(await told('ours')).toMatch(/^the big job: [\d.]+ ms longest wait0 times overtaken[1-9]\d turns had$/);
    });

    test('it hangs: the page names the deadlock, and one thread gives way', async () => {
      const lab = '#hang-lab';
      const says = (pattern: RegExp): Promise<unknown> =>
        page.waitForFunction(
          (wanted) =>
            new RegExp(wanted).test(document.querySelector('#hang-lab [data-figure=verdict]')?.textContent ?? ''),
          PATIENCE,
          pattern.source,
        );
      await slide(page, lab, 'works', 0);
      await press(page, lab, 'Start');
      await says(/^deadlock: .*"W0"\) holds Mutex "accounts" and waits for Mutex "audit"/);
      await says(/"W1"\) holds Mutex "audit" and waits for Mutex "accounts"/);
      const stuck = (selector: string): Promise<string[]> =>
        page.$$eval(`#hang-lab ${selector}`, (all) => all.map((one) => one.getAttribute('class') ?? ''));
      expect((await stuck('line.stuck')).sort()).toEqual(['holds stuck', 'holds stuck', 'waits stuck', 'waits stuck']);
      expect(await stuck('g.stuck')).toHaveLength(4);
      expect(await text(page, `${lab} svg title`)).toContain('W0 holds accounts; W0 waits for audit');
      await page.waitForFunction(
        () => document.querySelector('#hang-lab .guide .now')?.textContent?.startsWith('One of them must give way'),
        PATIENCE,
      );
      const turns = await figure(page, lab, 'turns');
      await press(page, lab, 'Let one give way');
      await page.waitForFunction(
        (before) => Number(document.querySelector('#hang-lab [data-figure=turns]')?.textContent) > before,
        PATIENCE,
        turns,
      );
      await says(/^deadlock: /);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      expect(await text(page, `${lab} .panel [role=status]`)).toBe('Nothing runs.');
    });

    test('it hangs: with deadlocks that throw, and with one order, all go on', async () => {
      const lab = '#hang-lab';
      const turnsUntil = (least: number): Promise<unknown> =>
        page.waitForFunction(
          (wanted) => Number(document.querySelector('#hang-lab [data-figure=turns]')?.textContent) >= wanted,
          PATIENCE,
          least,
        );
      await slide(page, lab, 'works', 0);
      await page.select(`${lab} .control:nth-of-type(3) select`, 'throw');
      await press(page, lab, 'Start');
      await page.waitForFunction(
        () => document.querySelector('#hang-lab [data-figure=verdict]')?.textContent?.startsWith('deadlock: '),
        PATIENCE,
      );
      await turnsUntil(1);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      await page.select(`${lab} .control:nth-of-type(3) select`, 'ignore');
      await page.select(`${lab} .control:nth-of-type(2) select`, 'same');
      await slide(page, lab, 'threads', 1);
      await press(page, lab, 'Start');
      await turnsUntil(20);
      expect(await text(page, `${lab} .panel [role=status]`)).toBe('No deadlock.');
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      await page.select(`${lab} .control:nth-of-type(2) select`, 'crossed');
      await slide(page, lab, 'threads', 0);
    });

    test('a channel: the same threads send by it and by postMessage, in turn', async () => {
      const lab = '#channel-lab';
      const says = (name: string, pattern: RegExp): Promise<unknown> =>
        page.waitForFunction(
          (selector, wanted) => new RegExp(wanted).test(document.querySelector(selector)?.textContent ?? ''),
          PATIENCE,
          `${lab} [data-figure=${name}]`,
          pattern.source,
        );
      await press(page, lab, 'Start');
      await says('state', /^Now by the channel: \d+ of 16 places are full, \d senders? and \d receivers? in line\.$/);
      await says('channel', /^[1-9]/);
      await says('state', /^Now by postMessage/);
      await says('post', /^[1-9]/);
      await says('times', /^\d+\.\d$/);
      const lines = await page.$$eval(`${lab} .ends li`, (all) => all.map(({ textContent }) => textContent));
      expect(lines).toHaveLength(4);
      for (const [i, line] of lines.entries())
        expect(line).toMatch(i < 2 ? /^S\d (waits|works), [1-9].* sent$/ : /^R\d (waits|works), [1-9].* received$/);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      expect(await text(page, `${lab} [data-figure=state]`)).toBe('Nothing runs.');
    });

    test('a channel: whose receivers are slow fills, and its senders wait', async () => {
      const lab = '#channel-lab';
      await slide(page, lab, 'receivers', 0);
      await slide(page, lab, 'capacity', 1);
      await slide(page, lab, 'to use one takes', 5);
      await press(page, lab, 'Start');
      await page.waitForFunction(
        (selector) =>
          document.querySelectorAll(`${selector} .places .full`).length === 4 &&
          document.querySelectorAll(`${selector} .ends li.waits`).length === 2,
        PATIENCE,
        lab,
      );
      expect(await page.$$(`${lab} .places li`)).toHaveLength(4);
      expect(await page.$$(`${lab} .ends li`)).toHaveLength(3);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      await slide(page, lab, 'receivers', 1);
      await slide(page, lab, 'capacity', 3);
      await slide(page, lab, 'to use one takes', 0);
    });

    test('settings stand in the address, and a link to a panel brings them back', async () => {
      await slide(page, '#rw-lab', 'readers', 1);
      await page.select('#sync-lab select', 'Latch');
      expect(page.url()).toMatch(/readers\.readers=2/);
      expect(page.url()).toMatch(/sync\.object=Latch/);
      const link = await page.$eval('#rw-lab .permalink', (a) => {
        a.dispatchEvent(new Event('focus'));
        return (a as HTMLAnchorElement).href;
      });
      expect(link).toMatch(/\?readers\.readers=2&readers\.writers=2&readers\.work=100#readers$/);
      const other = await open(
        browser,
        `${link.replace('#', '&theme=dark&semabench.rows=Semaphore,js-barging&starvation.hogs=99#')}`,
        errors,
      );
      try {
        expect(await text(other, '#rw-lab .control output')).toBe('2');
        expect(await other.$$('#rw-lab .gantt-row')).toHaveLength(4);
        expect(await other.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
        const rows = await other.$$eval('[data-bench=semaphores] fieldset:last-child .tick', (labels) =>
          labels.filter((label) => label.querySelector('input')?.checked).map(({ textContent }) => textContent),
        );
        expect(rows).toEqual(['Semaphore', 'js-barging']);
        // The page ignores what is no value of the slider.
        expect(await other.$$('.barging .lane:not(.heads)')).toHaveLength(5);
      } finally {
        await other.close();
      }
      await slide(page, '#rw-lab', 'readers', 3);
      await page.select('#sync-lab select', 'Barrier');
      expect(page.url()).not.toMatch(/readers|sync/);
    });

    test('every setting stands in the address, and comes back by it', async () => {
      const controls = (of: Page): Promise<string[]> =>
        of.$$eval('main :is(input, select)', (all) =>
          all.map((one) => {
            const { type, checked, value } = one as HTMLInputElement;
            return type === 'checkbox' ? String(checked) : value;
          }),
        );
      const other = await open(browser, address(server), errors);
      try {
        // While the opening is paused, its moment does not change by itself.
        await press(other, '#opening-lab', 'Pause');
        const before = await controls(other);
        await other.$$eval('main :is(input, select)', (all) => {
          for (const one of all as HTMLInputElement[]) {
            const list = one as unknown as HTMLSelectElement;
            if (one.type === 'checkbox') one.checked = !one.checked;
            else if (one.type === 'range') one.value = one.value === one.max ? one.min : one.max;
            else list.selectedIndex = list.options.length - 1;
            for (const type of ['input', 'change']) one.dispatchEvent(new Event(type, { bubbles: true }));
          }
        });
        const changed = await controls(other);
        for (const [i, value] of changed.entries()) expect(value, `control ${i}`).not.toBe(before[i]);
        const again = await open(browser, other.url(), errors);
        expect(await controls(again)).toEqual(changed);
        expect(again.url()).toBe(other.url());
        await again.close();
      } finally {
        await other.close();
      }
    });

    test('the install line is at hand', async () => {
      expect(await text(page, '.install')).toMatch(/npm install taketurns$/);
    });

    test('readers and writers: phases, in which readers read together and a writer alone', async () => {
      const lab = '#rw-lab';
      await slide(page, lab, 'works', 1);
      await press(page, lab, 'Start');
      const seen = (figure: string, pattern: RegExp): Promise<unknown> =>
        page.waitForFunction(
          (selector, wanted) => new RegExp(wanted).test(document.querySelector(selector)?.textContent ?? ''),
          { ...PATIENCE, polling: 'raf' },
          `${lab} [data-figure=${figure}]`,
          pattern.source,
        );
      await seen('state', /^W[01] writes\.$/);
      await seen('state', /^W[2-5], W[2-5].* read/);
      await seen('together', /^[2-4]$/);
      await seen('sections', /^\d\d/);
      await seen('reader', /^\d/);
      await page.waitForFunction(
        () =>
          [...document.querySelectorAll('#rw-lab .gantt-row')].every((row) =>
            /^M/.test(row.querySelector('.holds')?.getAttribute('d') ?? ''),
          ),
        PATIENCE,
      );
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      expect(await text(page, `${lab} .status`)).toBe('');
    });

    test('a condition: those that are notified together go on in the order in which they began to wait', async () => {
      const lab = '#condition-lab';
      await slide(page, lab, 'has the mutex', 1);
      await press(page, lab, 'Start');
      const figures = (): Promise<string[]> =>
        page.$$eval(`${lab} dd`, (all) => all.map(({ textContent }) => textContent ?? ''));
      for (let round = 0; round < 3; ) {
        await page.waitForFunction(
          (was) => {
            const [rounds = '0', began = ''] = [...document.querySelectorAll('#condition-lab dd')].map(
              (dd) => dd.textContent,
            );
            return Number(rounds) > was && began.length > 2;
          },
          PATIENCE,
          round,
        );
        const [rounds, began, went] = await figures();
        round = Number(rounds);
        expect(began?.split(' ').sort()).toEqual(['W1', 'W2', 'W3', 'W4', 'W5']);
        expect(went).toBe(began);
      }
      await page.waitForFunction(() => document.querySelectorAll('#condition-lab .line li').length > 1, PATIENCE);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      expect(await text(page, `${lab} .status`)).toBe('');
    });

    test('the queue: stepped by keyboard, a waiter takes a ticket, parks in its bucket, and is woken', async () => {
      const lab = '#stepper-lab';
      await page.focus(`${lab} .primary`);
      const step = async (thread: number, until: () => Promise<boolean>): Promise<void> => {
        for (let i = 0; i < 60; i++) {
          if (await until()) return;
          await page.keyboard.press(`Digit${thread}`);
        }
        throw new Error(`thread ${thread} did not get there in 60 steps`);
      };
      const state = (thread: number) => text(page, `${lab} [data-thread="${thread}"] h4`);
      expect(await text(page, `${lab} [data-word=ticket]`)).toBe('0');
      await step(0, async () => /holds 1 permit/.test(await state(0)));
      expect(await text(page, `${lab} [data-word=ticket]`)).toBe('1');
      await step(1, async () => /sleeps on e\d/.test(await state(1)));
      expect(await text(page, `${lab} [data-word=ticket]`)).toBe('2');
      expect(await page.$$eval(`${lab} .cell.of`, (cells) => cells.map((cell) => cell.textContent))).toEqual(['e1']);
      expect(await text(page, `${lab} .tickets .waits`)).toBe('1T1 waits');
      expect(
        await page.$$eval(`${lab} .elements tbody tr`, (rows) => rows.map((row) => row.textContent)),
      ).toContainEqual(expect.stringMatching(/^e1T1waiting1bucket \d, cell 0/));
      await step(
        0,
        async () => /runs|holds/.test(await state(1)) && (await text(page, `${lab} [data-word=grant]`)) === '2',
      );
      await step(1, async () => /holds 1 permit/.test(await state(1)));
      const steps = await figure(page, lab, 'steps');
      await page.keyboard.press('ArrowLeft');
      expect(await figure(page, lab, 'steps')).toBe(steps - 1);
      expect(await state(1)).not.toMatch(/holds/);
      await page.keyboard.press('ArrowRight');
      expect(await figure(page, lab, 'steps')).toBe(steps);
      expect(await page.$$eval(`${lab} .log li`, (lines) => lines.length)).toBe(steps);
    });

    test('the queue: every scenario comes to its end, and no promise is broken', async () => {
      const lab = '#stepper-lab';
      const scenarios = await page.$$eval(`${lab} select option`, (options) =>
        options.map((option) => (option as HTMLOptionElement).value),
      );
      expect(scenarios.length).toBeGreaterThanOrEqual(6);
      for (const scenario of scenarios) {
        await page.select(`${lab} select`, scenario);
        const [collisions, overflown] = await page.evaluate((selector) => {
          const next = document.querySelector<HTMLButtonElement>(`${selector} .primary`) as HTMLButtonElement;
          let overflown = 0;
          for (let i = 0; i < 2000 && !next.disabled; i++) {
            next.click();
            const rows = [...document.querySelectorAll(`${selector} .bucket`)];
            if (rows.some((row) => /overflow/.test(row.textContent ?? '') && row.querySelector('.cell.of')))
              overflown++;
          }
          return [Number(document.querySelector(`${selector} [data-figure=collisions]`)?.textContent), overflown];
        }, lab);
        expect(await text(page, `${lab} .said`), scenario).toMatch(/^The end, after \d+ steps/);
        if (['collisions', 'overflow'].includes(scenario)) expect(collisions, scenario).toBeGreaterThan(0);
        if (scenario === 'overflow') expect(overflown).toBeGreaterThan(0);
      }
    });

    test('the queue: a waiter cancels, and leaves a tombstone', async () => {
      const lab = '#stepper-lab';
      await page.select(`${lab} select`, 'cancel');
      const until = (thread: number, pattern: string): Promise<void> =>
        page.evaluate(
          (selector, t, wanted) => {
            const card = document.querySelector(`${selector} [data-thread="${t}"]`) as HTMLElement;
            for (let i = 0; i < 200 && !new RegExp(wanted).test(card.textContent ?? ''); i++)
              card.querySelector<HTMLButtonElement>('button.step')?.click();
          },
          lab,
          thread,
          pattern,
        );
      await until(0, 'holds 1 permit');
      await until(1, '^T1sleeps on');
      await until(2, '^T2sleeps on');
      await press(page, `${lab} [data-thread="1"]`, 'Time runs out');
      await until(1, 'has come to its end');
      expect(await figure(page, lab, 'timeouts')).toBe(1);
      expect(await text(page, `${lab} .tickets .cancelled`)).toBe('1T1 cancelled');
    });

    test('the queue: an owner is killed, and whoever waits moves up', async () => {
      const lab = '#stepper-lab';
      await page.select(`${lab} select`, 'death');
      await page.evaluate((selector) => {
        const card = document.querySelector(`${selector} [data-thread="0"]`) as HTMLElement;
        for (let i = 0; i < 100; i++) {
          const kill = card.querySelector<HTMLButtonElement>('button.kill');
          if (/holds 1 permit/.test(card.textContent ?? '') && kill) return kill.click();
          card.querySelector<HTMLButtonElement>('button.step')?.click();
        }
      }, lab);
      expect(await text(page, `${lab} [data-thread="0"] h4`)).toBe('T0is dead');
      await page.evaluate((selector) => {
        const next = document.querySelector<HTMLButtonElement>(`${selector} .primary`) as HTMLButtonElement;
        for (let i = 0; i < 2000 && !next.disabled; i++) next.click();
      }, lab);
      expect(await text(page, `${lab} .said`)).toMatch(/^The end/);
    });

    test('the queue: in slow motion it plays by itself', async () => {
      const lab = '#stepper-lab';
      await page.select(`${lab} select`, 'turns');
      await slide(page, lab, 'slow motion', 5);
      await press(page, lab, 'Play');
      await page.waitForFunction(
        () => Number(document.querySelector('#stepper-lab [data-figure=steps]')?.textContent) > 10,
        PATIENCE,
      );
      await press(page, lab, 'Pause');
    });

    test('the live queue: tickets are granted, waiters park, collide and cancel', async () => {
      const lab = '#queue-lab';
      await page.select(`${lab} select`, '1');
      await slide(page, lab, 'buckets', 0);
      await slide(page, lab, 'threads', 4);
      await press(page, lab, 'Start');
      const seen = (): Promise<unknown> =>
        page.waitForFunction(
          () => {
            const number = (name: string) =>
              Number(document.querySelector(`#queue-lab [data-figure=${name}]`)?.textContent?.replaceAll(',', ''));
            return (
              number('ticket') > 100 &&
              number('grant') > 100 &&
              number('collisions') > 0 &&
              number('timeouts') > 0 &&
              document.querySelector('#queue-lab .cell.of') !== null &&
              /ticket [\d,]+, on e\d+, in bucket 0, cell \d/.test(
                document.querySelector('#queue-lab .beds')?.textContent ?? '',
              )
            );
          },
          { ...PATIENCE, polling: 'raf' },
        );
      await seen();
      expect((await page.$$(`${lab} .bucket`)).length).toBeGreaterThanOrEqual(1);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
    });

    test('what is off the screen is not looked at, and again once it is back', async () => {
      const lab = '#queue-lab';
      await press(page, lab, 'Start');
      const changes = (from: string): Promise<unknown> =>
        page.waitForFunction(
          (was) => document.querySelector('#queue-lab [data-figure=grant]')?.textContent !== was,
          PATIENCE,
          from,
        );
      const grant = (): Promise<string> => text(page, `${lab} [data-figure=grant]`);
      const scroll = (to: string): Promise<void> =>
        page.$eval(to, (element) => element.scrollIntoView({ behavior: 'instant' }));
      await changes(await grant());
      await scroll('footer');
      // Between two looks of the page there are about a hundred grants.
      for (let before = ''; before !== (await grant()); ) {
        before = await grant();
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      const stood = await grant();
      await scroll(lab);
      await changes(stood);
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
    });

    test('taketurns/sync: of each object the page tells the state, who waits, and what the workers do', async () => {
      const lab = '#sync-lab';
      const kinds = await page.$$eval(`${lab} option`, (options) => options.map(({ value }) => value));
      expect(kinds).toEqual(Object.keys(STATES));
      await slide(page, lab, 'works', 3);
      await slide(page, lab, 'threads', 2);
      await press(page, lab, 'Start');
      const seen = (figure: string, pattern: RegExp): Promise<unknown> =>
        page.waitForFunction(
          (name, wanted) =>
            new RegExp(wanted).test(document.querySelector(`#sync-lab [data-figure=${name}]`)?.textContent ?? ''),
          { ...PATIENCE, polling: 'raf' },
          figure,
          pattern.source,
        );
      for (const kind of kinds) {
        await page.select(`${lab} select`, kind);
        await hasButton(page, lab, 'Stop');
        for (const state of STATES[kind] as RegExp[]) await seen('state', state);
        await seen('waiters', WAITERS[kind] ?? /^Who waits: W\d for [\d.]+ (ms|s)/);
        // Of a thread that waits, both inspect and the worker itself say that it waits.
        await page.waitForFunction(
          () => {
            const [, first] =
              /W(\d)/.exec(document.querySelector('#sync-lab [data-figure=waiters]')?.textContent ?? '') ?? [];
            return (
              first !== undefined && document.querySelector(`#sync-lab .lane:nth-child(${Number(first) + 1}) .waits`)
            );
          },
          { ...PATIENCE, polling: 'raf' },
        );
        await seen('openings', /^[3-9]$|^\d\d/);
        const path = await page.waitForFunction(
          () => document.querySelector('#sync-lab .chart svg > path:last-of-type')?.getAttribute('d'),
          PATIENCE,
        );
        expect(await path.jsonValue()).toMatch(/^M[\d.,]+/);
        expect(await text(page, `${lab} .status`)).toBe('');
      }
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      expect(await text(page, `${lab} .status`)).toBe('');
    });

    test('taketurns/sync: what opens once is followed by others, and any kind stops with two threads and with eight', async () => {
      const lab = '#sync-lab';
      await slide(page, lab, 'works', 0);
      const kinds = await page.$$eval(`${lab} option`, (options) => options.map(({ value }) => value));
      for (const [position, count] of [
        [0, 2],
        [4, 8],
      ] as const) {
        await slide(page, lab, 'threads', position);
        expect(await page.$$(`${lab} .lane`)).toHaveLength(count);
        for (const kind of kinds) {
          await page.select(`${lab} select`, kind);
          await press(page, lab, 'Start');
          await hasButton(page, lab, 'Stop');
          // This number is larger than the number of objects that the page makes at a time.
          await page.waitForFunction(
            () =>
              Number(document.querySelector('#sync-lab [data-figure=openings]')?.textContent?.replaceAll(',', '')) > 70,
            PATIENCE,
          );
          await press(page, lab, 'Stop');
          await hasButton(page, lab, 'Start');
          expect(await text(page, `${lab} .status`), kind).toBe('');
        }
      }
    });

    for (const [bench, rows] of [
      ['semaphores', ['Semaphore', 'js-barging']],
      ['locks', ['Mutex', 'TtsLock+capacitor']],
    ] as const) {
      test(`benchmarks: ${bench} run, are drawn, and can be taken away`, async () => {
        const lab = `[data-bench=${bench}]`;
        await page.evaluate(
          (selector, wanted) => {
            for (const label of document.querySelectorAll(`${selector} .tick`)) {
              const input = label.querySelector('input') as HTMLInputElement;
              input.checked = wanted.includes(label.textContent ?? '');
            }
          },
          lab,
          [...rows, '1', '2'] as string[],
        );
        await slide(page, lab, 'each run', 0);
        await slide(page, lab, 'rounds', 0);
        await press(page, lab, 'Run');
        await page.waitForFunction(
          (selector) => /done/.test(document.querySelector(`${selector} .status`)?.textContent ?? ''),
          PATIENCE,
          lab,
        );
        expect(await text(page, `${lab} .status`)).toBe('4 runs, done.');
        expect(await page.$$eval(`${lab} .results tbody th`, (cells) => cells.map((cell) => cell.textContent))).toEqual(
          rows,
        );
        const cells = await page.$$eval(`${lab} .results tbody td`, (all) => all.map((cell) => cell.textContent));
        expect(cells.every((cell) => /^\d/.test(cell ?? ''))).toBe(true);
        await page.waitForFunction(
          (selector) => document.querySelectorAll(`${selector} .chart:first-child circle`).length === 4,
          PATIENCE,
          lab,
        );

        const downloads = await catchDownloads(page);
        await press(page, lab, 'JSON');
        await press(page, lab, 'SVG of throughput');
        const files = await downloads();
        const title = bench === 'semaphores' ? 'semabench' : 'MutexBench';
        const results = JSON.parse(files[`${title}.json`] as string);
        expect(results).toMatchObject({ benchmark: bench, skipped: [] });
        expect(results.runs).toHaveLength(4);
        for (const run of results.runs) expect(run.iterations).toHaveLength(run.threads);
        for (const probe of results.probes) {
          if (probe.row === 'Semaphore') expect(probe).toMatchObject({ largestBypass: 0, outOfOrder: 0 });
        }
        const svg = files[`${title}-throughput.svg`] as string;
        expect(svg).toMatch(/^<svg /);
        expect(svg).not.toMatch(/var\(/);
        const parsed = await page.evaluate(
          (source) =>
            new DOMParser().parseFromString(source, 'image/svg+xml').querySelector('parsererror')?.textContent ?? '',
          svg,
        );
        expect(parsed).toBe('');
      });
    }

    test('benchmarks: with nothing chosen it says so; a run can be stopped', async () => {
      const lab = '[data-bench=semaphores]';
      const tick = (wanted: boolean): Promise<void> =>
        page.evaluate(
          (selector, on) => {
            for (const input of document.querySelectorAll<HTMLInputElement>(`${selector} .tick input`))
              input.checked = on;
          },
          lab,
          wanted,
        );
      await tick(false);
      await press(page, lab, 'Run');
      expect(await text(page, `${lab} .status`)).toBe('Choose at least one row and one number of threads.');
      await tick(true);
      await press(page, lab, 'Run');
      await hasButton(page, lab, 'Stop');
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Run');
      expect(await text(page, `${lab} .status`)).toMatch(/^Stopped after \d+ runs? of \d+\./);
    });

    test('the capacitor: platoons as large as B, and nobody is overtaken more than B - 1 times', async () => {
      const lab = '#capacitor-lab';
      await slide(page, lab, 'threads', 2);
      await press(page, lab, 'Start');
      const measured = (bound: number): Promise<unknown> =>
        page.waitForFunction(
          (wanted) =>
            document.querySelector('#capacitor-lab [data-figure=bound]')?.textContent === String(wanted) &&
            document.querySelector<HTMLElement>('#capacitor-lab [data-figure=bypass]')?.dataset.value !== '',
          PATIENCE,
          bound,
        );
      await measured(4);
      expect(await figure(page, lab, 'bypass')).toBeLessThanOrEqual(4);
      // The keyboard moves the slider.
      await page.focus(`${lab} .wide input`);
      for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowLeft');
      await measured(1);
      expect(await figure(page, lab, 'bypass')).toBeLessThanOrEqual(1);
      expect(await text(page, `${lab} [data-figure=throughput]`)).toMatch(/^\d.*\/s$/);
      const names = await page.$$eval(`${lab} .chart:nth-of-type(2) text`, (all) => all.map((one) => one.textContent));
      expect(names).toEqual(expect.arrayContaining(['B 2', 'B 5', 'bare TtsLock']));
      await press(page, lab, 'Stop');
      await hasButton(page, lab, 'Start');
      await page.waitForFunction(
        () =>
          /Threads inside a capacitor with B = 2/.test(
            document.querySelector('#capacitor-lab svg')?.getAttribute('aria-label') ?? '',
          ),
        PATIENCE,
      );
    });

    test('starting one experiment stops the other', async () => {
      await press(page, '#starvation-lab', 'Start');
      await hasButton(page, '#starvation-lab', 'Stop');
      await press(page, '#queue-lab', 'Start');
      await hasButton(page, '#queue-lab', 'Stop');
      await hasButton(page, '#starvation-lab', 'Start');
      await press(page, '#queue-lab', 'Stop');
      await hasButton(page, '#queue-lab', 'Start');
    });

    test('light and dark', async () => {
      const page_ = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const colours: Record<string, string> = {};
      for (let i = 0; i < 3; i++) {
        const theme = await page.evaluate(() => {
          document.querySelector<HTMLElement>('#theme')?.click();
          return document.documentElement.dataset.theme ?? 'system';
        });
        colours[theme] = await page_();
      }
      expect(Object.keys(colours).sort()).toEqual(['dark', 'light', 'system']);
      expect(colours.dark).not.toBe(colours.light);
      expect([colours.dark, colours.light]).toContain(colours.system);
    });

    test('on a phone nothing is wider than the screen', async () => {
      await page.setViewport({ width: 390, height: 844 });
      await page.waitForFunction(() => innerWidth <= 390, PATIENCE);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      // Nothing inside a panel is cut off either. The panels of experiments still show the figures of an earlier test.
      const whole = '.top nav, .top nav a, .results, .elements, .beds, .panel, .race, .floor > small';
      const cut = await page.$$eval(whole, (all) =>
        all
          .filter((one) => one.getClientRects().length > 0)
          .filter((one) => {
            const { left, right } = one.getBoundingClientRect();
            return left < 0 || right > innerWidth || (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0);
          })
          .map((one) => `${one.className || one.textContent} ${one.getBoundingClientRect().right}`),
      );
      expect(cut).toEqual([]);
      await page.setViewport({ width: 1280, height: 900 });
    });

    test('every control can be reached by keyboard, and has a name', async () => {
      const nameless = await page.$$eval('button, select, input, a, summary', (all) =>
        all
          .filter((one) => {
            const label = one.closest('label')?.textContent || one.getAttribute('aria-label') || one.textContent;
            return !label?.trim() || (one as HTMLElement).tabIndex < 0;
          })
          .map((one) => one.outerHTML),
      );
      expect(nameless).toEqual([]);
    });

    test('on a host that sends no headers the page isolates itself', async () => {
      const plain = await serveLab({ headers: {} });
      try {
        const other = await open(browser, address(plain), errors);
        await other.waitForFunction(
          () => crossOriginIsolated && document.documentElement.dataset.ready === 'yes',
          PATIENCE,
        );
        await press(other, '#queue-lab', 'Start');
        await other.waitForFunction(
          () => Number(document.querySelector('#queue-lab [data-figure=grant]')?.textContent?.replaceAll(',', '')) > 10,
          PATIENCE,
        );
        await press(other, '#queue-lab', 'Stop');
        await hasButton(other, '#queue-lab', 'Start');
        if (found.name === 'chrome') {
          // A reload with the shift key goes past the service worker.
          for (let reload = 0; reload < 2; reload++) {
            const loaded = new Promise((resolve) => other.once('framenavigated', resolve));
            const session = await other.createCDPSession();
            await session.send('Page.reload', { ignoreCache: true });
            await loaded;
            await other.waitForFunction(
              () => crossOriginIsolated && document.documentElement.dataset.ready === 'yes',
              PATIENCE,
            );
          }
        }
        await other.close();
      } finally {
        plain.close();
      }
    });
  });
}
