/**
 * Writes `processes/CHANGELOG.md`, the changelog that the package carries: that of the repository. A link to a page of
 * this package leads to it. Any other link to a file becomes plain text, since the package does not have this file.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const from = new URL('../../CHANGELOG.md', import.meta.url);
const to = new URL('../CHANGELOG.md', import.meta.url);

const text = readFileSync(from, 'utf8')
  .replace(/\]\(processes\//g, '](')
  .replace(/\[([^\]]*)\]\((?!https:|docs\/(?:operations|one-machine|api|commands|fencing)\.md)[^)]*\)/g, '$1');
writeFileSync(to, text);
