const encoder = new TextEncoder();

/** The hash FNV-1a of a name, with 32 bits. All processes must have the same, because it decides the partition. */
export function fnv1a(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
