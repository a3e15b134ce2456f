/** The workaround for V8's fault at waits (scripts/build-core.mjs) suffices for each function of all modules. */
import { readFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';
import { describe, expect, it } from 'vitest';

const MODULES = ['core', 'algorithms', 'sync', 'channel'];
const read = (name: string) => readFileSync(new URL(`../../build/${name}`, import.meta.url));

/** The forms that leave no operand of their own on the stack while a part of them is evaluated. */
const STATEMENTS = new Set(['module', 'func', 'block', 'loop', 'if', 'then', 'else']);
const NO_OPERANDS = new Set(['param', 'result', 'local', 'type']);

/** Returns the functions of a module, given as text, in which an operand lies on the stack below those of a wait. */
function waitsOverOperands(text: string): string[] {
  const found = new Set<string>();
  const open: { op: string; below: boolean; operands: number }[] = [];
  let current = '';
  for (const [token, op = '', name = ''] of text.matchAll(/\(([^\s()]+)(?: (\$[^\s()]+))?|\)/g)) {
    if (token === ')') {
      open.pop();
      continue;
    }
    if (op === 'func') current = name;
    const outer = open.at(-1);
    const below = outer !== undefined && (outer.below || (!STATEMENTS.has(outer.op) && outer.operands > 0));
    if (below && op.startsWith('memory.atomic.wait')) found.add(current);
    if (outer !== undefined && !NO_OPERANDS.has(op)) outer.operands++;
    open.push({ op, below, operands: 0 });
  }
  return [...found];
}

const WAIT = '(memory.atomic.wait32 (local.get $0) (i32.const 0) (i64.const -1))';

describe('an operand below those of a wait', () => {
  it.each(MODULES)('is nowhere in the module %s', (name) => {
    const text = read(`${name}.wat`).toString();
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

it.each(MODULES)('the last local of each function of %s that waits is one that no code uses', (name) => {
  const module = binaryen.readBinary(read(`${name}.wasm`));
  const functions = Array.from({ length: module.getNumFunctions() }, (_, i) =>
    binaryen.getFunctionInfo(module.getFunctionByIndex(i)),
  );
  const waiting = functions.filter(({ body }) => body && binaryen.emitText(body).includes('memory.atomic.wait'));
  expect(waiting.length).toBeGreaterThan(0);
  for (const { name, params, vars, body } of waiting) {
    const last = binaryen.expandType(params).length + vars.length - 1;
    expect(vars.length, name).toBeGreaterThan(0);
    expect(binaryen.emitText(body), name).not.toMatch(new RegExp(`local\\.\\w+ \\$${last}\\b`));
  }
});
