/** Mutants of a JavaScript source: copies with one fault each, of the same kinds as those of the script (mutants.ts). */
import { parseAst } from 'rolldown/parseAst';
import { type Mutant, Mutations, OTHERS_IN_BOTH } from './mutant.js';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  ...OTHERS_IN_BOTH,
  '===': ['!=='],
  '!==': ['==='],
  '/': ['*'],
  '%': ['*'],
  '>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
};

/** file: the name of the source. isMutated: whether what begins here is to be changed. */
export function mutantsOfJs(source: string, file: string, isMutated = (_start: number): boolean => true): Mutant[] {
  const mutations = new Mutations(source, OTHERS, (lines) => `${file}:${lines.length}`, /\s*\/\/.*$/);
  const replace = ({ start, end }: Node, by: string): void => {
    if (isMutated(start)) mutations.replace(start, end, by);
  };
  const text = ({ start, end }: Node): string => source.slice(start, end);

  const condition = (test: Node, isLoop = false): void => {
    if (!isLoop) replace(test, 'true');
    replace(test, 'false');
    replace(test, `!(${text(test)})`);
  };

  const mutate = (node: Node): void => {
    switch (node.type) {
      case 'ExpressionStatement':
      case 'BreakStatement':
      case 'ContinueStatement':
        replace(node, ';');
        break;
      case 'IfStatement':
      case 'ConditionalExpression':
        condition(node.test as Node);
        break;
      case 'WhileStatement':
        condition(node.test as Node, true);
        break;
      case 'ForStatement':
        if (node.test) condition(node.test as Node, true);
        break;
      case 'ReturnStatement':
        if (node.argument) replace(node.argument as Node, 'undefined');
        break;
      case 'BinaryExpression':
      case 'LogicalExpression':
        if (isMutated(node.start))
          mutations.operator((node.left as Node).end, (node.right as Node).start, node.operator as string);
        break;
      case 'UnaryExpression':
        replace(node, text(node.argument as Node));
        break;
      case 'UpdateExpression':
        replace(node, node.operator === '++' ? text(node).replace('++', '--') : text(node).replace('--', '++'));
        break;
      case 'Literal':
        if (typeof node.value === 'number') {
          replace(node, String(node.value + 1));
          replace(node, String(node.value - 1));
        } else if (typeof node.value === 'boolean') replace(node, String(!node.value));
        else if (typeof node.value === 'string') replace(node, node.value === 'z' ? "'y'" : "'z'");
        break;
    }
  };

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node;
    // The name of a module is no part of what it does.
    if (/^(Import|ExportAll)/.test(node.type ?? '')) return;
    mutate(node);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(source).body);
  return mutations.made;
}
