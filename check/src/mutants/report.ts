/** Writes the report on mutants, build/mutants.md: a part for each module. */
import { PROGRAMS, type ProgramName } from '../programs.js';
import type { Verdict } from './trial.js';

/** A mutant with the verdict on it. */
export interface Finding {
  readonly name: string;
  readonly fn: string;
  readonly change: string;
  readonly verdict: Verdict;
  /** Why the mutant may survive. */
  readonly reason: string | undefined;
}

const UNEXPLAINED = '**not explained**';

interface Count {
  killed: number;
  explodes: number;
  survived: number;
}

function countBy(findings: readonly Finding[], keyOf: (finding: Finding) => string): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (const finding of findings) {
    const count = counts.get(keyOf(finding)) ?? { killed: 0, explodes: 0, survived: 0 };
    counts.set(keyOf(finding), count);
    count[finding.verdict.outcome]++;
  }
  return counts;
}

const row = (...cells: readonly (string | number)[]): string =>
  `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');
}

function counts(title: string, by: Map<string, Count>): string {
  const rows = [...by].map(([key, { killed, explodes, survived }]) => [key, killed, explodes, survived]);
  return table([title, 'killed', 'explode', 'survive'], rows);
}

/** Returns one line: how many mutants there are, and how many of all mutants and of the harmful mutants are killed. */
export function summary(findings: readonly Finding[]): string {
  const count = (outcome: Verdict['outcome']): number =>
    findings.filter(({ verdict }) => verdict.outcome === outcome).length;
  const killed = count('killed') + count('explodes');
  const harmless = findings.filter(({ reason, verdict }) => verdict.outcome === 'survived' && reason).length;
  return sentence(findings.length, killed, count('explodes'), harmless);
}

function sentence(mutants: number, killed: number, explode: number, harmless: number): string {
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
  return (
    `${mutants} mutants: ${killed} killed (${percent(killed, mutants)}), of which ` +
    `${explode} by many times more states; ${harmless} without effect on what is promised; ` +
    `${mutants - killed - harmless} neither. ` +
    `Of those that have an effect, ${percent(killed, mutants - harmless)} are killed.`
  );
}

/** Returns a report with the reasons of its survivors written anew, and the survivors that have no reason. */
export function explain(
  last: string,
  reasonOf: (name: string) => string | undefined,
): { readonly text: string; readonly open: readonly string[] } {
  const open: string[] = [];
  const [head, ...parts] = last.split(/(?=\n## )/);
  const explained = parts.map((part) => {
    let harmless = 0;
    const [from, to] = ['\n### Survivors\n', '\n### Killed\n'].map((title) => part.indexOf(title)) as [number, number];
    const survivors = part.slice(from, to).replace(/^\| (\S+: .+?) \| .* \|$/gm, (_, cell: string) => {
      const name = cell.replaceAll('\\|', '|');
      const reason = reasonOf(name);
      if (reason === undefined) open.push(name);
      else harmless++;
      return row(name, reason ?? UNEXPLAINED);
    });
    return `${part.slice(0, from)}${survivors}${part.slice(to)}`.replace(
      /^(\d+) mutants: (\d+) killed .*?, of which (\d+) .*$/m,
      (_, mutants: string, killed: string, explode: string) =>
        sentence(Number(mutants), Number(killed), Number(explode), harmless),
    );
  });
  return { text: [head, ...explained].join(''), open };
}

/** Reads from a report which model killed each mutant. */
export function killers(text: string): Map<string, string> {
  return new Map(rowsOf(text, 'Killed').map(([name, model]) => [name, model] as [string, string]));
}

/** Returns the cells of the tables under a title, in the parts on all modules. */
function rowsOf(text: string, title: string): string[][] {
  return text
    .split(`\n### ${title}\n`)
    .slice(1)
    .flatMap((section) => (section.split('\n#')[0] as string).split('\n').slice(3))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    )
    .filter(({ length }) => length >= 2);
}

/** Says of each mutant of a report whose name contains one of these texts what guards the access, or why nothing has to. */
export function guardsIn(text: string, only: readonly string[]): string {
  const isAsked = ([name]: readonly string[]): boolean => only.some((part) => name?.includes(part));
  return [
    ...rowsOf(text, 'Killed')
      .filter(isAsked)
      .map(([name, model, finds]) => `${name}\n    found by the model "${model}": ${finds}`),
    ...rowsOf(text, 'Survivors')
      .filter(isAsked)
      .map(([name, reason]) => `${name}\n    found by no model: ${reason}`),
  ].join('\n');
}

const headOf = (program: ProgramName): string => `\n## ${program}.wasm\n`;

/** Returns the part of the report on one module. Every mutant of this module must have been tried. */
export function part(program: ProgramName, findings: readonly Finding[], states: number, budget: number): string {
  const survivors = findings.filter(({ verdict }) => verdict.outcome === 'survived');
  const others = findings.filter(({ verdict }) => verdict.outcome !== 'survived');
  return `${headOf(program)}
\`npm run mutants -w check -- --program ${program}\`: models of at most ${states.toLocaleString('en')} states, until they have
${budget.toLocaleString('en')} together.

${summary(findings)}

### By kind of change

${counts(
  'change',
  countBy(findings, ({ change }) => change),
)}

### By function

${counts(
  'function',
  countBy(findings, ({ fn }) => fn),
)}

### Survivors

${table(
  ['mutant', 'why it breaks nothing that is promised'],
  survivors.map(({ name, reason }) => [name, reason ?? UNEXPLAINED]),
)}

### Killed

${table(
  ['mutant', 'model', 'what it finds'],
  others.map(({ name, verdict }) => [name, verdict.model ?? '', verdict.message ?? '']),
)}
`;
}

/** Returns the report with these parts, and the parts of the last report on the other modules. */
export function report(parts: ReadonlyMap<ProgramName, string>, last: string): string {
  const kept = (program: ProgramName): string => {
    const [, text] = last.split(headOf(program));
    return text === undefined ? '' : `${headOf(program)}${(text.split('\n## ')[0] as string).trimEnd()}\n`;
  };
  return `# Mutants

\`npm run mutants -w check\` generates this report, and with \`--program\` the part on one module. Each access to memory in
\`build/core.wasm\` is changed in turn, and each of the algorithms' own in \`build/algorithms.wasm\`. The kinds of change
are in \`check/src/engine/mutation/mutate.ts\`. The models that come to the access are searched until one detects the
change: first the model that detected it in the last report, then the others, the smallest first. The reasons of the
survivors are in \`check/src/mutants/reasons.ts\`. The name of a mutant has three parts: the function, what the access
does to which words (and which of several like it), and the change.
${PROGRAMS.map((program) => parts.get(program) ?? kept(program)).join('')}`;
}
