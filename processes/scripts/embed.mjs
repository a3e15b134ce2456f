/**
 * Writes the files of src/ that are not in git: in script/ joined.lua, the parts of the script joined (turn.lua is the
 * frame), and turn-source.ts, the script without its comments and with short names, and its SHA-1; and in local/
 * script.ts, the script in JavaScript, as a broker runs it, and thread-source.ts, the program of a broker's thread in one
 * text.
 *
 * A name stands for itself wherever it is written: all locals that are called alike get one short name. So the scopes
 * stay as they are, and no two names become one. Fields of the script's own tables get short names too, but for those of
 * one letter, which are operations. What Lua and Redis give is left.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import luaparse from 'luaparse';
import { rolldown } from 'rolldown';
import { moduleOf } from './compile-lua.mjs';
import { brokerScript, serverScript } from './turn-parts.mjs';

const out = new URL('../src/script/turn-source.ts', import.meta.url);
const source = serverScript();
writeFileSync(new URL('../src/script/joined.lua', import.meta.url), source);
writeFileSync(new URL('../src/local/script.ts', import.meta.url), moduleOf(brokerScript()));

const identifiers = [];
const fields = new Set();
const own = [];
const LIBRARIES = ['redis', 'string', 'math', 'table'];
luaparse.parse(source, {
  luaVersion: '5.1',
  scope: true,
  ranges: true,
  onCreateNode(node) {
    const field =
      node.type === 'MemberExpression' ? node.identifier : node.type === 'TableKeyString' ? node.key : undefined;
    if (field && !LIBRARIES.includes(node.base?.name)) own.push(field);
    if (field) fields.add(field);
    else if (node.type === 'Identifier') identifiers.push(node);
  },
});
const variables = identifiers.filter((node) => !fields.has(node));
const globals = new Set(variables.filter(({ isLocal }) => !isLocal).map(({ name }) => name));
const locals = variables.filter(({ isLocal }) => isLocal);

const counts = new Map();
for (const { name } of locals) counts.set(name, (counts.get(name) ?? 0) + 1);
const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const unused = [...letters, ...letters.flatMap((first) => letters.map((second) => first + second))]
  .filter((name) => !globals.has(name) && !['do', 'if', 'in', 'or'].includes(name))
  .values();
const shortNames = new Map();
for (const [name] of [...counts].sort(([, a], [, b]) => b - a)) {
  shortNames.set(name, globals.has(name) ? name : unused.next().value);
}
const nameAt = new Map(locals.map(({ range, name }) => [range[0], shortNames.get(name)]));
const shortFields = new Map();
for (const { name, range } of own) {
  if (name.length === 1) continue;
  if (!shortFields.has(name)) shortFields.set(name, letters[shortFields.size]);
  nameAt.set(range[0], shortFields.get(name));
}

const lexer = luaparse.parse(source, { luaVersion: '5.1', wait: true, comments: false });
let text = '';
let last = '';
for (let token = lexer.lex(); token.type !== luaparse.tokenTypes.EOF; token = lexer.lex()) {
  const [start, end] = token.range;
  const next = nameAt.get(start) ?? source.slice(start, end);
  const areWords = /\w$/.test(last) && /^\w/.test(next);
  const areOne = (/^\d/.test(last) && next[0] === '.') || (last === '-' && next[0] === '-');
  text += areWords || areOne ? ` ${next}` : next;
  last = next;
}
const sha = createHash('sha1').update(text).digest('hex');
writeFileSync(
  out,
  `// Written by scripts/embed.mjs from the parts in this folder.\nexport const TURN = {\n  text: ${JSON.stringify(text)},\n  sha: '${sha}',\n};\n`,
);

const thread = await rolldown({
  input: fileURLToPath(new URL('../src/local/broker-thread.ts', import.meta.url)),
  platform: 'node',
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
});
// The text of a worker is no module.
const { output } = await thread.generate({ format: 'cjs', minify: true, codeSplitting: false, comments: false });
await thread.close();
const code = output[0].code.trim();
writeFileSync(
  new URL('../src/local/thread-source.ts', import.meta.url),
  `// Written by scripts/embed.mjs from broker-thread.ts.\nexport const THREAD =\n  ${JSON.stringify(code)};\n`,
);
