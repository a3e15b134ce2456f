/**
 * The 64-bit operations that take more than a line. A number is a pair of int32 words in an array, the low word first.
 * A caller passes the words of the operands, not their places. So the result may go to the place of an operand.
 */

/** Returns the high word of the product of two unsigned 32-bit numbers. */
function mulHigh(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const cross = a0 * b1 + (middle & 0xffff);
  // The sum fits in a word. But `middle` may exceed 2^32, and a shift would cut its upper bits off.
  return (a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(cross / 0x10000)) | 0;
}

export function mul(s: Int32Array, d: number, al: number, ah: number, bl: number, bh: number): void {
  s[d] = Math.imul(al, bl);
  s[d + 1] = (mulHigh(al, bl) + Math.imul(al, bh) + Math.imul(ah, bl)) | 0;
}

export function shl(s: Int32Array, d: number, al: number, ah: number, count: number): void {
  const n = count & 63;
  s[d] = n < 32 ? al << n : 0;
  s[d + 1] = n === 0 ? ah : n < 32 ? (ah << n) | (al >>> (32 - n)) : al << (n - 32);
}

export function shrU(s: Int32Array, d: number, al: number, ah: number, count: number): void {
  const n = count & 63;
  s[d] = n === 0 ? al : n < 32 ? (al >>> n) | (ah << (32 - n)) : ah >>> (n - 32);
  s[d + 1] = n < 32 ? ah >>> n : 0;
}

export function shrS(s: Int32Array, d: number, al: number, ah: number, count: number): void {
  const n = count & 63;
  s[d] = n === 0 ? al : n < 32 ? (al >>> n) | (ah << (32 - n)) : ah >> (n - 32);
  s[d + 1] = n < 32 ? ah >> n : ah >> 31;
}

export function rotl(s: Int32Array, d: number, al: number, ah: number, count: number): void {
  const n = count & 31;
  const [lo, hi] = count & 32 ? [ah, al] : [al, ah];
  s[d] = n === 0 ? lo : (lo << n) | (hi >>> (32 - n));
  s[d + 1] = n === 0 ? hi : (hi << n) | (lo >>> (32 - n));
}

export function ctz32(x: number): number {
  return x === 0 ? 32 : 31 - Math.clz32(x & -x);
}

export function popcount(x: number): number {
  let v = x - ((x >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

const wide = (lo: number, hi: number) => (BigInt(hi) << 32n) | BigInt(lo >>> 0);

/**
 * Divides two numbers. Numbers that fit in a word are divided as usual. Wider numbers are rare, and are divided as
 * bigints. The divisor must not be 0. A signed quotient that is too large wraps.
 */
export function divide(
  s: Int32Array,
  d: number,
  signed: boolean,
  remainder: boolean,
  al: number,
  ah: number,
  bl: number,
  bh: number,
): void {
  if (ah === al >> 31 && bh === bl >> 31 && (signed || (ah | bh) === 0)) {
    const result = remainder ? al % bl : Math.trunc(al / bl);
    s[d] = result;
    s[d + 1] = result < 0 ? -1 : 0;
    return;
  }
  const a = signed ? wide(al, ah) : BigInt.asUintN(64, wide(al, ah));
  const b = signed ? wide(bl, bh) : BigInt.asUintN(64, wide(bl, bh));
  const result = remainder ? a % b : a / b;
  s[d] = Number(BigInt.asIntN(32, result));
  s[d + 1] = Number(BigInt.asIntN(32, result >> 32n));
}
