/**
 * Mutants of the twin: copies of the compiled files of src/local/twin/ with one fault each, as those of the script have
 * them (mutants.ts).
 */
import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';
import { type Mutant, Mutations } from './mutant.js';

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
export function mutantsOf(folder: URL, file: string): Mutant[] {
  const source = readFileSync(new URL(file, folder), 'utf8');
  const mutations = new Mutations(source, OTHERS, (lines) => `${file}:${lines.length}`);
  const replace = mutations.replace.bind(mutations);
  const visit = (node: Node): void => {
    const of = node as unknown as Record<string, Node> & { readonly value: unknown; readonly operator: string };
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression' || node.type === 'AssignmentExpression') {
      mutations.operator((of.left as Node).end, (of.right as Node).start, of.operator);
    }
    if (node.type === 'UpdateExpression') mutations.operator(node.start, node.end, of.operator);
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
  return mutations.made;
}
