/** Terms of SMT-LIB 2, the language of the solvers. A term is a text. */

export type Term = string;

export const and = (...terms: readonly Term[]): Term => `(and true ${terms.join(' ')})`;
export const or = (...terms: readonly Term[]): Term => `(or false ${terms.join(' ')})`;
export const not = (term: Term): Term => `(not ${term})`;
export const implies = (left: Term, right: Term): Term => `(=> ${left} ${right})`;
export const either = (condition: Term, yes: Term, no: Term): Term => `(ite ${condition} ${yes} ${no})`;
export const at = (array: Term, index: Term): Term => `(select ${array} ${index})`;
export const put = (array: Term, index: Term, value: Term): Term => `(store ${array} ${index} ${value})`;
export const least = (a: Term, b: Term): Term => either(`(< ${a} ${b})`, a, b);
export const most = (a: Term, b: Term): Term => either(`(< ${a} ${b})`, b, a);
/** `first` up to, and without, `end`. */
export const within = (first: Term, x: Term, end: Term): Term => `(and (<= ${first} ${x}) (< ${x} ${end}))`;
export const forAll = (names: readonly string[], body: Term): Term =>
  `(forall (${names.map((name) => `(${name} Int)`).join(' ')}) ${body})`;
