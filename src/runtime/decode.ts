/**
 * A WebAssembly module is embedded as a text, and this file decodes the text. One character stands for most bytes, so
 * the compressor of a bundle finds the repetitions in the module. A printable byte stands for itself, so the compressor
 * also finds the names of the exports in the surrounding code. In Base64 no character stands for one byte, and the text
 * takes a third more when compressed.
 *
 * The bytes of the characters in TABLE are rare in a module, so these characters stand for something else. Each of the
 * first five says from which page of bytes the next character is; a page has 57 bytes, which the characters from "#" on
 * stand for. The characters after the first five stand for the bytes 254, 255, 0 to 27, 127 and 128.
 * scripts/build-core.mjs writes the text by the same table.
 */
const TABLE = "*/9:=%')+,-.125678;<>?CJMTVWXZ[]^_xz{";
const PAGES = 5;
const PAGE = 57;
const FIRST = 35;

/** Returns the bytes of such a text. */
export function decode(text: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let page = -1;
  for (const character of text) {
    const index = TABLE.indexOf(character);
    const code = character.charCodeAt(0);
    if (page >= 0) {
      bytes.push(page + code - FIRST);
      page = -1;
    } else if (index < 0) bytes.push(code);
    else if (index < PAGES) page = index * PAGE;
    else bytes.push(index + (index < 35 ? 249 : 92));
  }
  // The array takes each number modulo 256.
  return Uint8Array.from(bytes);
}
