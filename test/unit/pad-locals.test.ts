/** The workaround for V8's fault at waits suffices for all modules, and the build notices where it would not. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { waitsOverOperands } from '../../scripts/pad-locals.mjs';

const WAIT = '(memory.atomic.wait32 (local.get $0) (i32.const 0) (i64.const -1))';

describe('an operand below those of a wait', () => {
  it.each(['core', 'algorithms', 'sync'])('is nowhere in the module %s', (name) => {
    const text = readFileSync(new URL(`../../build/${name}.wat`, import.meta.url), 'utf8');
    expect(text).toContain('(memory.atomic.wait32');
    expect(waitsOverOperands(text)).toEqual([]);
  });

  it.each([
    ['an instruction', `(drop (i32.add (local.get $0) ${WAIT}))`],
    ['an instruction outside', `(drop (i32.add (local.get $0) (i32.eqz ${WAIT})))`],
    ['a block', `(drop (i32.add (local.get $0) (block (result i32) ${WAIT})))`],
    [
      'a branch',
      `(drop (i32.add (local.get $0) (if (result i32) (local.get $0) (then ${WAIT}) (else (i32.const 0)))))`,
    ],
    ['a store', `(i32.store (local.get $0) ${WAIT})`],
  ])('is found in %s', (_what, code) => {
    expect(waitsOverOperands(`(module (func $waits (param $0 i32) ${code}))`)).toEqual(['$waits']);
  });

  it.each([
    ['the first operand', `(drop (i32.add ${WAIT} (local.get $0)))`],
    ['a statement behind another', `(local.set $0 (i32.const 1)) (local.set $0 ${WAIT})`],
    ['an arm', `(if (local.get $0) (then (drop ${WAIT})))`],
    ['a condition in a loop', `(loop $again (br_if $again ${WAIT}))`],
  ])('is not %s', (_what, code) => {
    expect(waitsOverOperands(`(module (func $waits (param $0 i32) ${code}))`)).toEqual([]);
  });
});
