/**
 * Inlines some functions of core/ into each caller. Most of them are called in an uninterruptible section
 * (check/src/uninterruptible.ts), which must contain no call. The others (acquire, tryAcquire, release) are inlined for
 * speed: the functions of plain and of robust semaphores use them, and become leaf functions in this way.
 *
 * AssemblyScript has a decorator `@inline`, but on a function it is no valid TypeScript. So the names stand in a list
 * here, and the build adds the decorator.
 */
import { Node, NodeKind } from 'assemblyscript';

const INLINE = new Set([
  'core/arena/attachments/countHeld',
  'core/arena/attachments/record',
  'core/arena/elements/leaveCellsInlined',
  'core/arena/elements/freeElement',
  'core/arena/elements/take',
  'core/kinds/channel/watch/tell',
  'core/kinds/counter/counter/uncountDead',
  'core/kinds/counter/counter/handOn',
  'core/kinds/kinds/cancelled',
  'core/kinds/kinds/cancelledByDeath',
  'core/kinds/kinds/countWaiter',
  'core/kinds/mutex/mutex-pace/setBase',
  'core/kinds/phase/phase/wake',
  'core/kinds/phase/phase/setHeld',
  'core/kinds/rw-lock/rw-lock/leave',
  'core/kinds/rw-lock/rw-lock/wakeWriter',
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

/** The names of the list for which no function has been found so far. */
export const unmatched = new Set(INLINE);

/** A transformation of the compiler's syntax tree: it decorates the functions of the list. */
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
