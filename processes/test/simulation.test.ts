/**
 * The published client with the published script in simulated worlds. `SEEDS=20000 npx vitest run
 * test/simulation.test.ts` runs more worlds. `SEED=7` runs one world and prints what happens in it.
 */
import { expect, test } from 'vitest';
import { roundsInCi } from '../../test/support/rounds.js';
import { simulate } from '../check/simulation.js';
import { WHOLE } from './each-server.js';

const seeds = Number(process.env.SEEDS ?? (WHOLE ? 60 : roundsInCi(12, 4)));
const one = process.env.SEED;

/** The seeds of worlds in which something was once wrong. They run besides the first seeds. */
const KNOWN = [31, 117];

test.each([
  ['without failovers', {}],
  ['with failovers', { failovers: true }],
  ['with connections that die silently', { silent: true }],
])('nothing is lost and nobody waits for ever, %s', { timeout: 3_600_000 }, async (_, how) => {
  const happened = new Map<string, number>();
  let grants = 0;
  const all = [...Array.from({ length: seeds }, (_, i) => i + 1), ...KNOWN];
  for (const seed of one === undefined ? all : [Number(one)]) {
    const lines: string[] = [];
    const log = one === undefined ? {} : { log: (line: string) => lines.push(line) };
    const result = await simulate({ seed, ...how, ...log });
    if (one !== undefined) console.log(lines.join('\n'));
    expect(result.fault, `seed ${seed}, step ${result.steps}`).toBeUndefined();
    grants += result.grants;
    for (const [kind, count] of result.happened) happened.set(kind, (happened.get(kind) ?? 0) + count);
  }
  if (one !== undefined) return;
  console.log(`${seeds} worlds, ${grants} grants, ${JSON.stringify([...happened])}`);
  // All that the worlds have to try has happened.
  for (const kind of ['cut commands', 'cut messages', 'lose a message', 'kill', 'pause', 'rejected: TimeoutError'])
    expect(happened.get(kind) ?? 0, kind).toBeGreaterThan(0);
  if ('silent' in how)
    for (const kind of ['commands die silently', 'messages die silently'])
      expect(happened.get(kind) ?? 0, kind).toBeGreaterThan(0);
});
