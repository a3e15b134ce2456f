/**
 * Mutants of the script: copies with one fault each. A statement is left out. A condition is always true, never true,
 * or negated. An operator is replaced by another one. A constant is one more, or another text. The checks must detect
 * each such fault: an invariant fails, or an answer changes. If a fault changes nothing, the checks are too weak or the
 * script contains more than it needs.
 */
import { parse } from 'luaparse';
import { type Mutant, Mutations, OTHERS_IN_BOTH } from './mutant.js';
import { turnSource } from './server.js';

interface Node {
  readonly type: string;
  readonly range?: [number, number];
  readonly [key: string]: unknown;
}

const OTHERS: Readonly<Record<string, readonly string[]>> = {
  ...OTHERS_IN_BOTH,
  '==': ['~='],
  '~=': ['=='],
  and: ['or'],
  or: ['and'],
};

/** Where the last of these lines stands, by the marks that scripts/embed.mjs leaves. */
function placeOf(lines: readonly string[]): string {
  const inside = [{ part: 'turn', line: 0 }];
  for (const text of lines) {
    (inside.at(-1) as { line: number }).line++;
    const [, mark, part] = /^ *-- (part|end): (\w+)$/.exec(text) ?? [];
    if (mark === 'part') inside.push({ part: part as string, line: 0 });
    else if (mark === 'end') inside.pop();
  }
  const { part, line } = inside.at(-1) as { part: string; line: number };
  return `${part}.lua:${line}`;
}

export function mutantsOf(source = turnSource()): Mutant[] {
  const tree = parse(source, { luaVersion: '5.1', comments: false, ranges: true, encodingMode: 'pseudo-latin1' });
  const mutations = new Mutations(source, OTHERS, placeOf, /\s*--.*$/);
  const replace = ([from, to]: [number, number], by: string): void => mutations.replace(from, to, by);
  const operator = (node: Node): void => {
    const [left, right] = [node.left as Node, node.right as Node];
    mutations.operator(left.range?.[1] as number, right.range?.[0] as number, node.operator as string);
  };

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const each of value) visit(each);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node;
    const range = node.range as [number, number];
    switch (node.type) {
      case 'CallStatement':
      case 'AssignmentStatement':
      case 'BreakStatement':
        replace(range, 'do end');
        break;
      case 'IfClause':
      case 'ElseifClause':
      case 'WhileStatement': {
        const condition = (node.condition as Node).range as [number, number];
        if (node.type !== 'WhileStatement') replace(condition, 'true');
        replace(condition, 'false');
        replace(condition, `not (${source.slice(...condition)})`);
        break;
      }
      case 'ReturnStatement':
        for (const each of node.arguments as Node[]) {
          if (each.type === 'BooleanLiteral') replace(each.range as [number, number], String(!each.value));
        }
        break;
      case 'BinaryExpression':
      case 'LogicalExpression':
        operator(node);
        break;
      case 'NumericLiteral':
        replace(range, String((node.value as number) + 1));
        replace(range, String((node.value as number) - 1));
        break;
      case 'StringLiteral':
        replace(range, node.value === '0' ? "'1'" : node.value === '1' ? "'0'" : "'z'");
        break;
      case 'BooleanLiteral':
        replace(range, String(!node.value));
        break;
    }
    for (const [key, child] of Object.entries(node)) if (key !== 'range') visit(child);
  };
  visit(tree.body);
  return mutations.made;
}
