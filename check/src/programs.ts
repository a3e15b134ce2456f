/** The modules as built: their bytes translated, with the names of their functions. */
import { readFileSync } from 'node:fs';
import type { Program } from './wasm/code.js';
import { decode } from './wasm/decode.js';
import { translate } from './wasm/translate.js';

export const PROGRAMS = ['core', 'algorithms'] as const;
export type ProgramName = (typeof PROGRAMS)[number];

const loaded = new Map<ProgramName, Program>();

export function loadProgram(name: ProgramName): Program {
  let program = loaded.get(name);
  if (program === undefined) {
    const file = (type: string): URL => new URL(`../../build/${name}.${type}`, import.meta.url);
    program = translate(decode(readFileSync(file('wasm')), readFileSync(file('wat'), 'utf8')));
    loaded.set(name, program);
  }
  return program;
}

/** The program that a model runs on. */
export function programOf(model: { readonly program?: ProgramName }): Program {
  return loadProgram(model.program ?? 'core');
}
