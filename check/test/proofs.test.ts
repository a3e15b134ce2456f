/**
 * The proofs for all numbers of threads (docs/internals/proofs.md): each check holds, each step is possible, and each
 * fault that is put into a system makes a check fail.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proofs, systems } from '../src/proofs/all.js';
import { mutants, mutated, runs } from '../src/proofs/mutants.js';
import { type Answer, type Solver, startSolver } from '../src/proofs/solver.js';
import { checkOf, checksOf, preambleOf } from '../src/proofs/system.js';

/** Milliseconds: more than a slow machine needs for all checks of a proof. */
const LIMIT = 300_000;

let solver: Solver;
beforeAll(async () => {
  solver = await startSolver();
}, LIMIT);
afterAll(() => solver[Symbol.asyncDispose]());

describe.each(proofs)('$name', ({ preamble, checks }) => {
  let answers: readonly Answer[];
  beforeAll(() => {
    answers = solver.decide(preamble, checks);
  }, LIMIT);

  it.each(checks.map(({ name }, i) => [name, i] as const))('%s', (_, i) => {
    expect(answers[i]).toBe('unsat');
  });
});

describe.each(runs)('$system.name: $run.name', ({ system, run }) => {
  it('is possible', () => {
    expect(solver.decide([], [checkOf(system, run)])).toEqual(['sat']);
  });
});

describe.each(mutants)('$system.name: $name', (mutant) => {
  const system = mutated(mutant);

  it('makes a check fail', () => {
    const check = checksOf(system).find(({ name }) => name === mutant.fails);
    if (check === undefined) throw new Error(`there is no check '${mutant.fails}'`);
    expect(solver.decide(preambleOf(system), [check])[0]).not.toBe('unsat');
  });

  it('is wrong', () => {
    expect(solver.decide([], [checkOf(system, { ...mutant.run, name: mutant.name })])).toEqual(['sat']);
  });
});

describe.each(systems)('$name', (system) => {
  it('takes each step in a run', () => {
    const taken = new Set(
      runs.filter((one) => one.system === system).flatMap(({ run }) => run.steps.map(([name]) => name)),
    );
    expect([...taken].sort()).toEqual(system.steps.map(({ name }) => name).sort());
  });

  it.each(system.steps)('$name: its code is there', ({ code }) => {
    for (const { file, line } of code)
      expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toContain(line);
  });
});
