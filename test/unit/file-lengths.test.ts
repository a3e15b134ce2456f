/** No file of the product is longer than 500 lines. A longer file holds more than one concept. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const MOST = 500;
/** Files that the build makes. */
const GENERATED = /-(bytes|source)\.ts$|^turn\.lua$/;

it.each(['core', 'src', 'processes/src'])('no file of %s is longer than 500 lines', (folder) => {
  const at = new URL(`../../${folder}/`, import.meta.url);
  const files = readdirSync(at, { recursive: true, encoding: 'utf8' });
  const written = files.filter((name) => /\.(ts|lua)$/.test(name) && !GENERATED.test(name));
  const long = written
    .map((name) => `${name}: ${readFileSync(new URL(name, at), 'utf8').split('\n').length - 1}`)
    .filter((line) => Number(line.split(': ')[1]) > MOST);
  expect(written.length).toBeGreaterThan(10);
  expect(long).toEqual([]);
});
