/** The installed package in Node, without a bundler. */
import { spawn } from 'node:child_process';
import { describe, expect, inject, it } from 'vitest';
import { node, npm } from '../support/run.js';

const folder = inject('folder');
// `require` can load modules in Node from 20.19 and 22.12 on, if no flag forbids it.
const forbidden = ['--no-experimental-require-module'].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));

describe(`in Node ${process.versions.node}`, () => {
  it('every entry can be imported', () => {
    expect(node(folder, 'node/entries.js')).toBe('taketurns\n');
  });

  // A module, the bundle of the entry, and what it shares with others: looking.cjs is one of these, of four entries.
  it.each([
    ['taketurns', 2],
    ['taketurns/algorithms', 4],
    ['taketurns/channel', 3],
    ['taketurns/keyed', 4],
    ['taketurns/metrics', 5],
    ['taketurns/p0514', 4],
    ['taketurns/report', 5],
    ['taketurns/share', 3],
    ['taketurns/sync', 4],
    ['taketurns/tasks', 2],
  ])('%s is at most %i files, since a thread that starts pays for each', (entry, most) => {
    // What is loaded at the first call of `inspect`, say, does not count.
    const program = `import { createRequire } from 'node:module'; await import('${entry}');
      console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'))`;
    const loaded = node(folder, '--input-type=module', '--eval', program).trim().split('\n');
    // The tasks of one thread need nothing of the others.
    expect(loaded.join(' ')).toContain(entry.endsWith('/tasks') ? '/dist/node/tasks.cjs' : '/dist/node/core.cjs');
    // Beside these files of CommonJS there is the module that was imported.
    expect(1 + loaded.length).toBeLessThanOrEqual(most);
  });

  it('threads synchronise', () => {
    expect(node(folder, 'node/main.js')).toBe('counted to 40000, 1 death\n');
  });

  it('an example runs from the installed package', () => {
    expect(node(folder, 'node_modules/taketurns/examples/ring-buffer.mjs')).toBe('2000 items taken, 0 out of order\n');
  });

  it('every entry can be required, also beside the same entry imported', () => {
    expect(node(folder, 'node/required.cjs')).toBe('true\n');
  });

  it('every entry can be required where `require` loads no modules', () => {
    expect(node(folder, ...forbidden, 'node/required.cjs')).toBe('true\n');
  });

  it('npx taketurns-report asks a process in report mode', async () => {
    const child = spawn(process.execPath, ['--import', 'taketurns/report', 'node/hangs.js'], { cwd: folder });
    try {
      let said = '';
      while (!said.includes('Mutex "accounts"')) {
        try {
          said = npm(folder, 'exec', '--offline', '--', 'taketurns-report', String(child.pid));
        } catch {
          // The process does not listen yet.
        }
        await new Promise((later) => setTimeout(later, 50));
      }
      expect(said).toContain('Mutex "accounts": locked, held by thread 1 (threadId 0), 1 waiting\n');
    } finally {
      child.stdin.end();
      await new Promise((done) => child.on('close', done));
    }
  });
});
