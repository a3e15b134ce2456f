/** Making and finding shared objects of any kind: runtime/shared-object.ts, with the numbers of all kinds. */
import type { Arena } from '../arena.js';
import { KINDS, type Kind } from '../runtime/kinds.js';
import * as objects from '../runtime/shared-object.js';

export function make(
  kind: Kind,
  properties: objects.Properties,
  arena: Arena | undefined,
): objects.Reference {
  return objects.make(kind, KINDS[kind], properties, arena);
}

export function find(kind: Kind, handle: objects.Handle): objects.Reference {
  return objects.find(kind, KINDS[kind], handle);
}

export function open(
  kind: Kind,
  name: string,
  properties: objects.Properties | undefined,
  arena: Arena | undefined,
): objects.Reference {
  return objects.open(kind, KINDS[kind], name, properties, arena);
}
