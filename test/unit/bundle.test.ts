/** Who imports the semaphore alone does not carry the algorithms of the papers. */
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { describe, expect, it } from 'vitest';
import { algorithmsBytes } from '../../src/algorithms/algorithms-bytes.js';
import { coreBytes } from '../../src/engine/core-bytes.js';

const ENTRY = 'virtual:entry';

/** The code of a program of one line, bundled. */
async function bundle(code: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    root: fileURLToPath(new URL('../..', import.meta.url)),
    plugins: [
      {
        name: 'entry',
        resolveId: (id: string) => (id === ENTRY ? `\0${id}` : null),
        load: (id: string) => (id === `\0${ENTRY}` ? code : null),
      },
    ],
    build: { write: false, minify: false, rollupOptions: { input: ENTRY } },
  });
  const { output } = result as { output: { type: string; code?: string }[] };
  return output.map((part) => part.code ?? '').join('\n');
}

describe('a bundle', () => {
  it('of the semaphore holds no algorithms', async () => {
    const code = await bundle("import { Semaphore } from 'taketurns'; console.log(Semaphore);");
    expect(code).toContain(coreBytes);
    expect(code).not.toContain(algorithmsBytes.slice(0, 1000));
    expect(code).not.toContain('twaAcquire');
  });

  it('of an algorithm holds both', async () => {
    const code = await bundle(
      "import { TwaSemaphore } from 'taketurns/algorithms'; console.log(TwaSemaphore);",
    );
    expect(code).toContain(coreBytes);
    expect(code).toContain(algorithmsBytes);
    expect(code).toContain('twaAcquire');
  });
});
