/**
 * `npm run prove -w check` decides all checks of the proofs, and prints the answers. With a folder it writes the checks
 * there instead, for another solver: `z3 FILE` must answer `unsat` to each.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { proofs } from './proofs/all.js';
import { scriptOf, startSolver } from './proofs/solver.js';

const { write } = new Command('prove')
  .description('Proves the capacitor and the waiting array for any number of threads.')
  .option('--write <folder>', 'write the checks in SMT-LIB 2, for another solver')
  .parse()
  .opts<{ readonly write?: string }>();

if (write === undefined) await prove();
else {
  mkdirSync(write, { recursive: true });
  for (const { name, preamble, checks } of proofs) {
    const file = join(write, `${name.replaceAll(' ', '-')}.smt2`);
    writeFileSync(file, `${scriptOf(preamble, checks)}\n`);
    console.log(`${file}: ${checks.length} checks`);
  }
}

async function prove(): Promise<void> {
  await using solver = await startSolver();
  for (const { name, preamble, checks } of proofs) {
    const answers = solver.decide(preamble, checks);
    checks.forEach((check, i) => {
      console.log(`${answers[i] === 'unsat' ? 'proved    ' : 'NOT PROVED'}  ${name}, ${check.name}`);
    });
    if (answers.some((answer) => answer !== 'unsat')) process.exitCode = 1;
  }
}
