/**
 * Checks, without the network, that each relative link of the pages leads to a file that exists, and to a heading that
 * the file has. The argument may name the folder of an installed package. Then a link must not lead out of this folder.
 * More arguments name the pages to check.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { remark } from 'remark';
import validateLinks from 'remark-validate-links';
import { engine } from 'unified-engine';

const [cwd = fileURLToPath(new URL('..', import.meta.url)), ...named] = process.argv.slice(2);
const all = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'RELEASING.md',
  'SECURITY.md',
  'docs',
  'examples',
  'core/papers/README.md',
  'src/papers/algorithms/README.md',
  'src/papers/p0514/README.md',
  'processes/README.md',
  'processes/docs',
];
engine(
  {
    cwd,
    processor: remark(),
    plugins: [[validateLinks, { repository: false }]],
    files: (named.length > 0 ? named : all).filter((page) => existsSync(join(cwd, page))),
    extensions: ['md'],
    frail: true,
    quiet: true,
    output: false,
  },
  (error, status) => {
    if (error) throw error;
    process.exitCode = status;
  },
);
