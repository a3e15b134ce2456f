/** The codecs of text: strings, and JSON. */
import { badType } from '../runtime/errors.js';
import { type Codec, type From, type Into, OTHER_CODEC, tooLong } from './codec.js';

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

/**
 * Half of a surrogate pair, for which UTF-8 has no code. An encoder writes three bytes for U+FFFD in its place. Here the
 * half has the three bytes that it would have as a character of its own (WTF-8), so that no text changes on its way.
 */
const HALF = /[\ud800-\udfff]/u;

/** Gives each half of a surrogate pair its own bytes, in a text that an encoder has written from this byte on. */
function writeHalves(text: string, bytes: Uint8Array, from: number): void {
  let at = from;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) {
      bytes[at] = 0xed;
      bytes[at + 1] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at + 2] = 0x80 | (code & 0x3f);
    }
    at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
}

/** Reads a text in which there may be bytes of halves. No character of UTF-8 begins with these bytes. */
function readHalves(utf8: TextDecoder, bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  let start = from;
  for (let i = from; i + 2 < to; i++) {
    const second = bytes[i + 1] as number;
    if (bytes[i] !== 0xed || second < 0xa0) continue;
    const half = 0xd000 | ((second & 0x3f) << 6) | ((bytes[i + 2] as number) & 0x3f);
    text += utf8.decode(bytes.subarray(start, i)) + String.fromCharCode(half);
    i += 2;
    start = i + 1;
  }
  return text + utf8.decode(bytes.subarray(start, to));
}

/** What `writeText` returns if the text does not fit. */
export const TOO_LONG = -1;

/** Writes a text as UTF-8 from this byte on, and not beyond `to`. Returns the byte behind it, or TOO_LONG. */
export function writeText(text: string, bytes: Uint8Array, from: number, to = bytes.length): number {
  const { length } = text;
  // A loop is faster for a short text of ASCII.
  const SHORT = 48;
  if (length <= SHORT && from + length <= to) {
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) break;
      bytes[from + i] = code;
    }
    if (i === length) return from + length;
  }
  encoder ??= new TextEncoder();
  const { read, written } = encoder.encodeInto(text, bytes.subarray(from, to));
  if (read < length) return TOO_LONG;
  if (written > length && HALF.test(text)) writeHalves(text, bytes, from);
  return from + written;
}

/** Returns how many bytes `writeText` needs for a text. */
export function lengthOfText(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code >= 0x10000) i++;
  }
  return bytes;
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
  const text = decoder.decode(bytes.subarray(from, to));
  return text.includes('\ufffd') ? readHalves(decoder, bytes, from, to) : text;
}

/** Writes the text of a message, and returns how many bytes it has. */
function writeMessage(text: string, { bytes, room }: Into): number {
  const length = writeText(text, bytes, 0);
  if (length === TOO_LONG) throw tooLong(lengthOfText(text), room);
  return length;
}

/**
 * A codec of strings, as UTF-8. Half of a surrogate pair, for which UTF-8 has no code, takes three bytes.
 * @example const lines = new Channel({ codec: text, bytes: 1000 });
 * @since 0.3.0
 */
export const text: Codec<string> = {
  name: 'text',
  encode(value: string, into: Into): number {
    if (typeof value !== 'string') throw badType('the message', 'a string', value, OTHER_CODEC);
    return writeMessage(value, into);
  },
  decode: ({ bytes, length }: From): string => readText(bytes, 0, length),
};

/**
 * A codec of whatever JSON can tell: what `JSON.stringify` drops or changes, it drops or changes here too.
 * @example const events = new Channel({ codec: json, bytes: 1000 });
 * @since 0.3.0
 */
export const json: Codec<unknown> = {
  name: 'json',
  encode(value: unknown, into: Into): number {
    const written = JSON.stringify(value);
    if (written === undefined) throw badType('the message', 'something that JSON can tell', value, OTHER_CODEC);
    return writeMessage(written, into);
  },
  decode: ({ bytes, length }: From): unknown => JSON.parse(readText(bytes, 0, length)),
};
