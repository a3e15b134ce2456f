/**
 * Puts the project's documentation beside the built page, as `docs/index.html` and so on. So the page's link to the
 * documentation works wherever the page is hosted. The documentation of taketurns-processes goes to `docs/processes/`.
 * Relative links between the files of documentation hold. Links to sources become plain text.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import markdownIt from 'markdown-it';

const ROOT = new URL('../', import.meta.url);
const read = (path) => readFileSync(new URL(path, ROOT));
/** The file of the built page for a file of the project. */
const builtAs = (path) =>
  path === 'README.md'
    ? 'docs/about.html'
    : path
        .replace(/^([A-Z]+)(?=\.md$)/, (name) => `docs/${name.toLowerCase()}`)
        .replace(/^processes\/(docs\/)?/, 'docs/processes/')
        .replace(/(^|\/)README\.md$/, '$1index.html')
        .replace(/\.md$/, '.html');

/** The pages outside of the folders with documentation. */
const OTHERS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'processes/README.md'];

/** The anchor of a heading, as GitHub makes it. */
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** @returns {import('vite').Plugin} */
export function docs() {
  return {
    name: 'docs',
    apply: 'build',
    generateBundle() {
      const inDocs = ['docs', 'processes/docs'].flatMap((folder) =>
        readdirSync(new URL(folder, ROOT), { recursive: true }).map(
          (path) => `${folder}/${path.replaceAll('\\', '/')}`,
        ),
      );
      const pages = [...OTHERS, ...inDocs.filter((path) => path.endsWith('.md'))];
      const images = inDocs.filter((path) => /\.(svg|png)$/.test(path));
      const known = new Set([...pages, ...images]);
      const style = ['tokens', 'docs'].map((name) => read(`lab/src/style/${name}.css`)).join('\n');
      this.emitFile({ type: 'asset', fileName: 'docs/style.css', source: style });
      for (const path of images) this.emitFile({ type: 'asset', fileName: path, source: read(path) });
      for (const path of pages)
        this.emitFile({ type: 'asset', fileName: builtAs(path), source: page(path, read(path).toString(), known) });
    },
  };
}

/** @param {string} path @param {string} text @param {Set<string>} known the files that have a place in the built page */
function page(path, text, known) {
  const md = markdownIt({ html: true });
  const here = posix.dirname(builtAs(path));
  /** The link from this page to the target of a link in the text; undefined if the built page lacks the target. */
  const link = (href) => {
    if (/^([a-z]+:|#)/i.test(href)) return href;
    const [file, hash] = href.split('#');
    const target = posix.normalize(posix.join(posix.dirname(path), file));
    const found = [target, posix.join(target, 'README.md')].find((one) => known.has(one));
    return found && `${posix.relative(here, builtAs(found))}${hash === undefined ? '' : `#${hash}`}`;
  };
  const { rules } = md.renderer;
  const dropped = [];
  rules.link_open = (tokens, i, options, _env, self) => {
    const to = link(tokens[i].attrGet('href'));
    dropped.push(to === undefined);
    if (to === undefined) return '';
    tokens[i].attrSet('href', to);
    return self.renderToken(tokens, i, options);
  };
  rules.link_close = () => (dropped.pop() ? '' : '</a>');
  const image = rules.image;
  rules.image = (tokens, i, ...rest) => {
    tokens[i].attrSet('src', link(tokens[i].attrGet('src')) ?? '');
    return image(tokens, i, ...rest);
  };
  rules.heading_open = (tokens, i) => `<${tokens[i].tag} id="${slug(tokens[i + 1].content)}">`;
  rules.table_open = () => '<div class="scroll" tabindex="0"><table>';
  rules.table_close = () => '</table></div>';
  const body = md.render(text);
  const title = /^#\s+(.+)$/m.exec(text)?.[1] ?? path;
  const up = posix.relative(here, '.');
  const home = posix.relative(here, 'docs/index.html');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${md.utils.escapeHtml(title)} · taketurns</title>
<link rel="icon" href="${up}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${posix.relative(here, 'docs/style.css')}">
</head>
<body>
<nav aria-label="Site"><a href="${up}/index.html">The lab</a> <a href="${home}">Documentation</a> <a href="${posix.relative(here, 'docs/about.html')}">README</a></nav>
<main>
${body}
</main>
</body>
</html>
`;
}
