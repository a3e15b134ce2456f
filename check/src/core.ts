/** The core as built: its bytes translated, with the names of its functions. */
import { readFileSync } from 'node:fs';
import type { Program } from './wasm/code.js';
import { decode } from './wasm/decode.js';
import { translate } from './wasm/translate.js';

const file = (name: string): URL => new URL(`../../build/${name}`, import.meta.url);

export function loadCore(): Program {
  return translate(decode(readFileSync(file('core.wasm')), readFileSync(file('core.wat'), 'utf8')));
}
