/** Takes the handle of an object. Now other threads may know the object, so it keeps its place in the arena. */
export function shared<T extends { readonly handle: unknown }>(object: T): T {
  if (!object.handle) throw new Error('it has no handle');
  return object;
}
