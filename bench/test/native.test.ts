// How the binary of the native rows is built.
import { expect, it } from 'vitest';
import { flagsFor } from '../src/native.js';

it('uses the atomic instructions of the processor on ARM, as the paper on capacitors does', () => {
  expect(flagsFor('arm64')).toEqual([...flagsFor('x64'), '-mcpu=native']);
});
