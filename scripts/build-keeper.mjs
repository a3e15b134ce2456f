/** Minifies the code of the keeper, and makes a text of it that the library starts a thread with (src/host/keeper.ts). */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const input = 'src/host/keeper-thread.js';
const bundle = await rolldown({ input, platform: 'node' });
const { output } = await bundle.generate({ format: 'cjs', minify: true });
await bundle.close();
const code = output[0].code.replaceAll('/* @__PURE__ */ ', '').trim();
await writeFile(
  'src/host/keeper-source.ts',
  `// Made by scripts/build-keeper.mjs from ${input}.\nexport const SOURCE = ${JSON.stringify(code)};\n`,
);
