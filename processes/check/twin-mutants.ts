/**
 * Mutants of the twin: copies of the compiled files of src/local/twin/ with one fault each, as those of the script have
 * them (mutants.ts).
 */
import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

export interface TwinMutant {
  readonly file: string;
  readonly place: string;
  /** The line, trimmed. */
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly source: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['+'],
  '&&': ['||'],
  '||': ['&&'],
  '+=': ['-=', '='],
  '-=': ['+=', '='],
  '++': ['--'],
  '--': ['++'],
};

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** All mutants of a compiled file. */
export function mutantsOf(folder: URL, file: string): TwinMutant[] {
  const source = readFileSync(new URL(file, folder), 'utf8');
  const mutants: TwinMutant[] = [];
  const replace = (start: number, end: number, to: string): void => {
    const before = source.slice(0, start).split('\n');
    const text = (source.split('\n')[before.length - 1] as string).trim();
    const from = source.slice(start, end);
    const mutated = source.slice(0, start) + to + source.slice(end);
    mutants.push({ file, place: `${file}:${before.length}`, text, from, to, source: mutated });
  };
  /** Where an operator stands between these places. */
  const operator = (from: number, to: number, which: string): void => {
    const start = source.indexOf(which, from);
    if (start < 0 || start >= to) return;
    for (const other of OTHERS[which] ?? []) replace(start, start + which.length, other);
  };
  const visit = (node: Node): void => {
    const of = node as unknown as Record<string, Node> & { readonly value: unknown; readonly operator: string };
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression' || node.type === 'AssignmentExpression') {
      operator((of.left as Node).end, (of.right as Node).start, of.operator);
    }
    if (node.type === 'UpdateExpression') operator(node.start, node.end, of.operator);
    if (['IfStatement', 'ConditionalExpression', 'WhileStatement'].includes(node.type)) {
      const { start, end } = of.test as Node;
      for (const to of ['true', 'false', `!(${source.slice(start, end)})`]) {
        // A loop that never ends tells nothing but that.
        if (node.type !== 'WhileStatement' || to === 'false') replace(start, end, to);
      }
    }
    if (['ExpressionStatement', 'BreakStatement', 'ContinueStatement', 'ReturnStatement'].includes(node.type)) {
      replace(node.start, node.end, ';');
    }
    if (node.type === 'Literal' && typeof of.value === 'number') replace(node.start, node.end, `${of.value + 1}`);
    if (node.type === 'Literal' && typeof of.value === 'string') replace(node.start, node.end, of.value ? "''" : "'z'");
    for (const [key, child] of Object.entries(node)) {
      // Names of modules are no part of what the twin does.
      if (node.type === 'ImportDeclaration' || key === 'parent') continue;
      if (isNode(child)) visit(child);
      else if (Array.isArray(child)) for (const each of child) if (isNode(each)) visit(each);
    }
  };
  visit(parseAst(source) as unknown as Node);
  return mutants;
}
