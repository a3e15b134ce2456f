/** Rings of threads that wait for one another: each is named whole, however long it is. */
import type { ArenaReport } from 'taketurns/report';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.js';
import { WHOLE } from '../support/rounds.js';

const sizes = WHOLE ? Array.from({ length: 63 }, (_, i) => i + 2) : [2, 5, 20, 64];

describe('a ring of threads', () => {
  it.each(sizes)('of %i is named whole, and warned of once', async (size) => {
    const { out, err } = await runProgram('hangs', ['ring', size], 60_000);
    const { deadlocks } = JSON.parse(out) as ArenaReport;
    expect(deadlocks.map(({ edges, behind }) => [edges.length, behind.length])).toEqual([[size, 0]]);
    expect(new Set(deadlocks[0]?.edges.map(({ thread }) => thread.thread)).size).toBe(size);
    expect(err.match(/TaketurnsWarning: deadlock: /g)).toHaveLength(1);
  });
});
