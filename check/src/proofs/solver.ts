/** Z3, compiled to WebAssembly: the package z3-solver of npm. It decides the checks in this process. */
import { init, killThreads } from 'z3-solver';
import type { Check } from './system.js';

/** The solver proved the check, refuted it by values, or gave up. */
export type Answer = 'unsat' | 'sat' | 'unknown';

/** How much work the solver may do for one check. This is a number of steps and no time, so each run ends alike. */
const EFFORT = 300_000;

/** Returns the text which asks a solver to decide the checks, in SMT-LIB 2. */
export function scriptOf(preamble: readonly string[], checks: readonly Check[]): string {
  return [
    '(set-option :auto_config false)',
    '(set-option :smt.mbqi false)',
    `(set-option :rlimit ${EFFORT})`,
    ...preamble,
    ...checks.flatMap(({ name, declares, asserts }) => [
      `; ${name}`,
      '(push 1)',
      ...declares,
      ...asserts.map((term) => `(assert ${term})`),
      '(check-sat)',
      '(pop 1)',
    ]),
  ].join('\n');
}

export interface Solver extends AsyncDisposable {
  /** Returns the answer to each check, in order. */
  decide(preamble: readonly string[], checks: readonly Check[]): Answer[];
}

export async function startSolver(): Promise<Solver> {
  const { em, Z3 } = await init();
  return {
    decide(preamble, checks) {
      const config = Z3.mk_config();
      const context = Z3.mk_context(config);
      Z3.del_config(config);
      // Z3.eval_smtlib2_string frees the text while a thread of Z3 still reads it. So the text is stored here.
      const text = new TextEncoder().encode(`${scriptOf(preamble, checks)}\0`);
      const address = em._malloc(text.length);
      new Uint8Array(em.HEAPU32.buffer, address, text.length).set(text);
      const output: string = em.UTF8ToString(em._Z3_eval_smtlib2_string(context, address));
      em._free(address);
      Z3.del_context(context);
      const answers = output.trim().split('\n');
      if (answers.length !== checks.length || !answers.every((answer) => /^(un)?sat$|^unknown$/.test(answer)))
        throw new Error(`the solver answers ${checks.length} checks by: ${output}`);
      return answers as Answer[];
    },
    // Z3 has threads of its own, which would keep the process alive.
    async [Symbol.asyncDispose]() {
      await killThreads(em);
    },
  };
}
