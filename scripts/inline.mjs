/**
 * Makes some functions of core/ part of each caller. Most lie in an uninterruptible section (check/src/uninterruptible.ts),
 * which must contain no call. The rest serve robust semaphores and all others alike. The decorator that the compiler
 * has for this is not TypeScript.
 */
import { Node, NodeKind } from 'assemblyscript';

const INLINE = new Set([
  'core/memory/attachments/hold',
  'core/memory/attachments/record',
  'core/memory/elements/leaveCellsInlined',
  'core/memory/elements/freeElement',
  'core/memory/elements/take',
  'core/primitives/counter/uncountDead',
  'core/primitives/kinds/cancelled',
  'core/primitives/kinds/cancelledByDeath',
  'core/primitives/kinds/countWaiter',
  'core/primitives/mutex-pace/setBase',
  'core/primitives/phase/wake',
  'core/primitives/phase/setHeld',
  'core/primitives/rw-lock/leave',
  'core/primitives/rw-lock/wakeWriter',
  'core/queue/marks/mark',
  'core/queue/pending-call/beginParking',
  'core/queue/tickets/acquire',
  'core/queue/tickets/queueSpare',
  'core/queue/tickets/release',
  'core/queue/tickets/tryAcquire',
  'core/queue/waking/note',
  'core/queue/waking/ring',
  'core/queue/waking/wakeOwner',
]);

/** The names that no function has had so far. */
export const unmatched = new Set(INLINE);

/** A transformation of the compiler's syntax tree: it decorates these functions. */
export const inline = {
  afterParse({ sources }) {
    for (const { internalPath, statements } of sources) {
      for (const node of statements) {
        if (node.kind !== NodeKind.FunctionDeclaration || !INLINE.has(`${internalPath}/${node.name.text}`)) continue;
        unmatched.delete(`${internalPath}/${node.name.text}`);
        const name = Node.createIdentifierExpression('inline', node.range);
        node.decorators = [Node.createDecorator(name, null, node.range)];
      }
    }
  },
};
