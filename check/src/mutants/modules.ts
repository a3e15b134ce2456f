/** Lists the mutants of the modules that ship. */
import { type Mutant, mutants } from '../engine/mutation/mutate.js';
import { loadProgram, type ProgramName } from '../programs.js';

/**
 * Returns the mutants of a module. Modules besides the core also contain functions of the core. This function leaves
 * those functions out, since the mutants of the core cover them.
 */
export function mutantsOf(program: ProgramName): (Mutant & { program: ProgramName })[] {
  return mutants(loadProgram(program))
    .filter(({ site: { fn } }) => (program === 'core' ? !fn.startsWith('copy/') : fn.startsWith('papers/')))
    .map((mutant) => ({ ...mutant, program }));
}
