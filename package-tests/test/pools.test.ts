/** The installed package in pools of threads that end their threads and start others. */
import { describe, expect, inject, it } from 'vitest';
import { node } from '../support/run.js';

const folder = inject('folder');

describe('threads of a pool that alone use the library find one object by its name', () => {
  it.each([
    ['piscina', {}],
    ['tinypool', {}],
    ['tinypool', { isolateWorkers: true }],
  ])('of %s with %o', (library, options) => {
    const said = node(folder, 'pools/names.js', import.meta.resolve(library), JSON.stringify(options));
    expect(said).toBe('raised to 40\n');
  });

  it('in CommonJS', () => {
    expect(node(folder, 'pools/names.cjs')).toBe('raised to 40\n');
  });
});

describe('what the threads of a pool hold, and their records, come back', () => {
  it.each([
    ['piscina', {}],
    ['tinypool', {}],
    ['tinypool', { isolateWorkers: true, minThreads: 1 }],
  ])('from %s with %o', (library, options) => {
    const said = node(folder, 'pools/main.js', import.meta.resolve(library), JSON.stringify(options));
    expect(said).toBe('1 permit, 6 deaths, 2 objects\n');
  });
});
