/** taketurns-processes as it is published: its tarball, its types, and bundles of a program that uses it. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findServers, type Server, startServer } from '../../processes/servers/servers.js';
import { bundlers, code, viteForNode } from '../support/bundle.js';
import { checkLinks, node } from '../support/run.js';
import { installProcesses, type Project } from '../support/taketurns-processes.js';

const { resolve } = createRequire(import.meta.url);
const server = findServers()[0];

let project: Project;
beforeAll(() => {
  project = installProcesses(['ioredis', 'redis']);
  cpSync(fileURLToPath(new URL('../programs/taketurns-processes', import.meta.url)), project.folder, {
    recursive: true,
  });
});
afterAll(() => project?.remove());

describe('the tarball of taketurns-processes', () => {
  it('holds the build, the documentation and the licence, and brings nothing with it', () => {
    const others = project.packed.files
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^(bin\/taketurns-processes\.js|dist\/.+\.(c?js|mjs|d\.m?ts|c?js\.map)|dist\/types\/package\.json|docs\/.+\.(md|json|yml)|examples\/.+\.mjs|(CHANGELOG|README)\.md|LICENSE|package\.json)$/.test(
            path,
          ),
      );
    expect(others).toEqual([]);
    const own = JSON.parse(readFileSync(join(project.folder, 'node_modules/taketurns-processes/package.json'), 'utf8'));
    expect(own.dependencies).toBeUndefined();
    expect(own.scripts?.postinstall).toBeUndefined();
    console.log(
      `${project.packed.filename}: ${project.packed.files.length} files, ${project.packed.size} bytes packed`,
    );
  });

  it('has pages whose links lead to what is installed', () => {
    checkLinks(join(project.folder, 'node_modules/taketurns-processes'));
  });

  it('is clean by publint and are-the-types-wrong', async () => {
    const { tarball } = project;
    const buffer = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);
    const { messages } = await publint({ pack: { tarball: buffer as ArrayBuffer }, strict: true });
    expect(messages.map((message) => formatMessage(message, {}, { color: false }))).toEqual([]);
    const result = await checkPackage(createPackageFromTarballData(tarball));
    if (!result.types) throw new Error('it finds no types');
    expect(result.problems).toEqual([]);
  });

  it('declares nothing that is internal', () => {
    const dist = join(project.folder, 'node_modules/taketurns-processes/dist/types');
    const declarations = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.d\.m?ts$/.test(name),
    );
    expect(declarations).toContain(join('processes', 'src', 'space', 'space.d.ts'));
    expect(declarations.filter((name) => readFileSync(join(dist, name), 'utf8').includes('@internal'))).toEqual([]);
  });
});

describe('the program of taketurns-processes', () => {
  it('runs a command, and passes its status through', () => {
    const program = join(project.folder, 'node_modules/.bin/taketurns-processes');
    const directory = mkdtempSync('/tmp/tt-');
    const line = [
      'run',
      '--name',
      'x',
      '--directory',
      directory,
      '--',
      'sh',
      '-c',
      'test -n "$TAKETURNS_TOKEN"; exit 7',
    ];
    expect(spawnSync(program, line, { encoding: 'utf8' })).toMatchObject({ status: 7, stdout: '', stderr: '' });
    rmSync(directory, { recursive: true });
  });
});

describe('types of taketurns-processes', () => {
  const own = ['typescript-5', 'typescript'].map((name) => resolve(`${name}/package.json`));
  it.each(
    own.flatMap((file) => [
      [createRequire(file)(file).version as string, 'node16', 'node16', file],
      [createRequire(file)(file).version as string, 'esnext', 'bundler', file],
    ]),
  )('TypeScript %s, --module %s --moduleResolution %s', (_version, module, resolution, file) => {
    const tsc = join(dirname(file), 'bin/tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,esnext.disposable,dom'];
    // This test does not check the declarations of the client libraries.
    const more = [
      '--skipLibCheck',
      '--types',
      'node',
      '--typeRoots',
      fileURLToPath(new URL('../../node_modules/@types', import.meta.url)),
    ];
    expect(
      node(project.folder, tsc, ...options, ...more, '--module', module, '--moduleResolution', resolution, 'use.ts'),
    ).toBe('');
  });

  it('are found by projects of CommonJS, also by those that resolve as Node 10 did', () => {
    writeFileSync(
      join(project.folder, 'common.ts'),
      "import { type Mutex, Space } from 'taketurns-processes';\nexport const open = async (): Promise<Mutex> => (await Space.connect({})).mutex('m');\n",
    );
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom', '--module', 'commonjs'];
    const types = [
      '--types',
      'node',
      '--typeRoots',
      fileURLToPath(new URL('../../node_modules/@types', import.meta.url)),
    ];
    const [five, latest] = own.map((file) => join(dirname(file), 'bin/tsc')) as [string, string];
    expect(node(project.folder, five, ...options, ...types, '--moduleResolution', 'node10', 'common.ts')).toBe('');
    expect(node(project.folder, latest, ...options, ...types, 'common.ts')).toBe('');
    const strict = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom', '--module', 'node16'];
    cpSync(join(project.folder, 'common.ts'), join(project.folder, 'common.cts'));
    for (const tsc of [five, latest]) expect(node(project.folder, tsc, ...strict, ...types, 'common.cts')).toBe('');
  });

  it('stand alone, without a client library', () => {
    const [tsc] = own.map((file) => join(dirname(file), 'bin/tsc'));
    writeFileSync(
      join(project.folder, 'alone.ts'),
      "import { Space } from 'taketurns-processes';\nexport const space: Promise<Space> = Space.connect({});\n",
    );
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2023,dom'];
    const types = [
      '--types',
      'node',
      '--typeRoots',
      fileURLToPath(new URL('../../node_modules/@types', import.meta.url)),
    ];
    expect(node(project.folder, tsc as string, ...options, ...types, 'alone.ts')).toBe('');
  });
});

describe('taketurns-processes', () => {
  it.skipIf(server === undefined).each([
    ['where `require` loads modules, if this Node can', ['--no-warnings']],
    ['where it loads none', ['--no-experimental-require-module']],
  ])('can be required %s', async (_, flags) => {
    const running = await startServer({ server: server as NonNullable<typeof server> });
    process.env.REDIS_URL = running.url;
    try {
      const known = flags.filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
      expect(node(project.folder, ...known, 'required.cjs')).toBe('bigint true true\n');
    } finally {
      await running.stop();
    }
  });
});

describe('bundles of taketurns-processes', () => {
  const forNode = { ...bundlers, vite: viteForNode };
  let running: Server | undefined;
  beforeAll(async () => {
    if (server) running = await startServer({ server });
  });
  afterAll(() => running?.stop());

  async function run(name: string, entry: string): Promise<string> {
    const out = join(project.folder, 'out', `${name}-${entry}`);
    const bundle = forNode[name] as (typeof bundlers)[string];
    await bundle(project.folder, `./${entry}.js`, out);
    expect(code(out)).toContain('EVALSHA');
    process.env.REDIS_URL = running?.url;
    const file = readdirSync(out, { recursive: true, encoding: 'utf8' }).find((each) =>
      /\b(main|beating).*\.js$/.test(each),
    );
    const preload = ['--import', pathToFileURL(join(project.folder, 'client.js')).href];
    return node(project.folder, ...preload, join(out, file as string));
  }

  it.skipIf(server === undefined).each(Object.keys(forNode))('by %s run', async (name) => {
    expect(await run(name, 'main')).toBe('bigint\n');
  });

  it.skipIf(server === undefined)('tell who wants beats from a thread that they cannot start it', async () => {
    expect(await run('esbuild', 'beating')).toMatch(
      /^with `heartbeat` a bundler must leave taketurns-processes external: /,
    );
  });
});
