/**
 * Which calls a broker runs. A call that no process of this package makes, because of a mistake or of somebody else's
 * program, is refused, and changes nothing: the script takes its arguments as they are, and a broker whose script
 * throws ends.
 *
 *     sid conn channel, then operations: a letter, and the arguments that `OPERATIONS` has for it
 *
 * `O` opens the session, and nothing can stand before it; `X` ends the session, and nothing can stand behind it.
 */

const ANY = /^/;
const SID = /^[a-y][0-9a-f]{15}$/;
const RID = /^[0-9a-f]{10}$/;
const TICKET = /^[0-9a-f]{14}$/;
const TICKET_OR_NONE = /^(-|[0-9a-f]{14})$/;
const FORMATS = /^\d{1,9}(-\d{1,9})?$/;
const INTEGER = /^-?\d{1,16}$/;
const COUNT = /^\d{1,16}$/;
const PERMITS = /^[0-9a-f]{8}$/;
const FLAG = /^[01]$/;
const NAME = /^[^\0]{1,108}$/;
/** The name of a rate, or the name of rates and a key. */
const RATE = /^[^\0]{1,108}(\0[^\0]{1,260})?$/;

/** A number of requests, and then so many of them. */
const REQUESTS = 'requests';

/** script/wire.ts says what the arguments of each letter are. */
const OPERATIONS: Readonly<Record<string, readonly (RegExp | typeof REQUESTS)[]>> = {
  A: [NAME, TICKET_OR_NONE, RID, PERMITS],
  B: [ANY],
  C: [RID],
  D: [NAME, RID, TICKET, PERMITS, COUNT, /^[-crd]s?$/, COUNT, REQUESTS],
  E: [RATE, /^[0-9a-f]{44}$/, ...Array<RegExp>(6).fill(COUNT), /^[TCDPLSRI]$/, ...Array<RegExp>(4).fill(INTEGER)],
  F: [NAME, RID, TICKET, SID],
  G: [COUNT, COUNT, COUNT],
  I: [NAME, COUNT, ANY, ANY],
  J: [ANY],
  K: [NAME, TICKET_OR_NONE],
  L: [NAME, TICKET_OR_NONE, TICKET_OR_NONE],
  N: [NAME, /^(s|m|w|r)$/, COUNT, FLAG, FLAG, COUNT],
  O: [FORMATS, COUNT, COUNT, ANY, ANY, /^[0-9a-f]{1,14}$/],
  P: [/^(0|[0-9a-f]{14})$/],
  R: [NAME, TICKET_OR_NONE, COUNT],
  S: [ANY, ANY, REQUESTS],
  T: [NAME, TICKET_OR_NONE, RID, PERMITS],
  U: [REQUESTS],
  V: [NAME, RID, TICKET, SID],
  W: [ANY],
  X: [],
};

/** How many arguments a letter has at least, and whether the last of them is the number of further ones. */
const LENGTHS = new Map(
  Object.entries(OPERATIONS).map(([letter, kinds]) => [letter, [kinds.length, kinds.at(-1) === REQUESTS]] as const),
);

/** The places of the letters in a call that has no fault. */
export function* operations(args: readonly string[]): Generator<number> {
  for (let at = 3; at < args.length; ) {
    yield at;
    const [length, isList] = LENGTHS.get(args[at] as string) as readonly [number, boolean];
    at += length + (isList ? Number(args[at + length]) : 0) + 1;
  }
}

/** Says what is wrong with the arguments of a call. Undefined: nothing. */
export function faultIn(args: unknown): string | undefined {
  if (!Array.isArray(args) || args.some((each) => typeof each !== 'string')) return 'a call must be a list of strings';
  const [sid = '', conn = '', channel, ...others] = args as string[];
  if (!SID.test(sid) || !COUNT.test(conn) || channel === undefined) return 'a call must begin with its session';
  if (others.length === 0) return 'a call must have an operation';
  const words = others.values();
  const next = (): string | undefined => words.next().value;
  let isFirst = true;
  for (let letter = next(); letter !== undefined; letter = next()) {
    if (!Object.hasOwn(OPERATIONS, letter)) return `there is no operation ${JSON.stringify(letter.slice(0, 99))}`;
    if (letter === 'O' && !isFirst) return 'O must come first';
    isFirst = false;
    for (const [at, kind] of (OPERATIONS[letter] as readonly (RegExp | typeof REQUESTS)[]).entries()) {
      const wrong = (): string => `argument ${at + 1} of ${letter} is malformed`;
      const word = next();
      if (word === undefined || !(kind === REQUESTS ? COUNT : kind).test(word)) return wrong();
      for (let left = kind === REQUESTS ? Number(word) : 0; left > 0; left--)
        if (!RID.test(next() ?? '')) return wrong();
    }
    if (letter === 'X' && next() !== undefined) return 'X must come last';
  }
  return undefined;
}
