/**
 * Whoever adds a class finds here where else it belongs: in the suite of the runtimes, in the programs that test at
 * random, and in the pages.
 */
import { readdirSync, readFileSync } from 'node:fs';
import * as taketurns from 'taketurns';
import * as algorithms from 'taketurns/algorithms';
import * as channel from 'taketurns/channel';
import * as keyed from 'taketurns/keyed';
import * as p0514 from 'taketurns/p0514';
import * as sync from 'taketurns/sync';
import { expect, it } from 'vitest';
import { kinds as simulated } from '../../simulate/src/kinds/all.js';
import { KINDS } from '../../src/border/kinds.js';
import { kinds as soaked } from '../programs/soak/kinds/all.mjs';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), 'utf8');

const CASES = 'runtimes/src/suite/cases/';
const cases = readdirSync(at(CASES)).map((file) => read(CASES + file));

/** The classes of the papers have models, measurements and pages of their own. */
const OF_PAPERS =
  /^(?:Ticket|Twa|Chain|Channel|Location|Atomic|Multilane|Binary|Counting)Semaphore$|Lock$|^(?:EventCount|Sequencer|Capacitor)$/;
/** A channel or a watch consists of two shared objects, and only one of them has the name of a class. */
const classes = new Set([taketurns, algorithms, channel, keyed, p0514, sync].flatMap((entry) => Object.keys(entry)));
const all = Object.keys(KINDS).filter((kind) => classes.has(kind));
const ours = all.filter((kind) => !OF_PAPERS.test(kind) || kind === 'RwLock');

it('the pattern leaves out the classes of the papers, and no others', () => {
  expect(ours).toContain('Semaphore');
  expect(all.length - ours.length).toBe(19);
  expect(Object.keys(KINDS).filter((kind) => !all.includes(kind))).toEqual(['ReceivingEnd', 'WatchingEnd']);
});

/** Classes that have a program of their own in place of the soak and the simulation: it checks all takes. */
const CHECKED: Record<string, string> = {
  RateLimiter: 'rate-history-threads.mjs',
  KeyedRateLimiter: 'keyed-rate-history-threads.mjs',
};

it.each(ours)('%s is in the suite, in the soak, in the simulation, and in the pages', (kind) => {
  const name = kind.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  expect(cases.some((text) => text.includes(`new ${kind}(`))).toBe(true);
  const own = CHECKED[kind];
  if (own !== undefined) expect(read('docs/internals/checking.md')).toContain(`test/programs/${own}`);
  else {
    expect(Object.keys(soaked)).toContain(name);
    expect(Object.keys(simulated)).toContain(kind);
  }
  // The list of pages names the page of a class, or the class.
  expect(read('README.md')).toContain(`\`${kind}\``);
  expect(read('docs/README.md')).toMatch(new RegExp(`\\b(?:${name}\\.md|${kind})\\b`));
});
