/** Joins the parts of the script (src/script/) for a server or for a broker; src/script/turn.lua says how they differ. */
import { readFileSync } from 'node:fs';

const PARTS = new URL('../src/script/', import.meta.url);

/** The text of a part, in which each line `-- part: NAME` is followed by the text of that part, as far to the right. */
function joined(name) {
  const text = readFileSync(new URL(`${name}.lua`, PARTS), 'utf8').trimEnd();
  return text.replace(/^( *)-- part: (\w+)$/gm, (line, indent, part) => {
    const lines = joined(part).split('\n');
    return [line, ...lines.map((each) => (each === '' ? '' : indent + each)), `${indent}-- end: ${part}`].join('\n');
  });
}

/** The script as a server runs it: what only the broker does is a comment. */
export const serverScript = () => `${joined('turn')}\n`;

/** The script as the broker runs it: without what only a server does. */
export const brokerScript = () =>
  serverScript()
    .replace(/^ *-- \[server\n.*?\n *-- server\]\n/gms, '')
    .replace(/^( *)--- /gm, '$1');
