/**
 * A plugin of the core's compiler: it inlines the functions of core/ whose docstring has the tag `@inline` into each
 * caller. The compiler's own way is a decorator before the function, which is no valid TypeScript, so neither Biome nor
 * an editor could read the file. Most of these functions are called in an uninterruptible section
 * (check/src/uninterruptible.ts), which must contain no call. The others (acquire, tryAcquire, release) are inlined for
 * speed: the functions of plain and of robust semaphores use them, and become leaf functions in this way.
 */
import { Node, NodeKind } from 'assemblyscript';

/** Returns whether the comment that ends before this place of a text has the tag. */
function isTagged(text, place) {
  const before = text.slice(0, place).trimEnd();
  return before.endsWith('*/') && /@inline\b/.test(before.slice(before.lastIndexOf('/**')));
}

/** A transformation of the compiler's syntax tree: it decorates the functions that are tagged. */
export const inline = {
  afterParse({ sources }) {
    for (const { text, statements, normalizedPath } of sources) {
      let tagged = 0;
      for (const node of statements) {
        if (node.kind !== NodeKind.FunctionDeclaration || !isTagged(text, node.range.start)) continue;
        const name = Node.createIdentifierExpression('inline', node.range);
        node.decorators = [Node.createDecorator(name, null, node.range)];
        tagged++;
      }
      if (!normalizedPath.startsWith('~lib/') && tagged !== (text.match(/@inline\b/g) ?? []).length)
        throw new Error(`${normalizedPath}: a tag @inline stands before something that is no function`);
    }
  },
};
