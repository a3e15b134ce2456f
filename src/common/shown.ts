/**
 * What the console shows of an object that describes itself. All classes of tasks, threads and
 * processes ask here.
 */

/** @internal `console.log` of Node, Deno and Bun prints what this method of an object returns. */
export const inspected: unique symbol = Symbol.for('nodejs.util.inspect.custom');

/**
 * @internal Returns the text of an object for the console. A proxy, the prototype of a class and an object that inherits
 * from another one have no private state, so they cannot describe themselves; a program may print them all the same.
 */
export function shown(object: object): string {
  try {
    return `${object}`;
  } catch (error) {
    return `${nameOf(object)}(no state, as in a proxy or a prototype: ${(error as Error | undefined)?.message})`;
  }
}

/** @internal Returns the name of the class of an object that may have no private state. */
export function nameOf(object: object): string {
  return object.constructor.name;
}
