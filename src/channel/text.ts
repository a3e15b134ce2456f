/** The codecs of text: strings, and JSON. */
import { badType } from '../errors.js';
import type { Codec, From, Into } from './codec.js';

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

/** Writes a text as UTF-8 from this byte on. Returns the byte behind it. */
export function writeText(text: string, bytes: Uint8Array, from: number): number {
  const { length } = text;
  // A loop is faster for a short text of ASCII.
  const SHORT = 48;
  if (length <= SHORT && from + length <= bytes.length) {
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) break;
      bytes[from + i] = code;
    }
    if (i === length) return from + length;
  }
  encoder ??= new TextEncoder();
  const { read, written } = encoder.encodeInto(text, bytes.subarray(from));
  if (read < length)
    throw new RangeError(`the message has more bytes than the channel takes: ${bytes.length} (its bytes)`);
  return from + written;
}

/** Reads a text of UTF-8. */
export function readText(bytes: Uint8Array, from: number, to: number): string {
  const SHORT = 24;
  if (to - from <= SHORT) {
    let text = '';
    let i = from;
    // An engine copies a short text for each text that is added to it. So eight characters are added at once.
    for (; i + 8 <= to; i += 8) {
      const [a, b, c, d] = [bytes[i] as number, bytes[i + 1] as number, bytes[i + 2] as number, bytes[i + 3] as number];
      const [e, f, g, h] = [
        bytes[i + 4] as number,
        bytes[i + 5] as number,
        bytes[i + 6] as number,
        bytes[i + 7] as number,
      ];
      if ((a | b | c | d | e | f | g | h) > 0x7f) break;
      text += String.fromCharCode(a, b, c, d, e, f, g, h);
    }
    for (; i < to; i++) {
      const code = bytes[i] as number;
      if (code > 0x7f) break;
      text += String.fromCharCode(code);
    }
    if (i === to) return text;
  }
  // Without ignoreBOM a text that begins with U+FEFF would lose this character.
  decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(bytes.subarray(from, to));
}

/**
 * A codec of strings, as UTF-8. UTF-8 has no code for half of a surrogate pair: U+FFFD takes its place.
 * @example const lines = new Channel({ codec: text, bytes: 1000 });
 */
export const text: Codec<string> = {
  name: 'text',
  encode(value: string, { bytes }: Into): number {
    if (typeof value !== 'string') throw badType('the message', 'a string', value);
    return writeText(value, bytes, 0);
  },
  decode: ({ bytes, length }: From): string => readText(bytes, 0, length),
};

/**
 * A codec of whatever JSON can tell: what `JSON.stringify` drops or changes, it drops or changes here too.
 * @example const events = new Channel({ codec: json, bytes: 1000 });
 */
export const json: Codec<unknown> = {
  name: 'json',
  encode(value: unknown, { bytes }: Into): number {
    const written = JSON.stringify(value);
    if (written === undefined) throw badType('the message', 'something that JSON can tell', value);
    return writeText(written, bytes, 0);
  },
  decode: ({ bytes, length }: From): unknown => JSON.parse(readText(bytes, 0, length)),
};
