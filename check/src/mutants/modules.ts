/** The mutants of the modules that ship. */
import { type Mutant, mutants } from '../engine/mutation/mutate.js';
import { loadProgram, type ProgramName } from '../programs.js';

/** The mutants of a module, but for what it has compiled in of the core: that is mutated there. */
export function mutantsOf(program: ProgramName): (Mutant & { program: ProgramName })[] {
  return mutants(loadProgram(program))
    .filter(({ site }) => program === 'core' || site.fn.startsWith(`${program}/`))
    .map((mutant) => ({ ...mutant, program }));
}
