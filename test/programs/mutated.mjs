/**
 * Returns a source with one of its mutants, or without a number as it is. A mutant says what is wrong, the code, and the
 * code in its place.
 */
export function mutated(source, mutants, number) {
  if (number === undefined) return source;
  const [what, old, wrong] = mutants[number];
  const count = source.split(old).length - 1;
  if (count !== 1) throw new Error(`mutant ${number} (${what}): its code occurs ${count} times`);
  return source.replace(old, () => wrong);
}
