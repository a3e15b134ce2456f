/**
 * Minifies the code of the keepers, and writes it as texts. The library starts the threads of the keepers from these
 * texts (src/host/): a bundler of the user would not find a file that only a new thread loads. rolldown makes the texts;
 * no tool writes them into a file of TypeScript.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
for (const name of ['keeper', 'ports']) {
  const input = `src/host/${name}-thread.js`;
  const bundle = await rolldown({ input, platform: 'node' });
  const { output } = await bundle.generate({ format: 'cjs', minify: true, comments: false });
  await bundle.close();
  const code = output[0].code.trim();
  await writeFile(
    `src/host/${name}-source.ts`,
    `// Made by scripts/build-keeper.mjs from ${input}.\nexport const SOURCE = ${JSON.stringify(code)};\n`,
  );
}
