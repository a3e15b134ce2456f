import { beforeAll, describe, expect, it } from 'vitest';
import { Machine, NOTIFY } from '../src/engine/machine/machine.js';
import { OP_ACCESS, STRIDE } from '../src/engine/wasm/code.js';
import { PATIENCE_WITH_DELAYS } from '../src/simulate/pauses.js';
import { BYTES, load, Sequence, THREADS } from './call-sequences.js';
import { draws, PAGE, sharedMemory } from './engine/machine-support.js';

describe.each([
  ['core', 10_000, 0.08],
  // A hand-over in a queue needs a waiter. There is no waiter if the calls are made one after the other.
  ['algorithms', 3000, 0.36],
] as const)('%s on the machine and on the engine', (name, sequences, most) => {
  const loaded = load(name);
  const { program } = loaded;
  const performed = new Set<number>();
  let calls = 0;
  let traps = 0;

  beforeAll(() => {
    const machine = new Machine(program, { bytes: BYTES, threads: THREADS });
    machine.patience = PATIENCE_WITH_DELAYS;
    const fresh = machine.snapshot();
    const memory = sharedMemory(BYTES / PAGE);
    for (let seed = 1; seed <= sequences; seed++) {
      machine.restore(fresh);
      const made = new Sequence(loaded, machine, memory, draws(Math.imul(seed, 0x9e3779b1)), performed).run();
      calls += made.calls;
      traps += made.traps;
    }
  }, 300_000);

  it('agree in all sequences, of which some trap', () => {
    expect(calls).toBeGreaterThan(10 * sequences);
    expect(traps).toBeGreaterThan(sequences / 100);
    expect(traps).toBeLessThan(sequences / 2);
  });

  it('enter every function, and perform all accesses but those that need a race', () => {
    const missing: string[] = [];
    const entered = new Set<string>();
    const withAccesses = new Set<string>();
    let accesses = 0;
    for (let pc = STRIDE; pc < program.codeEnd; pc += STRIDE) {
      const op = program.image[pc] as number;
      if (op < OP_ACCESS || op > OP_ACCESS + NOTIFY) continue;
      accesses++;
      const origin = program.origins[pc / STRIDE] as number;
      const { name } = program.functions[program.owners[pc / STRIDE] as number] as { name: string };
      withAccesses.add(name);
      if (performed.has(origin)) entered.add(name);
      else missing.push(`${name} ${origin}`);
    }
    if (name === 'core') expect([...entered]).toEqual(expect.arrayContaining([...withAccesses]));
    expect(missing.length / accesses, missing.join('\n')).toBeLessThan(most);
  });
});
