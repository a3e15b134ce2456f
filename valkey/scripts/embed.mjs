/** Writes src/turn-source.ts: the script without its comments, and its SHA-1. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const lua = new URL('../src/turn.lua', import.meta.url);
const out = new URL('../src/turn-source.ts', import.meta.url);
// No string of the script contains two hyphens.
const text = readFileSync(lua, 'utf8')
  .split('\n')
  .map((line) => line.replace(/\s*--.*$/, '').trim())
  .filter((line) => line !== '')
  .join('\n');
const sha = createHash('sha1').update(text).digest('hex');
writeFileSync(
  out,
  `// Written by scripts/embed.mjs from turn.lua.\nexport const TURN = {\n  text: ${JSON.stringify(text)},\n  sha: '${sha}',\n};\n`,
);
