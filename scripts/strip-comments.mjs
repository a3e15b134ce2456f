/**
 * Takes the comments out of the JavaScript of dist/, which then takes half the room in the package. The declarations
 * (.d.ts) keep theirs, which editors show. What is left is readable: the names and the order are those of src/. So the
 * package needs neither source maps nor sources.
 *
 * Comments that a bundler reads stay, such as `#__PURE__`: a bundler drops the value behind it if nobody uses this
 * value.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
for (const path of readdirSync(dist, { recursive: true })) {
  // dist/node/ is made of the others.
  if (!path.endsWith('.js') || path.startsWith('node')) continue;
  const file = join(dist, path);
  const code = readFileSync(file, 'utf8');
  const bare = withoutComments(file, code);
  if (bare !== code) writeFileSync(file, bare);
}

function withoutComments(file, code) {
  const { comments, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  let bare = '';
  let from = 0;
  for (const { value, start, end } of comments) {
    // The first line of a command is none.
    if (/^\s*[#@]/.test(value) || code.startsWith('#!', start)) continue;
    const before = code.slice(from, start).trimEnd();
    // With the comment goes the space before it. Where something follows in its line, a space has to stay.
    const follows = /^[ \t]*\S/.test(code.slice(end));
    bare += before + (follows ? code.slice(from + before.length, start) || ' ' : '');
    from = end;
  }
  return (bare + code.slice(from)).trimStart();
}
