import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFile, readLimits, readRows, readRuns, readSeconds, readThreads } from '../src/options.js';
import { SEMAPHORES } from '../src/rows/semaphores.js';

describe('options', () => {
  it('reads thread counts, sorted and each once', () => {
    expect(readThreads('16, 1,4,4')).toEqual([1, 4, 16]);
    for (const bad of ['', '0', '1,', '2.5', '513', 'all', '1;2', '-1', 'NaN', 'Infinity']) {
      expect(() => readThreads(bad), bad).toThrow('whole numbers from 1 to 512');
    }
  });

  it('reads bypass limits, sorted and each once', () => {
    expect(readLimits('1000,1, 10,1')).toEqual([1, 10, 1000]);
    for (const bad of ['', '0', '1000001', 'none']) {
      expect(() => readLimits(bad), bad).toThrow('whole numbers from 1 to 1000000');
    }
  });

  it('reads seconds and runs', () => {
    expect(readSeconds('0.25')).toBe(0.25);
    expect(readRuns('11')).toBe(11);
    for (const bad of ['', '0', '-1', 'long', '601']) expect(() => readSeconds(bad), bad).toThrow('from 0.05 to 600');
    for (const bad of ['', '0', '1.5', '1001']) expect(() => readRuns(bad), bad).toThrow('from 1 to 1000');
  });

  it('reads row names, in the order of declaration', () => {
    expect(readRows(SEMAPHORES, 'sem_t, Semaphore,sem_t').map(({ name }) => name)).toEqual(['Semaphore', 'sem_t']);
    expect(() => readRows(SEMAPHORES, 'Semaphore,sem')).toThrow(/No row is called 'sem'.*js-barging/);
    expect(() => readRows(SEMAPHORES, '')).toThrow('No row is called');
  });

  it('reads patterns of row names', () => {
    const names = (text: string) => readRows(SEMAPHORES, text).map(({ name }) => name);
    expect(names('js-*')).toEqual(['js-ticket-notify-all', 'js-barging']);
    expect(names('*_t,std::*')).toEqual(['sem_t', 'std::counting_semaphore']);
    expect(names('*').length).toBe(SEMAPHORES.length);
    // Only the asterisk stands for something else than itself.
    expect(() => names('sem.t')).toThrow("No row is called 'sem.t'");
    expect(() => names('js-*,nobody*')).toThrow("No row is called 'nobody*'");
  });

  it('reads files that can be written', () => {
    const file = join(tmpdir(), 'taketurns-no-such-file.json');
    expect(readFile(file)).toBe(file);
    expect(() => readFile(tmpdir())).toThrow('path of a file');
    expect(() => readFile('')).toThrow('path of a file');
    expect(() => readFile(join(tmpdir(), 'taketurns-no-such-folder', 'x.json'))).toThrow('folder that exists');
  });
});
