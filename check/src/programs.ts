/** Loads the built modules, and translates them with the names of their functions. */

import type { Program } from './engine/wasm/code.js';
import { decode, type WasmModule } from './engine/wasm/decode.js';
import { joined } from './engine/wasm/link.js';
import { translate } from './engine/wasm/translate.js';
import { answersOf, moduleFiles } from './files.js';

export const PROGRAMS = ['core', 'algorithms'] as const;
export type ProgramName = (typeof PROGRAMS)[number];
/** The modules that are built. Models of `channel` and `sync` run in the program of the core. */
export type ModuleName = ProgramName | 'channel' | 'sync';

/** The functions of the algorithms that are called beside the core. */
const COUNTER = ['closeCounter', 'countDown', 'counted', 'countUp', 'tryCountDown', 'cancelWaiting'];

/** Returns the name of a function or global without the folders of its file. */
export function shortName(name: string): string {
  return name.replace(/^core\/(?!papers\/)(?:[\w-]+\/)*?(?=[\w-]+\/[\w-]+$)|^core\//, '');
}

function decoded(name: ModuleName): WasmModule {
  const { wasm, wat } = moduleFiles(name);
  return decode(wasm, wat, shortName);
}

const loaded = new Map<ProgramName, Program>();

export function loadProgram(name: ProgramName): Program {
  let program = loaded.get(name);
  if (program === undefined) {
    const module = decoded(name);
    const translated = translate(name === 'core' ? withOthers(module) : module);
    program = { ...translated, answers: answersByFunction(translated) };
    loaded.set(name, program);
  }
  return program;
}

/**
 * Joins the core with the functions of the other modules that models call. A semaphore of P0514 waits in the core, and
 * counts in the module of the algorithms. Of `taketurns/channel` and `taketurns/sync`, every function is taken once, except
 * `adopt`, by which an instance opens the arena.
 */
function withOthers(core: WasmModule): WasmModule {
  let all = joined(core, decoded('algorithms'), COUNTER);
  for (const other of [decoded('channel'), decoded('sync')]) {
    const has = (name: string): boolean => all.exports.has(name);
    const own = [...other.exports.keys()].filter((name) => !has(name) && name !== 'adopt');
    all = joined(all, other, own);
  }
  return all;
}

/** Returns the declared answers of each function. If two exports are one function, it may give the answers of each. */
function answersByFunction({ exports }: Program): Map<number, Set<number>> {
  const answers = new Map<number, Set<number>>();
  for (const [name, allowed] of (['core', 'algorithms', 'channel', 'sync'] as const).flatMap((one) =>
    Object.entries(answersOf(one)),
  )) {
    const index = exports.get(name);
    if (index !== undefined) answers.set(index, new Set([...(answers.get(index) ?? []), ...allowed]));
  }
  return answers;
}

/** Returns the program that a model runs on. */
export function programOf(model: { readonly program?: ProgramName }): Program {
  return loadProgram(model.program ?? 'core');
}
