/** A WebAssembly module is embedded as a text in Base64. */

const { Buffer } = globalThis as {
  readonly Buffer?: { from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer> };
};
const { fromBase64 } = Uint8Array as { readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

/** Returns the bytes of a text in Base64, by the runtime's own function if there is one. */
export function decode(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64?.call(Uint8Array, text) ?? Buffer?.from(text, 'base64') ?? bytesOf(text);
}

/** For browsers without `fromBase64`. They have `atob`, but an AudioWorklet has not. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const digits = text.replace(/=+$/, '');
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let known = 0;
  let at = 0;
  for (const digit of digits) {
    bits = (bits << 6) | DIGITS.indexOf(digit);
    known += 6;
    if (known >= 8) {
      known -= 8;
      bytes[at++] = bits >> known;
    }
  }
  return bytes;
}
