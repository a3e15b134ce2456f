/** The words of a new object, which createObject of the core takes by position: this file alone knows their order. */

export interface ObjectWords {
  /** One of KIND_*. */
  readonly kind: number;
  readonly permits?: number;
  readonly max?: number;
  readonly spin?: number;
  readonly threshold?: number;
  /** 0 or 1; of an object of the papers its hash. */
  readonly robust?: number;
  /** The lower and the upper half of O_VARIANT. */
  readonly variant?: readonly [low: number, high: number];
  /** The first ticket. */
  readonly first?: bigint;
}

/** Returns the arguments of createObject. Numbers of 64 bits are two arguments each. */
export function newObject({
  kind,
  permits = 0,
  max = 1,
  spin = 0,
  threshold = 0,
  robust = 0,
  variant = [0, 0],
  first = 0n,
}: ObjectWords): number[] {
  const halves = [first, first >> 32n].map((half) => Number(BigInt.asIntN(32, half)));
  return [kind, permits, max, spin, threshold, robust, ...variant, ...halves];
}
