/** Checks the types of the installed package in a strict project with no more options than it needs. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { node } from '../support/run.js';

const folder = inject('folder');
const { resolve } = createRequire(import.meta.url);

/** The oldest compiler that is tested, and the compiler of this repository. */
const compilers = ['typescript-5', 'typescript'].map((name) => {
  const own = resolve(`${name}/package.json`);
  return { version: createRequire(own)(own).version as string, tsc: join(dirname(own), 'bin/tsc') };
});

function check(tsc: string, module: string, resolution: string, ...more: string[]): string {
  // skipLibCheck is off, so the declarations themselves are checked too.
  const modules = ['--module', module, '--moduleResolution', resolution];
  return node(folder, tsc, '--noEmit', '--strict', '--target', 'es2022', ...modules, ...more);
}

describe.each(compilers)('TypeScript $version', ({ tsc }) => {
  it.each([
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ])('--module %s --moduleResolution %s', (module, resolution) => {
    expect(check(tsc, module, resolution, 'types/use.ts', 'types/dom.ts')).toBe('');
  });

  it('needs no library but that of the language', () => {
    expect(check(tsc, 'nodenext', 'nodenext', '--lib', 'es2023', 'types/use.ts')).toBe('');
  });
});

it('declares nothing that is internal', () => {
  const dist = join(folder, 'node_modules/taketurns/dist/types');
  const declarations = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.d\.m?ts$/.test(name),
  );
  expect(declarations).toContain('objects/shared-object.d.ts');
  const internal = declarations.filter((name) => readFileSync(join(dist, name), 'utf8').includes('@internal'));
  expect(internal).toEqual([]);
});

describe('CommonJS', () => {
  it.each(compilers.flatMap(({ version, tsc }) => ['node16', 'nodenext'].map((module) => [version, module, tsc])))(
    'in TypeScript %s, --module %s',
    (_, module, tsc) => {
      // The same program as for modules.
      copyFileSync(join(folder, 'types/use.ts'), join(folder, 'types/use.cts'));
      const files = ['types/use.cts', 'types/required.cts', 'types/both.ts'];
      expect(check(tsc, module, module, '--lib', 'es2023,esnext.disposable', ...files)).toBe('');
    },
  );

  it('in a package without "type", whose files are .ts', () => {
    const [five] = compilers as [{ tsc: string }];
    mkdirSync(join(folder, 'types/plain'));
    writeFileSync(join(folder, 'types/plain/package.json'), '{}');
    copyFileSync(join(folder, 'types/use.ts'), join(folder, 'types/plain/use.ts'));
    expect(check(five.tsc, 'node16', 'node16', 'types/plain/use.ts')).toBe('');
    expect(check(five.tsc, 'commonjs', 'node10', 'types/plain/use.ts')).toBe('');
  });
});

it.each(compilers)(
  'the pair of files in docs/commonjs-and-jest.md runs, compiled by TypeScript $version',
  ({ version, tsc }) => {
    const page = readFileSync(join(folder, 'node_modules/taketurns/docs/commonjs-and-jest.md'), 'utf8');
    const [, config = ''] = page.match(/^```json\n(.*?)^```$/ms) ?? [];
    const [, output] = page.match(/^ {4}node dist\/main\.js\n\n```text\n(.*?)^```$/ms) ?? [];
    const pair = join(folder, `types/pair-${version}`);
    mkdirSync(pair);
    writeFileSync(join(pair, 'package.json'), '{}');
    writeFileSync(join(pair, 'tsconfig.json'), config);
    for (const [, name = '', code = ''] of page.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms))
      writeFileSync(join(pair, name), code);
    const typeRoots = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
    expect(node(pair, tsc, '--typeRoots', typeRoots)).toBe('');
    expect(node(pair, 'dist/main.js')).toBe(output);
  },
);
