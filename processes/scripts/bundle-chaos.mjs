/**
 * Makes one file of the program that the processes of `npm run chaos:servers -w processes` run: a process that is
 * killed is replaced as soon as another has loaded, and one file loads sooner than the hundred of a client library.
 */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(fileURLToPath(new URL('../build/processes/chaos', import.meta.url)));
const bundle = await rolldown({ input: 'client.js', platform: 'node' });
await bundle.write({ file: 'client-bundle.js', format: 'esm', codeSplitting: false });
await bundle.close();
