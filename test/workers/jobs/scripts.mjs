/** Runs one function body after the other, each over its shared object. Word 0 says how many have ended. */
import script from './script.mjs';

export default async function scripts({ cells, words }) {
  const results = [];
  for (const { handle, code } of cells) {
    try {
      results.push(await script({ handle, code }));
    } catch (error) {
      results.push(`${error.name}: ${error.message}`);
    }
    Atomics.add(words, 0, 1);
  }
  return results;
}
