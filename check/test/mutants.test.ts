/**
 * Faults put into the core on purpose are found, in under a second, with a trace; what only moves code is
 * none.
 */
import { describe, expect, it } from 'vitest';
import { loadCore } from '../src/core.js';
import { models } from '../src/models/table.js';
import { mutants, sites } from '../src/mutants/mutate.js';
import { Patch } from '../src/mutants/patch.js';
import { type Model, Scene } from '../src/scene/scene.js';
import { search } from '../src/search/search.js';
import { render } from '../src/search/trace.js';
import { type Program, STRIDE } from '../src/wasm/code.js';

const core = loadCore();
const all = mutants(core);

function modelOf(name: string): Model {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model is called ${name}`);
  return model;
}

/** The mutant of this access; its kind is given too, so that it is not mistaken when the core changes. */
function mutant(access: string, change: string): Program {
  const found = all.find(
    (m) => `${m.site.fn} ${m.site.index} ${m.site.kind}` === access && m.change === change,
  );
  if (found === undefined) throw new Error(`there is no ${access}: ${change}`);
  return found.make();
}

describe('seeded faults', () => {
  it.each([
    ['the look at grant after entering a cell', 'semaphore/enqueue 9 load', 'zero', '2x2'],
    ['a notify', 'semaphore/wakeDue 19 notify', 'dropped', '2x2'],
    [
      'one notified of all who sleep on a word',
      'ticket-semaphore/ticketRelease 3 notify',
      'one',
      'ticket: 4x1',
    ],
    ['the comparison when a grant is given', 'semaphore/wakeDue 17 cmpxchg', 'loosened', '1x3'],
    ['the epoch', 'semaphore/enqueue 14 load', 'zero', '1x3'],
    ['grant before ticket', 'semaphore/release 1 rmw', 'swapped', '2x2'],
    ['the comparison of a wait', 'semaphore/parkFor 4 wait', 'loosened', '2x2'],
  ])('%s', (_, access, change, name) => {
    const program = mutant(access, change);
    const model = modelOf(name);
    const { violation } = search(() => new Scene(program, model));
    expect(violation).toBeDefined();
    const trace = render(new Scene(program, model), violation?.schedule ?? []);
    expect(trace).toContain(`=> ${violation?.message}`);
    expect(trace).toContain(access.split(' ')[0]);
  });
});

describe('mutants', () => {
  it('have a name each, by access and change', () => {
    const names = new Set(all.map(({ site, change }) => `${site.fn} ${site.index} ${change}`));
    expect(names.size).toBe(all.length);
    expect(new Set(all.map(({ site }) => site.offset)).size).toBe(sites(core).length);
  });

  it('differ from the core, and leave it as it is', () => {
    const before = core.image.slice();
    for (const { make } of all) expect(make().image).not.toEqual(core.image);
    expect(core.image).toEqual(before);
  });

  it('behave as the core where an access is only moved elsewhere', () => {
    const model = modelOf('2x2');
    const { states, steps } = search(() => new Scene(core, model));
    for (const { pc } of sites(core).filter(({ fn }) => /^semaphore\/(acquire|park|wakeDue)$/.test(fn))) {
      const moved = new Patch(core).instead(pc, pc + STRIDE, [{ from: pc }]).program();
      expect(search(() => new Scene(moved, model))).toMatchObject({ states, steps, exhaustive: true });
    }
  });
});
