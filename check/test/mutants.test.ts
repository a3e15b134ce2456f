/** Faults put into the core are found in under a second, with a trace. Code that only moves is no fault. */
import { describe, expect, it } from 'vitest';
import { WHOLE } from '../../test/support/rounds.js';
import { mutants, namer, sites } from '../src/engine/mutation/mutate.js';
import { Patch } from '../src/engine/mutation/patch.js';
import { search } from '../src/engine/search/search.js';
import { render } from '../src/engine/search/trace.js';
import { type Program, STRIDE } from '../src/engine/wasm/code.js';
import { models } from '../src/models/all.js';
import { firstModels } from '../src/mutants/first-models.js';
import { mutantsOf } from '../src/mutants/modules.js';
import { explain, guardsIn, killers, part, report } from '../src/mutants/report.js';
import { measure, tryMutant, wordsIn } from '../src/mutants/trial.js';
import { loadProgram, PROGRAMS, programOf } from '../src/programs.js';
import { Driver } from '../src/scene/driver.js';
import type { Model } from '../src/scene/model.js';

const core = loadProgram('core');
const all = PROGRAMS.flatMap(mutantsOf);

function modelOf(name: string): Model {
  const model = models.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model is called ${name}`);
  return model;
}

/** Returns the mutant of this name, as the report would call it if it knew the words of this model alone. */
function mutant(name: string, model: Model): Program {
  const program = programOf(model);
  const nameOf = namer(sites(program), wordsIn([measure(program, model)]));
  const found = mutants(program).find((one) => nameOf(one) === name);
  if (found === undefined) throw new Error(`no mutant is called ${name}`);
  return found.make();
}

describe('seeded faults', () => {
  it.each([
    ['the look at grant after entering a cell', 'queue/lookAtGrant: load grant, zero', '2x2', 'queue/untilDue'],
    ['a notify', 'queue/endWait: notify state, dropped', '2x2'],
    ['one notified of all who sleep on a word', 'papers/ticket-semaphore/ticketPost: notify grant, one', 'ticket: 4x1'],
    ['the comparison when a grant is given', 'queue/endWait: cmpxchg state, loosened', '1x3'],
    ['the epoch', 'queue/leaveQueue: load state, zero', '1x3'],
    ['grant before ticket', 'queue/releaseOne: rmw grant, swapped with load ticket', '2x2'],
    ['the comparison of a wait', 'threads/sleepOn: wait state, loosened', '2x2'],
    [
      'a tombstone that is passed while it is half joined',
      'tombstones/merge: store state #1, dropped',
      'tombstones: half joined and passed',
    ],
    ['the epoch of a tombstone', 'tombstones/claim: load state, ones', 'owners: cancelled when due, from epoch 0'],
  ])('%s', (_, name, modelName, seen = name.split(':')[0]) => {
    const model = modelOf(modelName);
    const program = mutant(name, model);
    const { violation } = search(() => new Driver(program, model));
    expect(violation).toBeDefined();
    const trace = render(new Driver(program, model), violation?.schedule ?? []);
    expect(trace).toContain(`=> ${violation?.message}`);
    expect(trace).toContain(seen);
  });
});

describe('a mutant', () => {
  it('is tried with one model after the other, until one kills it or they are too large together', () => {
    const last = modelOf('2x2');
    const program = mutant('queue/lookAtGrant: load grant, zero', last);
    const candidates = [
      [modelOf('names, one thread'), 300],
      [last, 300],
    ] as const;
    expect(tryMutant(program, candidates)).toMatchObject({ outcome: 'killed', model: '2x2' });
    expect(tryMutant(program, candidates, 300)).toEqual({ outcome: 'survived' });
    // A model that is larger than the limit has no size. It uses up no budget.
    const large = [[modelOf('names, one thread'), Infinity], candidates[1]] as const;
    expect(tryMutant(program, large, 300)).toMatchObject({ outcome: 'killed', model: '2x2' });
  });

  it('has the model that killed it in the report', () => {
    const finding = { name: 'a/b: load c|d, zero', fn: 'a/b', change: 'zero', reason: undefined };
    const verdict = { outcome: 'killed', model: '2x2', message: 'x | y' } as const;
    const other = {
      ...finding,
      name: 'a/b: load e, ones',
      reason: 'why',
      verdict: { outcome: 'survived' } as const,
    };
    const core = part('core', [{ ...finding, verdict }, other], 1, 1);
    const text = report(new Map([['core', core]]), '');
    expect([...killers(text)]).toEqual([[finding.name, '2x2']]);
    expect(guardsIn(text, ['a/b'])).toBe(
      'a/b: load c|d, zero\n    found by the model "2x2": x | y\na/b: load e, ones\n    found by no model: why',
    );
    expect(guardsIn(text, ['a/bc'])).toBe('');
    expect(report(new Map(), text)).toBe(text);
    const algorithms = part('algorithms', [{ ...finding, name: 'c: load d, zero', verdict }], 1, 1);
    const both = report(new Map([['algorithms', algorithms]]), text);
    expect(both).toBe(text + algorithms);
    expect([...killers(both).keys()]).toEqual([finding.name, 'c: load d, zero']);
    expect(report(new Map([['core', core]]), both)).toBe(both);
  });
});

describe('a mutant that survives', () => {
  it('gets its reason anew, without another run', () => {
    const finding = {
      ...{ name: 'a/b: load c|d, zero', fn: 'a/b', change: 'zero', reason: undefined },
      verdict: { outcome: 'survived' } as const,
    };
    const other = { ...finding, name: 'a/b: load e, ones', reason: 'why' };
    const killed = {
      ...{ ...finding, name: 'a/b: load f, ones' },
      verdict: { outcome: 'killed', model: '2x2', message: 'x' } as const,
    };
    const of = (...findings: Parameters<typeof part>[1]): string =>
      report(new Map([['core', part('core', findings, 1, 1)]]), '');
    const again = explain(of(finding, other, killed), (name) => (name === finding.name ? 'because' : undefined));
    expect(again.open).toEqual([other.name]);
    expect(again.text).toBe(of({ ...finding, reason: 'because' }, { ...other, reason: undefined }, killed));
  });
});

describe('mutants', () => {
  it('each have a name, by access and change', () => {
    const names = new Set(all.map(({ site, change }) => `${site.fn} ${site.index} ${change}`));
    expect(names.size).toBe(all.length);
    const places = (program: (typeof PROGRAMS)[number]) =>
      new Set(all.filter((one) => one.program === program).map(({ site }) => site.offset)).size;
    expect(places('core')).toBe(sites(core).filter(({ fn }) => !fn.startsWith('copy/')).length);
    const own = sites(loadProgram('algorithms')).filter(({ fn }) => fn.startsWith('papers/'));
    expect(places('algorithms')).toBe(own.length);
    expect(own.length).toBeGreaterThan(30);
  });

  it.each(firstModels)('%s are tried first with the model "%s"', (mutant, model) => {
    expect(models.some(({ name }) => name === model)).toBe(true);
    const fn = mutant.source.replaceAll('\\', '').slice(1).split(':')[0];
    expect(all.filter(({ site }) => site.fn === fn)).not.toEqual([]);
  });

  it.each(PROGRAMS)('differ from %s, and leave it as it is', (name) => {
    const { image } = loadProgram(name);
    const before = image.slice();
    const bytes = ({ buffer, byteOffset, byteLength }: Int32Array): Buffer =>
      Buffer.from(buffer, byteOffset, byteLength);
    const isSame = (a: Int32Array, b: Int32Array): boolean => bytes(a).equals(bytes(b));
    // It takes milliseconds to make a mutant.
    const tried = all.filter(({ program }, i) => program === name && (WHOLE || i % 8 === 0));
    const same = tried.filter(({ make }) => isSame(make().image, image));
    expect(tried.length).toBeGreaterThan(0);
    expect(same).toEqual([]);
    expect(isSame(image, before)).toBe(true);
  });

  it('behave as the core where an access is only moved elsewhere', () => {
    const model = modelOf('2x2');
    const { states, steps } = search(() => new Driver(core, model));
    for (const { pc } of sites(core).filter(({ fn }) => /^semaphore\/(acquire|park|wakeDue)$/.test(fn))) {
      const moved = new Patch(core).instead(pc, pc + STRIDE, [{ from: pc }]).program();
      expect(search(() => new Driver(moved, model))).toMatchObject({ states, steps, exhaustive: true });
    }
  });
});
