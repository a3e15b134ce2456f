/** Makes the script and the modules that the simulation runs, from dist/ and build/. Part of `npm run build`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { assembled, MODULES } from './core.js';
import { bundle, made } from './library.js';

mkdirSync(made, { recursive: true });
writeFileSync(new URL('library.js', made), await bundle());
for (const name of MODULES) writeFileSync(new URL(`${name}.wasm`, made), await assembled(name));
