const encoder = new TextEncoder();

/**
 * The hash FNV-1a of a name, with 32 bits. All processes must have the same, because it decides the partition, and the
 * folder of a space. Another offset gives another hash.
 */
export function fnv1a(name: string, offset = 0x811c9dc5): number {
  let hash = offset;
  for (const byte of encoder.encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
