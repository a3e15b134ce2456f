/** Each error that tells of an arena says what to do. Here the programs do what it says. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANOTHER_VERSION, folderOfCopy } from '../support/copies.js';
import { runProgram } from '../support/program.js';

// The folder is inside the package, where the package's own name resolves to it.
const folder = fileURLToPath(new URL('../../build/arena-advice/', import.meta.url));
beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

/** Runs a program of these lines, and returns what it prints. */
async function run(lines: readonly string[], type: 'mjs' | 'cjs' = 'mjs'): Promise<string> {
  const file = `${folder}${files++}.${type}`;
  writeFileSync(file, lines.join('\n'));
  const { code, out, err } = await runProgram(file);
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${out}${err}`);
  return out.trim();
}

interface Raised {
  readonly number: number;
  readonly errors: readonly string[];
}

/** Two workers raise a number in steps that are not atomic. Only the workers use the library. */
async function raise(first = '', ...args: readonly string[]): Promise<Raised> {
  return JSON.parse((await runProgram('only-workers', [...args, first])).out);
}

describe('if only the workers use the library,', () => {
  const LINE = /^this worker has no default arena, in which .*: add the line (import '[^']+';) \(in CommonJS (.+?;)\)/;

  it('the error of a name has the line that helps', async () => {
    const { number, errors } = await raise('', '');
    expect(number).toBe(0);
    expect(errors).toHaveLength(2);
    const [, line = '', required = ''] = LINE.exec(errors[0] as string) ?? [];
    const program = new URL('../programs/only-workers.mjs', import.meta.url);
    const imported = await run([line, `await import('${program}');`]);
    expect(JSON.parse(imported)).toEqual({ number: 200, errors: [] });
    expect(JSON.parse(await run([required, `import('${program}');`], 'cjs'))).toEqual({ number: 200, errors: [] });
  });

  it('and the main thread shares an arena of another version, the error says so', async () => {
    const entry = `${folderOfCopy(ANOTHER_VERSION)}/share.js`;
    const { number, errors } = await raise('', entry);
    expect(number).toBe(0);
    for (const error of errors) expect(error).toMatch(/: the main thread has loaded another version of the package, /);
    expect(await raise('', `${folderOfCopy()}/share.js`)).toEqual({ number: 200, errors: [] });
  });

  it('they share by the entry, and it stands beside an arena of other sizes', async () => {
    expect(await raise('', 'taketurns/share')).toEqual({ number: 200, errors: [] });
    const program = new URL('../programs/only-workers.mjs', import.meta.url);
    const sized = ["import { Arena } from 'taketurns';", 'new Arena({ objects: 9 }).makeDefault();'];
    const out = await run([...sized, "await import('taketurns/share');", `await import('${program}');`]);
    expect(JSON.parse(out)).toEqual({ number: 200, errors: [] });
  });

  it.each(['new Arena().makeDefault()', 'Arena.from(new Mutex().handle.arena).makeDefault()'])(
    'none of them makes an arena of its own its default arena: %s',
    async (first) => {
      const { number, errors } = await raise(first, '');
      expect(number).toBe(0);
      expect(errors).toHaveLength(2);
      for (const error of errors)
        expect(error).toMatch(
          /^makeDefault: this worker has made the arena, .* take this call out, and add the line import 'taketurns\/share';/,
        );
    },
  );

  it('and the main thread has the line, the call that makes such an arena is to go', async () => {
    const { number, errors } = await raise('new Arena().makeDefault()', 'taketurns/share');
    expect([number, errors.length]).toEqual([0, 2]);
    for (const error of errors)
      expect(error).toMatch(/^makeDefault: this worker has a default arena already, .*: take this call out, /);
  });

  it('the entry does nothing in a worker that has inherited, and throws in one that has not', async () => {
    const worker = (code: string): string[] => [
      "const { once } = await import('node:events');",
      "const { Worker } = await import('node:worker_threads');",
      `const worker = new Worker(${JSON.stringify(code)}, { eval: true });`,
      "worker.on('error', ({ message }) => console.log(message));",
      "await once(worker, 'exit').catch(() => {});",
    ];
    const share = "import('taketurns/share').then(() => console.log('shares'))";
    expect(await run(worker(share))).toMatch(/^this worker has no default arena/);
    expect(await run(["import 'taketurns/share';", ...worker(share)])).toBe('shares');
  });
});

describe('if the arena is full,', () => {
  const fill = [
    "import { Arena, Mutex } from 'taketurns';",
    'const kept = [];',
    'const fill = () => { for (let i = 0; i < 5; i++) { kept.push(Mutex.open(String(i))); kept[i].lock(); } };',
    "const attempt = () => { try { fill(); return 'fits'; } catch ({ message }) { return message; } };",
  ];
  const CODE =
    /make a larger arena: (new Arena\(\{ objects: \d+ \}\)), and for the default arena, (.*), (new Arena.*)$/;

  it('the code in the error makes a larger one, in the main thread before all else', async () => {
    const error = await run([...fill, 'new Arena({ objects: 4 }).makeDefault();', 'console.log(attempt());']);
    const [, made = '', where, code = ''] = CODE.exec(error) ?? [];
    expect([made, where, code]).toEqual([
      'new Arena({ objects: 8 })',
      'in the main thread before all else',
      'new Arena({ objects: 8 }).makeDefault()',
    ]);
    expect(await run([...fill, `${code};`, 'console.log(attempt());'])).toBe('fits');
    const inIt = `kept.push(...[1, 2, 3, 4, 5].map(() => new Mutex({ arena })));`;
    expect(await run([...fill, `const arena = ${made};`, inIt, "console.log('fits');"])).toBe('fits');
  });

  it('the same code elsewhere is refused, with the place where it helps', async () => {
    const late = [...fill, "Mutex.open('first');", 'try {', 'new Arena({ objects: 8 }).makeDefault();'];
    const error = await run([...late, '} catch ({ message }) { console.log(message); }']);
    expect(error).toMatch(
      /^makeDefault: this thread has a default arena already, .*: call makeDefault before all else, and in place of import 'taketurns\/share'$/,
    );
  });
});

it('if messages of a channel have no room, the arena that the error makes has it', async () => {
  const lines = [
    "import { Arena } from 'taketurns';",
    "import { Channel, number } from 'taketurns/channel';",
    'const attempt = () => { try { return String(new Channel({ codec: number, capacity: 65536 })); } catch (e) { return e.message; } };',
  ];
  const error = await run([...lines, 'new Arena({ bytes: 8192 }).makeDefault();', 'console.log(attempt());']);
  const [, made = '', where] =
    /make a larger arena: (new Arena\(.*?\)), and for the default arena, (.*?),/.exec(error) ?? [];
  expect(where).toBe('in the main thread before all else');
  expect(await run([...lines, `${made}.makeDefault();`, 'console.log(attempt());'])).toMatch(/^Channel\(/);
});

it('if objects of two arenas are selected from, the call that the error names works', async () => {
  const lines = [
    "import { Arena } from 'taketurns';",
    "import { Channel, number, receiving, select, selectAsync } from 'taketurns/channel';",
    'const channels = [new Channel({ codec: number }), new Channel({ codec: number, arena: new Arena() })];',
    'const cases = channels.map(receiving);',
  ];
  const error = await run([...lines, 'try { select(cases); } catch ({ message }) { console.log(message); }']);
  expect(error).toBe('select: the objects of the cases must be in one arena: use selectAsync');
  expect(
    await run([...lines, 'const one = selectAsync(cases); channels[1].send(7); console.log((await one).value);']),
  ).toBe('7');
});
