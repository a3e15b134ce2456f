/**
 * Functions of core/ that are always part of their caller: those that lie in a straight run (check/src/straight.ts), in
 * which there must be no call, and those that do it for a robust semaphore as for any other. The decorator that the
 * compiler has for this is no TypeScript.
 */
import { Node, NodeKind } from 'assemblyscript';

const INLINE = new Set([
  'core/memory/attachments/hold',
  'core/memory/attachments/record',
  'core/memory/elements/clearCells',
  'core/memory/elements/freeElement',
  'core/memory/elements/take',
  'core/primitives/kinds/cancelled',
  'core/queue/marks/mark',
  'core/queue/tickets/acquire',
  'core/queue/tickets/queueSpare',
  'core/queue/tickets/release',
  'core/queue/tickets/tryAcquire',
  'core/queue/waking/note',
  'core/queue/waking/ring',
  'core/queue/waking/tell',
]);

/** A transformation of what the compiler has parsed. */
export const inline = {
  afterParse({ sources }) {
    for (const { internalPath, statements } of sources) {
      for (const node of statements) {
        if (node.kind !== NodeKind.FunctionDeclaration || !INLINE.has(`${internalPath}/${node.name.text}`))
          continue;
        const name = Node.createIdentifierExpression('inline', node.range);
        node.decorators = [Node.createDecorator(name, null, node.range)];
      }
    }
  },
};
