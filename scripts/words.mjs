/**
 * Reads every constant of core/answers.ts and of each words.ts of core/. The compiler of the core leaves no constant in
 * a module, and no tool knows that two words are of one object. Other scripts take the numbers of the core from here, so
 * no file repeats one of these numbers. The build throws
 *
 *   - if two words of one class of objects overlap, unless the comment of one says `instead of` the other;
 *   - if buildObject of core/arena/objects.ts does not set a word, unless its comment says `not set in a new object`;
 *   - if two answers have the same number, or two kinds the same low byte.
 *
 * The comment of a word begins with the width of the word, i32 or i64. `of a TwaSemaphore` in the comment says that no
 * other class has the word.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const CONSTANT = /^export const (\w+): (\w+) = ([^;]+);(?: \/\/ (.*))?$/gm;
/**
 * Whether a constant is a word of an object. In the folder of a kind all constants are, except sizes, and words of
 * threads, elements and places (T_..., E_..., PLACE_...).
 */
const isOfObjects = ({ name, file }) =>
  file.startsWith('core/kinds/') ? !/^(T|E|PLACE)_|_SIZE$/.test(name) : /^(TICKET|GRANT|O_\w+)$/.test(name);
/** The kinds that have the words of another kind too. */
const BUILT_ON = { 'rw-lock': ['phase'] };

/** Returns all constants of the core, in the order of their files. `root` is the folder of the project, with a slash. */
export function readWords(root) {
  const words = new Map();
  const files = readdirSync(`${root}core`, { recursive: true }).map((file) => `core/${file.replaceAll('\\', '/')}`);
  for (const file of files.sort()) {
    if (file !== 'core/answers.ts' && !file.endsWith('/words.ts')) continue;
    for (const [, name, type, text, says = ''] of readFileSync(`${root}${file}`, 'utf8').matchAll(CONSTANT)) {
      if (words.has(name)) throw new Error(`${file} and ${words.get(name).file} both have ${name}`);
      const [, bits] = /^i(32|64)\b/.exec(says) ?? [];
      words.set(name, {
        name,
        type,
        text,
        file,
        answer: file === 'core/answers.ts',
        bytes: Number(bits) / 8,
        instead: /instead of (\w+)/.exec(says)?.[1],
        of: [...(/of an? ((?:[A-Z]\w+(?: or )?)+)/.exec(says)?.[1].split(' or ') ?? [])],
        says: says.replace(/^i\d\d(, |: )?/, ''),
      });
    }
  }
  for (const word of words.values()) word.value = numberOf(word.text, words);
  const all = [...words.values()];
  refuseTwins(
    all.filter(({ answer }) => answer),
    ({ value }) => value,
  );
  refuseTwins(kindsIn(words), ({ value }) => value & words.get('KIND_NUMBER').value);
  return words;
}

/** Returns the rows of the table of kinds. */
export function kindsIn(words) {
  return [...words.values()].filter(({ name }) => name.startsWith('KIND_') && name !== 'KIND_NUMBER');
}

function refuseTwins(all, numberOf) {
  const names = new Map();
  for (const word of all) {
    const number = numberOf(word);
    if (names.has(number)) throw new Error(`${names.get(number)} and ${word.name} are both ${number}`);
    names.set(number, word.name);
  }
}

/** The value of a constant. JavaScript computes it with whole numbers of any size, as the compiler of the core does. */
function numberOf(text, words) {
  const whole = (one) =>
    one.replace(/\b(?:[A-Z]\w*|0x[0-9a-f]+|\d+)\b/g, (part) =>
      words.has(part) ? `(${whole(words.get(part).text)})` : `${part}n`,
    );
  const value = runInNewContext(whole(text));
  if (BigInt(Number(value)) !== value) throw new Error(`${text} is no number of JavaScript`);
  return Number(value);
}

/** Returns the words of each class of objects, by its name. */
function classesOf(words) {
  const all = [...words.values()].filter((word) => word.type === 'usize' && isOfObjects(word));
  const common = all.filter(({ file, of }) => file === 'core/arena/words.ts' && of.length === 0);
  const algorithms = all.filter(({ file, of }) => file === 'core/papers/words.ts' && of.length === 0);
  const classes = new Map([
    ['every object', common],
    ['each of core/papers', algorithms],
  ]);
  for (const { name, says } of kindsIn(words)) {
    const [folder] = says.split('/');
    const kind = name.slice(5).toLowerCase();
    const pascal = kind.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase());
    const files = [folder, ...(BUILT_ON[folder] ?? [])].map((one) => `core/kinds/${one}/words.ts`);
    const own = all.filter((word) => (word.of.length === 0 ? files.includes(word.file) : word.of.includes(pascal)));
    classes.set(pascal, folder === 'papers' ? [...own, ...algorithms] : own);
  }
  return classes;
}

const end = ({ value, bytes }) => value + bytes;
const overlap = (a, b) => a.value < end(b) && b.value < end(a);

/**
 * Returns the words of each class of objects, by its name. Throws for words that overlap, or that a new object does not
 * have set.
 */
export function wordsOfClasses(root, words) {
  const classes = classesOf(words);
  const common = classes.get('every object');
  const [, build] = /export function buildObject([\s\S]*?)\n}/.exec(
    readFileSync(`${root}core/arena/objects.ts`, 'utf8'),
  );
  const stores = [...build.matchAll(/atomic\.store<[iu](32|64)>\(.*, (\w+)\);/g)].map(([, bits, name]) => ({
    value: words.get(name).value,
    bytes: Number(bits) / 8,
  }));
  for (const [name, own] of classes) {
    const all = name === 'every object' ? own : [...own, ...common];
    for (const [i, a] of all.entries()) {
      if (Number.isNaN(a.bytes)) throw new Error(`${a.file}: the comment of ${a.name} says neither i32 nor i64`);
      if (end(a) > words.get('OBJECT_SIZE').value)
        throw new Error(`${a.file}: ${a.name} is behind the end of an object`);
      const takes = (x, y) => x.instead === y.name || words.get(x.instead)?.instead === y.name;
      for (const b of all.slice(i + 1))
        if (overlap(a, b) && !takes(a, b) && !takes(b, a))
          throw new Error(`${name}: ${a.name} (${a.file}) and ${b.name} (${b.file}) overlap`);
      if (a.says.includes('not set in a new object')) continue;
      for (let byte = a.value; byte < end(a); byte++)
        if (!stores.some((store) => store.value <= byte && byte < end(store)))
          throw new Error(`buildObject does not set byte ${byte}, which is of ${a.name} of ${name}`);
    }
  }
  return classes;
}
