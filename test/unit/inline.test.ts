/** The functions that the build makes part of their callers are all there: none of their names has gone stale. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inline, unmatched } from '../../scripts/inline.mjs';

// By its types it is a const enum, which has no value.
const { NodeKind } = (await import('assemblyscript')) as unknown as { NodeKind: { FunctionDeclaration: number } };

/** The functions of a file of core/, as the compiler's syntax tree has them. */
function sourceOf(internalPath: string) {
  const text = readFileSync(new URL(`../../${internalPath}.ts`, import.meta.url), 'utf8');
  const statements = [...text.matchAll(/^(?:export )?function (\w+)\(/gm)].map(([, name]) => ({
    kind: NodeKind.FunctionDeclaration,
    name: { text: name },
    range: {},
    decorators: undefined as unknown[] | undefined,
  }));
  return { internalPath, statements };
}

describe('the names of scripts/inline.mjs', () => {
  it('each stand for a function; the build fails at one that does not', () => {
    const names = [...unmatched];
    expect(names.length).toBeGreaterThan(10);
    inline.afterParse({ sources: [{ internalPath: 'core/queue/waking', statements: [] }] });
    expect([...unmatched]).toEqual(names);
    const files = new Set(names.map((name) => name.replace(/\/\w+$/, '')));
    const sources = [...files].map(sourceOf);
    inline.afterParse({ sources });
    expect([...unmatched]).toEqual([]);
    const decorated = sources.flatMap(({ statements }) => statements).filter(({ decorators }) => decorators);
    expect(decorated).toHaveLength(names.length);
  });
});
