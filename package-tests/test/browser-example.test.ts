/** examples/browser.mjs serves its pages with the headers that they need, and the pages work as they say. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { chromium, resultOf } from '../support/browser.js';
import { bundleByVite } from '../support/bundle.js';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** The address that the program prints once it serves. */
function addressOf(program: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    program.stdout?.setEncoding('utf8').on('data', (text) => {
      said += text;
      const [, address] = said.match(/^open (http:\S+)\n/m) ?? [];
      if (address) resolve(address);
    });
    program.on('exit', () => reject(new Error(`it ended, and had said: ${said}`)));
  });
}

describe('an example for browsers', () => {
  it.each([
    ['browser', ['', 'main.js', 'worker.js']],
    ['audio', ['', 'main.js', 'worker.js', 'processor.js']],
  ])('in the folder %s is served with the headers for shared memory', async (folder, files) => {
    const program = spawn(process.execPath, [join(examples, 'browser.mjs'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const address = await addressOf(program);
      for (const file of files) {
        const { status, headers } = await fetch(new URL(file, address));
        expect(status).toBe(200);
        expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin');
        expect(headers.get('Cross-Origin-Embedder-Policy')).toBe('require-corp');
      }
    } finally {
      program.kill();
    }
  });

  // These run only if the machine has Chromium.
  it.skipIf(chromium === undefined).each([
    ['browser', /^The page has had its 5 turns, the workers [1-9]\d*\.$/],
    ['audio', /^32768 samples through the ring, 0 wrong\.$/],
  ])('in the folder %s works in Chromium', async (folder, says) => {
    const out = mkdtempSync(join(tmpdir(), 'taketurns-example-'));
    try {
      await bundleByVite(join(examples, folder), out);
      expect(await resultOf(out)).toMatch(says);
    } finally {
      rmSync(out, { recursive: true });
    }
  });
});
