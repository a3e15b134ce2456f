/** The modules as built: their bytes translated, with the names of their functions. */
import { moduleFiles } from './files.js';
import type { Program } from './wasm/code.js';
import { decode } from './wasm/decode.js';
import { translate } from './wasm/translate.js';

export const PROGRAMS = ['core', 'algorithms'] as const;
export type ProgramName = (typeof PROGRAMS)[number];

const loaded = new Map<ProgramName, Program>();

export function loadProgram(name: ProgramName): Program {
  let program = loaded.get(name);
  if (program === undefined) {
    const { wasm, wat } = moduleFiles(name);
    program = translate(decode(wasm, wat));
    loaded.set(name, program);
  }
  return program;
}

/** The program that a model runs on. */
export function programOf(model: { readonly program?: ProgramName }): Program {
  return loadProgram(model.program ?? 'core');
}
