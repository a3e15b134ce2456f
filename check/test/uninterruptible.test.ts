/** The core keeps its uninterruptible sections, and the check would find a call, a loop or a return in one. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { IMM, OP_BRANCH, OP_CALL, OP_ENTER_LOOP, OP_RETURN, type Program, STRIDE } from '../src/engine/wasm/code.js';
import { breaks, type Section, startsOf } from '../src/engine/wasm/uninterruptible.js';
import { loadProgram } from '../src/programs.js';
import { constant } from '../src/scene/layout.js';
import { sections } from '../src/uninterruptible.js';

const program = loadProgram('core');

/** Replaces the `after`th instruction behind the first one that begins the section. */
function broken(run: Section, op: number, after: number, target = 0): Program {
  const { entry } = program.functions.find(({ name }) => name === run.fn) as { entry: number };
  const image = program.image.slice();
  const pc = (startsOf(program, run)[0] as number) + after * STRIDE;
  image[pc] = op;
  if (target !== 0) image[pc + IMM] = entry;
  return { ...program, image };
}

/** The compiler's layout of the code decides which of the next instructions lie on the path. */
const NEXT = Array.from({ length: 80 }, (_, i) => 1 + i);

describe.each(sections)('$name', (run) => {
  it('has no call, no loop and no return', () => {
    expect(breaks(program, run)).toEqual([]);
  });

  it.each([
    ['a call', OP_CALL, 0],
    ['a loop', OP_ENTER_LOOP, 0],
    ['a way back', OP_BRANCH, -1],
  ])('would not be straight with %s', (_what, op, target) => {
    const isFound = NEXT.some((after) => breaks(broken(run, op, after, target), run).length > 0);
    expect(isFound).toBe(true);
  });
});

// Some paths of a section may return earlier. But the check finds a section of which no path comes to its end. R4 ends
// where its function returns.
it.each(sections.filter(({ to }) => to.length > 0))('$name would not end with a return', (run) => {
  const isFound = NEXT.some((after) => breaks(broken(run, OP_RETURN, after), run).length > 0);
  expect(isFound).toBe(true);
});

it('a section that goes on in the caller is found', () => {
  const [run] = sections.filter(({ name }) => name === 'R2, leaveTombstone') as [Section];
  expect(breaks(program, { ...run, to: [constant('GRANT')] })).toEqual([expect.stringContaining('no path')]);
});

it('a section of a function that does not exist is an error', () => {
  expect(() => breaks(program, { ...sections[0], fn: 'nobody' } as never)).toThrow(/no function nobody/);
});

describe('comments of the source mark each section', () => {
  const core = new URL('../../core/', import.meta.url);
  const files = ['arena', 'death', 'kinds', 'queue'].flatMap((folder) => {
    const names = readdirSync(new URL(`${folder}/`, core), { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.endsWith('.ts')).map((name) => `/${folder}/${name.replaceAll('\\', '/')}`);
  });

  /** Compiled functions that have a section of a function which the build inlines into them. */
  const INLINED: Record<string, string> = {
    'R1, queue/acquireOne': 'queue/acquire',
    'R5, take': 'elements/take',
    'R7 and R8, owners, reaping/cleanUp': 'robust/releaseOfDead mutex-head/releaseOfDeadOwner',
    'R7, passOn, reaping/cleanUp': 'condition/passOn',
    'R11, phase/end': 'phase/endFor',
    'R15, passForDead, reaping/cleanUp': 'ends/passForDead',
    'R17, passForDead, reaping/cleanUp': 'ends/giveUp',
    'R17, abandon': 'ends/giveUp',
    'R20, passForDead, reaping/cleanUp': 'ends/passForDead',
    'R18, leaveSenders': 'ends/endSending',
    'R18, endSending, reaping/cleanUp': 'ends/endSending',
    'R18, the last sender, reaping/cleanUp': 'ends/endSending',
    'R16, close, reaping/cleanUp': 'ends/close',
    'R11, reaping/cleanUp': 'phase/endOfDead',
    'R12, endRead': 'rw-lock/leave',
    'R12, giveUpRead': 'rw-lock/leave',
  };

  /** The source of a function, from its name to its end. */
  function sourceOf(fn: string): string {
    const [file, name] = fn.split('/');
    const text = readFileSync(new URL(`.${files.find((path) => path.endsWith(`/${file}.ts`))}`, core), 'utf8');
    const from = text.indexOf(`function ${name}(`);
    if (from < 0) throw new Error(`core/ has no function ${fn}.`);
    return text.slice(from, text.indexOf('\n}\n', from));
  }

  it.each(sections)('$name', ({ name, fn }) => {
    const source = (INLINED[name] ?? fn).split(' ').map(sourceOf).join('\n');
    for (const [mark] of name.matchAll(/\bR\d+\b/g))
      expect(source).toMatch(new RegExp(`// .*\\b${mark}(?: begins|$)`, 'm'));
  });

  it('each exception is needed', () => {
    expect(sections.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(INLINED)));
  });
});
