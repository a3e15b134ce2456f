// The site: the pages of the repository as they are, by VitePress. `build.mjs` copies the pages to `pages/`, and puts the
// API reference and the lab beside them.

import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig } from 'vitepress';

const base = (process.env.TAKETURNS_SITE ?? '/') as `/${string}/`;
const pages = fileURLToPath(new URL('../pages/', import.meta.url));

/** The tables of an index page: each has a title in its first cell, and links in the rows below. */
function groups(page: string): DefaultTheme.SidebarItem[] {
  const folder = posix.dirname(page);
  return readFileSync(`${pages}${page}`, 'utf8')
    .split(/\n\n/)
    .filter((part) => part.startsWith('|'))
    .map((table) => ({
      text: /^\| ([^|,]+)/.exec(table)?.[1]?.trim() ?? '',
      items: [...table.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, path = '']) => {
        const target = posix.join(folder, path);
        const [, title = target] = /^# (.+)$/m.exec(readFileSync(`${pages}${target}`, 'utf8')) ?? [];
        return {
          text: title.replaceAll('`', ''),
          link: `/${target}`.replace(/README\.md$/, '').replace(/\.md$/, ''),
        };
      }),
    }));
}

export default defineConfig({
  srcDir: 'pages',
  outDir: '../build/site',
  base,
  title: 'taketurns',
  description: 'Fair semaphores and locks for JavaScript threads',
  lang: 'en',
  rewrites: (id) => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Which one?', link: '/docs/choosing' },
      { text: 'Recipes', link: '/docs/recipes' },
      { text: 'All pages', link: '/docs/' },
      { text: 'API', link: '/api/', target: '_self' },
      { text: 'The lab', link: '/lab/', target: '_self' },
    ],
    sidebar: groups('docs/README.md'),
  },
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { cjs: 'js' },
    config(md) {
      // A command is an indented block in the pages. As a block of a language it has the frame of one, and scrolls.
      md.renderer.rules.code_block = (tokens, i, options, env, self) => {
        const token = tokens[i];
        if (token !== undefined) token.info = 'sh';
        return md.renderer.rules.fence?.(tokens, i, options, env, self) ?? '';
      };
      // A link to what the site does not have, such as a source, becomes plain text.
      md.core.ruler.push('only-pages', ({ tokens, env }) => {
        const page = posix.dirname((env as { relativePath: string }).relativePath);
        for (const { children } of tokens) {
          let isDropped = false;
          for (const token of children ?? []) {
            if (token.type === 'link_open') {
              const href = token.attrGet('href') ?? '';
              const path = posix.join(page, href.replace(/#.*/, ''));
              isDropped = !/^([a-z]+:|#)/i.test(href) && !isPage(path);
            }
            if (isDropped && /^link_(open|close)$/.test(token.type)) {
              if (token.type === 'link_close') isDropped = false;
              token.type = 'text';
              token.content = '';
            }
          }
        }
      });
    },
  },
  // The two are not pages of VitePress.
  ignoreDeadLinks: [/^\/(api|lab)\//],
});

/** Whether the site has this file, or an index of this folder. Files that are no pages are in `public/`. */
function isPage(path: string): boolean {
  if (/\.\w+$/.test(path) && existsSync(`${pages}public/${path}`)) return true;
  return existsSync(`${pages}${path}`) && (/\.\w+$/.test(path) || existsSync(`${pages}${path}/README.md`));
}
