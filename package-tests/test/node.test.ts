/** The installed package in Node, without a bundler. */
import { describe, expect, inject, it } from 'vitest';
import { node } from '../support/run.js';

const folder = inject('folder');
// Node can do this from 20.19 and 22.12 on.
const canRequire = (process.features as { require_module?: boolean }).require_module === true;

describe(`in Node ${process.versions.node}`, () => {
  it('every entry can be imported', () => {
    expect(node(folder, 'node/entries.js')).toBe('taketurns\n');
  });

  it('threads synchronise', () => {
    expect(node(folder, 'node/main.js')).toBe('counted to 40000, 1 death\n');
  });

  it.skipIf(!canRequire)('every entry can be required', () => {
    expect(node(folder, '--no-warnings', 'node/required.cjs')).toBe('true\n');
  });
});
