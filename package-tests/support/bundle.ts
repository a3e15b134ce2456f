/** The three bundlers. Each gets only the entry, the target and the folder for the output. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { build as viteBuild } from 'vite';
import webpack from 'webpack';

export type Target = 'node' | 'web';

function byWebpack(folder: string, target: Target, entry: string, out: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = {
      mode: 'production' as const,
      context: folder,
      entry,
      target,
      output: { path: out, filename: 'main.js' },
    };
    webpack(options, (error, stats) => {
      if (error) reject(error);
      else if (stats?.hasErrors() || stats?.hasWarnings()) reject(new Error(stats.toString()));
      else resolve();
    });
  });
}

async function byEsbuild(folder: string, target: Target, entries: string[], out: string): Promise<void> {
  const { warnings } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: entries,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: target === 'node' ? 'node' : 'browser',
    outdir: out,
    logLevel: 'silent',
  });
  if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
}

/** Bundles a main program and its worker. esbuild does not follow `new URL`, so both files are entries. */
export async function bundleByEsbuild(folder: string, target: Target, out: string): Promise<void> {
  await byEsbuild(folder, target, [`./${target}/main.js`, `./${target}/worker.js`], out);
}

/** Bundles a program of one file for a page. */
export async function bundleForWeb(folder: string, entry: string, out: string): Promise<void> {
  await byEsbuild(folder, 'web', [entry], out);
}

/** Bundles a main program; webpack finds the worker. */
export async function bundleByWebpack(folder: string, target: Target, out: string): Promise<void> {
  await byWebpack(folder, target, `./${target}/main.js`, out);
}

/** Bundles the page of a folder; Vite finds the worker. */
export async function bundleByVite(root: string, out: string): Promise<void> {
  await viteBuild({
    root,
    configFile: false,
    logLevel: 'error',
    build: { outDir: out, emptyOutDir: true },
  });
}

/** Returns the code of a program of a few lines as esbuild makes it for this target. */
export async function esbuildFor(target: Target, folder: string, entry: string, out: string): Promise<string> {
  await byEsbuild(folder, target, [entry], out);
  return code(out);
}

/** Each of these functions returns the minified code of a program of a few lines. */
export const bundlers: Record<string, (folder: string, entry: string, out: string) => Promise<string>> = {
  esbuild: (folder, entry, out) => esbuildFor('node', folder, entry, out),
  async webpack(folder, entry, out) {
    await byWebpack(folder, 'node', entry, out);
    return code(out);
  },
  async vite(folder, entry, out) {
    await viteBuild({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: { outDir: out, rolldownOptions: { input: join(folder, entry) } },
    });
    return code(out);
  },
};

/** Does the same by Vite for a program that Node runs. */
export async function viteForNode(folder: string, entry: string, out: string): Promise<string> {
  await viteBuild({
    root: folder,
    configFile: false,
    logLevel: 'error',
    build: { outDir: out, ssr: join(folder, entry), minify: true },
    ssr: { noExternal: true },
  });
  return code(out);
}

/** Returns the paths of the scripts below a folder. */
export function scripts(out: string): string[] {
  return readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
}

/** Returns the code of all scripts below a folder. */
export function code(out: string): string {
  return scripts(out)
    .map((name) => readFileSync(join(out, name), 'utf8'))
    .join('\n');
}
