/**
 * Functions of core/ that are always part of their caller: those that lie in a straight run (check/src/straight.ts), in
 * which there must be no call, and those that do it for a robust semaphore as for any other. The decorator that the
 * compiler has for this is no TypeScript.
 */
import { Node, NodeKind } from 'assemblyscript';

const INLINE = new Set([
  'core/attachments/hold',
  'core/attachments/record',
  'core/elements/clearCells',
  'core/elements/release',
  'core/elements/take',
  'core/mutex/quit',
  'core/semaphore/acquire',
  'core/semaphore/release',
  'core/semaphore/note',
  'core/semaphore/ring',
  'core/semaphore/tell',
  'core/semaphore/tryAcquire',
  'core/waiters/mark',
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
