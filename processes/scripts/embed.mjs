/**
 * Writes the files of src/ that are made of the script and are not in git: in script/ joined.lua, the parts of the
 * script joined (turn.lua is the frame), and turn-source.ts, the script without the lines of comments, and its SHA-1; and
 * in local/ script.ts, the script in JavaScript, as a broker runs it. No tool joins files of Lua, or knows the marks by
 * which the forms of the script differ. Besides it writes postgres/schema-source.ts: schema.sql without the lines of
 * comments, except those of its head.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { moduleOf } from './compile-lua.mjs';
import { brokerScript, serverScript } from './turn-parts.mjs';

const write = (file, text) => writeFileSync(new URL(`../src/${file}`, import.meta.url), text);
const source = serverScript();
const text = source.replace(/^ *(--.*\n|\n)?/gm, '');
const sha = createHash('sha1').update(text).digest('hex');
write('script/joined.lua', source);
write('local/script.ts', moduleOf(brokerScript()));
write(
  'script/turn-source.ts',
  `// Written by scripts/embed.mjs from the parts in this folder.
export const TURN = {
  text: ${JSON.stringify(text)},
  sha: '${sha}',
};
`,
);

const sql = readFileSync(new URL('../src/postgres/schema.sql', import.meta.url), 'utf8');
const [head] = /^(--.*\n)*/.exec(sql);
write(
  'postgres/schema-source.ts',
  `// Written by scripts/embed.mjs from schema.sql.
export const SCHEMA = ${JSON.stringify(head + sql.slice(head.length).replace(/^ *(--.*\n|\n)/gm, ''))};
`,
);
