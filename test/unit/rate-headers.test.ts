/** The fields of rates in examples and pages are structured fields (RFC 9651), as their draft wants them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

interface Item {
  readonly name: string;
  readonly parameters: Readonly<Record<string, number>>;
}

/** Parses a list of strings whose parameters are integers: what the draft allows, but for its rarer parameters. */
function parsed(field: string): Item[] {
  let rest = field;
  const take = (token: RegExp): string | undefined => {
    const [found] = token.exec(rest) ?? [];
    if (found !== undefined) rest = rest.slice(found.length);
    return found;
  };
  const must = (token: RegExp): string => {
    const found = take(token);
    if (found === undefined) throw new SyntaxError(`${token} is not at the begin of ${rest} in ${field}`);
    return found;
  };
  const items: Item[] = [];
  do {
    const name = JSON.parse(must(/^"(?:[ !#-[\]-~]|\\["\\])*"/)) as string;
    const parameters: Record<string, number> = {};
    while (take(/^; */)) {
      const key = must(/^[a-z*][a-z0-9_.*-]*/);
      must(/^=/);
      parameters[key] = Number(must(/^-?\d{1,15}(?![\d.])/));
    }
    items.push({ name, parameters });
  } while (take(/^[ \t]*,[ \t]*/));
  must(/^$/);
  return items;
}

function check(policy: string, limit: string): void {
  const [quota, ...others] = parsed(policy);
  const [left] = parsed(limit);
  expect([others, left?.name]).toEqual([[], quota?.name]);
  const { q = -1, w, ...more } = quota?.parameters ?? {};
  const { r = -1, t, ...rest } = left?.parameters ?? {};
  expect([more, rest]).toEqual([{}, {}]);
  expect([q >= 0, (w ?? 1) > 0, r >= 0 && r <= q, (t ?? 0) >= 0]).toEqual([true, true, true, true]);
}

it('the parser refuses what is no structured field', () => {
  expect(parsed('"a";q=1;w=60, "b\\"";q=2')).toEqual([
    { name: 'a', parameters: { q: 1, w: 60 } },
    { name: 'b"', parameters: { q: 2 } },
  ]);
  for (const bad of ['a;q=1', '"a";q=0.5', '"a";q', '"a";Q=1', '"a",', "'a';q=1", '"a" q=1', '"a";q=1 ', '"ä";q=1'])
    expect(() => parsed(bad), bad).toThrow(SyntaxError);
});

it('the server of the example sends them', () => {
  const file = fileURLToPath(new URL('../../examples/rate-headers.mjs', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  const fields = [...stdout.matchAll(/RateLimit-Policy: (.*) RateLimit: (.*)$/gm)];
  expect(fields).toHaveLength(5);
  for (const [, policy = '', limit = ''] of fields) check(policy, limit);
});

it('so does the program of the page', () => {
  const page = readFileSync(new URL('../../docs/rate-limiter.md', import.meta.url), 'utf8');
  const [, policy = '', limit = ''] = /^RateLimit-Policy: (.*)\nRateLimit: (.*)$/m.exec(page) ?? [];
  check(policy, limit);
});
