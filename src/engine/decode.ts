/**
 * The text that a WebAssembly module is embedded as: one character for most bytes, so that whoever compresses the
 * bundle finds the repetitions of the module. Base64, which has no character that is one byte, takes a third more
 * when compressed.
 *
 * A character stands for its place from "(" on, 0 to 86; "#" stands in for the backslash, which a string would have to
 * escape. 0 to 83 is a byte, less the page that it is on. 84 to 86 says that the next byte is on page 1 to 3.
 * scripts/build-core.mjs writes it.
 */
const FIRST = 40;
const BACKSLASH = 92;
const PAGE = 84;

/** The bytes of such a text. */
export function decode(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let page = 0;
  for (const character of text) {
    const place = (character === '#' ? BACKSLASH : character.charCodeAt(0)) - FIRST;
    if (place < PAGE) bytes.push(page + place);
    page = place < PAGE ? 0 : (place - PAGE + 1) * PAGE;
  }
  return Uint8Array.from(bytes);
}
