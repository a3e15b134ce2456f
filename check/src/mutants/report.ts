/** Writes the report on mutants, docs/internals/mutants.md. */
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

/** Returns one line: how many mutants there are, and how many are killed, of all and of the harmful ones. */
export function summary(findings: readonly Finding[]): string {
  const count = (outcome: Verdict['outcome']): number =>
    findings.filter(({ verdict }) => verdict.outcome === outcome).length;
  const killed = count('killed') + count('explodes');
  const harmless = findings.filter(({ reason, verdict }) => verdict.outcome === 'survived' && reason).length;
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
  return (
    `${findings.length} mutants: ${killed} killed (${percent(killed, findings.length)}), of which ` +
    `${count('explodes')} by many times more states; ${harmless} without effect on what is promised; ` +
    `${findings.length - killed - harmless} neither. ` +
    `Of those that have an effect, ${percent(killed, findings.length - harmless)} are killed.`
  );
}

/** Reads from a report, or from several one after the other, which model killed each mutant. */
export function killers(text: string): Map<string, string> {
  const rows = text
    .split('\n## Killed\n')
    .slice(1)
    .flatMap((section) => (section.split('\n#')[0] as string).split('\n').slice(3));
  const cells = (line: string): string[] =>
    line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'))
      .slice(1, 3);
  return new Map(rows.map(cells).filter((row): row is [string, string] => row.length === 2));
}

export function report(findings: readonly Finding[], states: number, budget: number): string {
  const survivors = findings.filter(({ verdict }) => verdict.outcome === 'survived');
  const others = findings.filter(({ verdict }) => verdict.outcome !== 'survived');
  return `# Mutants

\`npm run mutants\` generates this report. The reasons are in \`check/src/mutants/reasons.ts\`, the kinds of change in
\`check/src/engine/mutation/mutate.ts\`. Each access to memory in \`build/core.wasm\` is changed in turn, and each of the
algorithms' own in \`build/algorithms.wasm\`. The models that come to it are searched until one detects the change: first
the model that detected it in the last report, then the smallest ones, of at most ${states.toLocaleString('en')} states,
until they have ${budget.toLocaleString('en')} together. The name of a mutant has three parts: the function, what the access
does to which words (and which of several like it), and the change.

${summary(findings)}

## By kind of change

${counts(
  'change',
  countBy(findings, ({ change }) => change),
)}

## By function

${counts(
  'function',
  countBy(findings, ({ fn }) => fn),
)}

## Survivors

${table(
  ['mutant', 'why it breaks nothing that is promised'],
  survivors.map(({ name, reason }) => [name, reason ?? '**not explained**']),
)}

## Killed

${table(
  ['mutant', 'model', 'what it finds'],
  others.map(({ name, verdict }) => [name, verdict.model ?? '', verdict.message ?? '']),
)}
`;
}
