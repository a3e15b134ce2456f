/**
 * The format of everything that a process and the script on the server send each other.
 *
 *     process --- operations: a letter and its arguments ---> script (*.lua)
 *             <-- a reply: one answer for each operation, then news of requests
 *             <-- messages: a number, and news of requests
 *
 * On PostgreSQL a function takes the place of the script (../postgres/schema.sql), and speaks the same.
 *
 * One function here writes the arguments of each operation, and one reads each answer. The parts of the script say what
 * the operations do. No other file takes these texts apart. An answer and a message tell the state of a request in
 * different forms; `fateIn` and `newsIn` make a `Fate` of both.
 */

/** The kinds of objects, as the script calls them: semaphore, mutex, read-write lock. */
export type Kind = 's' | 'm' | 'w';

/** The settings of an object. All processes that open the object must ask for the same settings. */
export interface Settings {
  readonly kind: Kind;
  readonly max: number;
  /** Whether the semaphore was resized. A process may then open the semaphore with any `max`. */
  readonly resized?: boolean;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly bypass: number;
}

/** A number as so many hexadecimal digits, so that the texts sort as the numbers do. */
export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

const flag = (is: boolean): string => (is ? '1' : '0');

// Names -------------------------------------------------------------------------------------------------------------

/** The keys of a partition, in the order in which the script takes them, and the prefix of the partition's channels. */
export function keysOf(space: string, partition: number): { readonly keys: string[]; readonly channel: string } {
  const tag = `tt:{${space}.${partition}}:`;
  const keys = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((key) => tag + key);
  return { keys, channel: `${tag}c:` };
}

/** Returns a new name of a session. Its first letter tells the script whether to use SPUBLISH (s) or PUBLISH (p). */
export const newSid = (cluster: boolean, digits = randomDigits()): string => (cluster ? 's' : 'p') + digits.slice(-15);

function randomDigits(): string {
  const bytes = new Uint8Array(15);
  // The first use of Web Crypto takes 2 ms in Node. A bundle for browsers must not import `node:crypto`.
  const own = globalThis.process?.getBuiltinModule?.('node:crypto');
  if (own) own.randomFillSync(bytes);
  else crypto.getRandomValues(bytes);
  return Array.from(bytes, (byte) => (byte & 15).toString(16)).join('');
}

// Operations --------------------------------------------------------------------------------------------------------

/**
 * The formats of what the script keeps in the keys and of what it sends in messages. Each process calls its own script,
 * so a change of the script alone, also of operations and answers, is no new format: processes of both versions run side
 * by side. A new format takes two releases, and then processes of one release and the next always run side by side:
 *
 *     release     writes  reads          a process enters if it reads the format of the data,
 *     this one    2       up to 2        and if all sessions read what it writes
 *     the next    2       up to 3
 *     after that  3       up to 3
 */
export const FORMAT = { written: 2, read: 2 } as const;

const { written, read } = FORMAT as { readonly written: number; readonly read: number };
const FORMATS = written === read ? `${written}` : `${written}-${read}`;

/** An operation: its letter and its arguments. */
export type Arguments = readonly string[];

/** Places in a queue, or among the records: before the first entry, and behind the last entry. */
export const START = '';
export const END = '~';
/** Stands for a ticket that the process does not know, such as the ticket of an object that was not opened yet. */
export const NONE = '-';

/** The first arguments of each call: the session, the number of its connection, and the prefix of the channels. */
export const call = (sid: string, conn: number, channel: string): string[] => [sid, String(conn), channel];

/**
 * Opens the session, or resumes it. seen: `Sign.told` of a sign of life; sessions that have given no sign of life since
 * then are dead. topmost: the largest ticket that the server has told this process.
 */
export const enter = (partitions: number, lease: number, label: string, seen: string, topmost: string): string[] => [
  'O',
  FORMATS,
  String(partitions),
  String(lease),
  label,
  seen,
  topmost,
];

export const open = (name: string, { kind, max, resized, robust, ephemeral, bypass }: Settings): Arguments => [
  ...['N', name, resized ? 'r' : kind, String(max)],
  ...[flag(robust), flag(ephemeral), String(bypass)],
];

/**
 * Asks for permits. queues: whether the request waits (`A`) or is refused (`T`) if it cannot have the permits at once.
 * born: the ticket with which the object was made; `NONE` asks for whichever object has the name.
 */
export const ask = (queues: boolean, name: string, born: string, rid: string, permits: number): Arguments => [
  queues ? 'A' : 'T',
  ...[name, born, rid, hex(permits, 8)],
];

export const cancel = (rid: string): Arguments => ['C', rid];

/**
 * What `giveBack` says of the deaths of which the server has told the holder:
 * `-` it was told of none; `c` the holder has repaired what the dead holders left; `r` the holder has not repaired it,
 * so the next holder is told of the deaths; `d` as `r`, and this holder has lost its lease, which counts as one more
 * death.
 */
export type Note = '-' | 'c' | 'r' | 'd';

/**
 * Gives `count` of the `kept` permits of a request back. marked: whether a beat has named the request. passes: how
 * often this process has passed the mutex on. served: the requests in the server's queue to which the mutex was passed.
 */
export const giveBack = (
  name: string,
  rid: string,
  ticket: string,
  kept: number,
  count: number,
  note: Note,
  marked: boolean,
  passes: number,
  served: readonly string[],
): Arguments => [
  ...['D', name, rid, ticket, hex(kept, 8), String(count), marked ? `${note}s` : note],
  ...[String(passes), String(served.length), ...served],
];

/**
 * Asks for the state of the listed requests. The server drops all other requests of the session from the place `from`
 * to the number `upTo`. If there are many, the server drops only a part of them in one call (see `statesIn`).
 */
export const list = (from: string, upTo: string, rids: readonly string[]): Arguments => [
  ...['S', from, upTo, String(rids.length), ...rids],
];

/** The place behind a request, where the next `list` begins. */
export const behind = (rid: string): string => `${rid}g`;

/** A beat: a sign of life of the session. seen: as in `enter`. */
export const beat = (seen: string): string[] => ['B', seen];

/** A beat in a call whose reply is not searched for grants. The server tells the session its grants by messages. */
export const beatAside = (): string[] => ['W', NONE];

/** Goes with a beat: names some requests that hold permits, so that the server notes since when they hold them. */
export const mark = (rids: readonly string[]): Arguments => ['U', String(rids.length), ...rids];

/** Ends the session. */
export const leave = (): Arguments => ['X'];

export const resize = (name: string, born: string, max: number): Arguments => ['R', name, born, String(max)];

/** Cancels the waiting requests up to a ticket: at first `NONE`, which means all, then what `upToIn` tells. */
export const cancelAll = (name: string, born: string, upTo: string): Arguments => ['L', name, born, upTo];

export const dispose = (name: string, born: string): Arguments => ['K', name, born];

/** Asks whether the grant that a proof names is still held (V), or takes the grant away from its holder (F). */
export const ofProof = (letter: 'V' | 'F', name: string, { rid, ticket, sid }: Proof): Arguments => [
  ...[letter, name, rid, ticket, sid],
];

/**
 * Asks for the state of an object, with at most `limit` waiters and some holders. place: where in the queue the waiters
 * begin. from: where among the records of all objects the search for holders begins.
 */
export const inspect = (name: string, limit = 0, place = START, from = START): Arguments => [
  ...['I', name, String(limit), place, from],
];

/** Lists some of the sessions, from the score `from` on. A session's score is the ticket of its last sign of life. */
export const inspectSpace = (from: string): Arguments => ['J', from];

/** Lists some of the objects. cursor: 0 at first, then what the last answer tells. */
export const listObjects = (cursor: string): Arguments => ['P', cursor];

/** The numbers of a rate. Times are whole microseconds. */
export interface RateNumbers {
  readonly permits: number;
  readonly per: number;
  readonly burst: number;
  /** How much later than its date a call may begin. The server uses the largest that it was told. */
  readonly slack: number;
}

/** The most that this process was told of a rate: after a loss the server learns it again. */
export interface RateKnown {
  readonly epoch: number;
  /** How many permits have got dates. */
  readonly given: number;
  /** The latest of these dates. */
  readonly last: number;
}

/** That this process was told the partition's time `seen` at least `low` and at most `high` microseconds ago. */
export interface ToldTime {
  readonly seen: number;
  readonly low: number;
  readonly high: number;
}

/** What becomes of a rate. script/rates.lua says what each letter is, and what its numbers are. */
export type RateDemand = readonly [what: 'T' | 'C' | 'D' | 'P' | 'L' | 'S' | 'R' | 'I', ...numbers: number[]];

const numbersOf = ({ permits, per, burst, slack }: RateNumbers): string =>
  hex(permits, 8) + hex(per, 14) + hex(burst, 8) + hex(slack, 14);

/** An operation on a rate. */
export const rate = (
  name: string,
  numbers: RateNumbers,
  { epoch, given, last }: RateKnown,
  { seen, low, high }: ToldTime,
  [what, a = 0, b = 0, c = 0, d = 0]: RateDemand,
): Arguments => [
  ...['E', name, numbersOf(numbers)],
  ...[epoch, given, last, seen, low, high].map(String),
  ...[what, String(a), String(b), String(c), String(d)],
];

/** Goes with a beat of a session that uses rates. */
export const beatOfRates = ({ seen, low, high }: ToldTime): Arguments => ['G', String(seen), String(low), String(high)];

/** Reads an answer to `beatOfRates`: the time of the partition, and when it noticed the last loss. */
export function beatOfRatesIn(entry: string): { readonly moment: number; readonly began: string } | undefined {
  const [letter, moment, began = ''] = entry.split(' ');
  return letter === 'G' ? { moment: Number(moment), began } : undefined;
}

/** The news that somebody has paused a rate or cancelled its requests: the tag of the rate. Undefined: other news. */
export const rateToLookAt = (news: string): number | undefined =>
  news.startsWith('E:') ? Number(news.slice(2)) : undefined;

/** What the server answers to `rate`. */
export interface RateAnswer extends RateNumbers, RateKnown {
  /** Whether T has got a date. */
  readonly ok: boolean;
  /** Whether the date is free again when the session of this process ends. */
  readonly isListed: boolean;
  /**
   * Of `I`, the date that a request would get. If T has got none: later than the caller wants, or else when T may ask
   * again, as the server waits after a loss for those who know what was lost.
   */
  readonly date: number;
  /** The time of the partition. */
  readonly moment: number;
  readonly resized: boolean;
  /** By how much pauses have moved dates, all together; and when the last pause began, which has moved later dates. */
  readonly moved: number;
  readonly stopped: number;
  /** Requests up to this number are cancelled. */
  readonly cancelled: number;
  readonly taken: number;
  readonly reserved: number;
}

/**
 * Reads an answer to `rate`. numbers, epoch: those with which it was asked. With `most`: T asks for more permits than
 * there are in a window.
 */
export function rateIn(
  answer: unknown,
  numbers: RateNumbers,
  { epoch }: Pick<RateKnown, 'epoch'>,
): RateAnswer | { readonly most: number } {
  const [letter, ...words] = String(answer).split(' ');
  const all = words.map(Number);
  const at = (place: number, otherwise = 0): number => all[place] ?? otherwise;
  if (letter === TOO_MANY) return { most: at(0) };
  const { permits, per, burst, slack } = numbers;
  return {
    ...{ ok: at(0) > 0, isListed: at(0) === 2, given: at(1), date: at(2), moment: at(3), last: at(4) },
    epoch: at(5, epoch),
    ...{ permits: at(6, permits), per: at(7, per), burst: at(8, burst), slack: at(9, slack) },
    ...{ resized: at(10) === 1, moved: at(11), stopped: at(12), cancelled: at(13) },
    ...{ taken: at(14), reserved: at(15) },
  };
}

// Requests ----------------------------------------------------------------------------------------------------------

/** What the server tells a process when one of its requests gets permits. */
export interface Grant {
  readonly ticket: string;
  /** How many holders of the robust object have died since the grant before. */
  readonly deaths: number;
  /** For a mutex: how often it may be passed on. For a semaphore that was resized: its number of permits. Else 0. */
  readonly lent: number;
  /** How many requests wait for the object. */
  readonly waiting: number;
  /** How many permits the request holds. Only answers that tell a state have this number. */
  readonly permits: number;
}

/** What has become of a request: the letters with which answers begin. */
export const HELD = 'H';
export const QUEUED = 'Q';
export const REFUSED = 'R';
export const CANCELLED = 'C';
/** The object does not exist any more. */
export const DISPOSED = 'X';
export const TOO_MANY = 'M';
/** The server has forgotten the request, or never knew it. */
export const UNKNOWN = 'G';
/** Somebody has taken the permits of the request away by `revoke`. Only messages tell this. */
export const REVOKED = 'F';

export type Fate =
  | ({ readonly is: typeof HELD } & Grant)
  /** The request asks for more than `max` permits, which are all that the object has. */
  | { readonly is: typeof TOO_MANY; readonly max: number }
  | { readonly is: 'Q' | 'R' | 'C' | 'X' | 'G' | 'F' };

/** The letters by which messages tell what has ended a request. */
const ENDS = { x: DISPOSED, c: CANCELLED, r: REVOKED } as const;

function grantIn(text: string): Fate {
  const [ticket = '', ...rest] = text.split(':');
  const [deaths = 0, lent = 0, waiting = 0, permits = 0] = rest.map(Number);
  return { is: HELD, ticket, deaths, lent, waiting, permits };
}

const fewer = (max: string): Fate => ({ is: TOO_MANY, max: Number(max) });

/** Reads the answer to `ask` or `cancel`, or one of the states in the answer to `list`. */
export function fateIn(answer: unknown): Fate {
  const text = String(answer);
  const [is, rest] = [text[0], text.slice(2)];
  return is === HELD ? grantIn(rest) : is === TOO_MANY ? fewer(rest) : { is: is as typeof QUEUED };
}

/**
 * Reads one piece of news, from a message or from the end of a reply: the number of a request, and what has become of
 * that request. Without a fate the news is that another process waits for the mutex that the request holds.
 */
export function newsIn(entry: string): { readonly rid: string; readonly fate: Fate | undefined } {
  if (entry[0] === '!') return { rid: entry.slice(1), fate: undefined };
  const text = entry.slice(11);
  const is = ENDS[text as keyof typeof ENDS];
  const fate = is ? { is } : text[0] === 'm' ? fewer(text.slice(1)) : grantIn(text);
  return { rid: entry.slice(0, 10), fate };
}

/**
 * At the end of a reply: the server has not made all grants that are due, and makes more with the next beat. As the
 * answer to `leave` or `dispose`: the server has not done everything, and the process must send the operation again.
 */
export const LEFT = '+';

/** The messages for connection number n have the numbers from n times this number on. */
export const SEQS_OF_A_CONNECTION = 2 ** 32;

/** Reads a message: its number, and its news for `newsIn`. */
export function messageIn(text: string): { readonly seq: number; readonly news: readonly string[] } {
  const at = text.indexOf(';');
  return { seq: Number(text.slice(0, at)), news: text.slice(at + 1).split(',') };
}

/**
 * Reads the answer to `list`. isWhole: whether the server has dropped all requests of the session that are in the range
 * of the `list` and that the `list` does not name. If there are many of them, the server drops only a part in one call,
 * and the process sends the same `list` again. seq: the number of the last message that the server sent before the
 * answer. place: the history of the data from which the answer comes, as in `Sign`.
 */
export function statesIn(answer: unknown) {
  const [first, ...states] = answer as [string, ...string[]];
  const [letter, seq, place = ''] = first.split(' ');
  return { isWhole: letter === 'S', seq: Number(seq), place, states };
}

// Sessions ----------------------------------------------------------------------------------------------------------

/** A sign of life: the ticket that it got from the server, and the history of the data in which it got the ticket. */
export interface Sign {
  /** The ticket and the history in one text, by which a later call names the sign of life. */
  readonly told: string;
  readonly ticket: string;
  /** The history: its number (epoch), a dot, and the server's replication id. */
  readonly place: string;
}

const signOf = (ticket = '', place = ''): Sign => ({ told: `${ticket} ${place}`, ticket, place });

/**
 * With these answers the server has done nothing. DEAD: the session has ended. STALE: the session has a later
 * connection.
 */
export const DEAD = 'DEAD';
export const STALE = 'STALE';

/**
 * The answer to `enter`. open: the session is open. watch: some session is silent, and this process must watch for a
 * part of `lease` before it may enter. others: the other processes of the space agree on these settings.
 */
export type Entered =
  | { readonly is: 'open'; readonly sign: Sign }
  | { readonly is: 'watch'; readonly sign: Sign; readonly lease: number }
  | { readonly is: 'others'; readonly settings: readonly string[] };

export function enteredIn(answer: unknown): Entered {
  const [letter, ...words] = String(answer).split(' ');
  if (letter === 'V') return { is: 'others', settings: words };
  if (letter === 'Z') return { is: 'watch', lease: Number(words[0]), sign: signOf(words[1], words[2]) };
  return { is: 'open', sign: signOf(words[0], words[1]) };
}

/**
 * Reads the answer to a beat. seq: the number of the last message. isLeft: the server has not done all its work, and
 * the process must beat again at once.
 */
export function beatIn(answer: unknown): { readonly seq: number; readonly isLeft: boolean; readonly sign: Sign } {
  const [, seq, left, ticket, place] = String(answer).split(' ');
  return { seq: Number(seq), isLeft: left === '1', sign: signOf(ticket, place) };
}

export const isBeat = (answer: unknown): boolean => String(answer).startsWith('B ');

// Objects -----------------------------------------------------------------------------------------------------------

const settingsIn = (kind: string, max: string, robust: string, ephemeral: string, bypass: unknown): Settings => ({
  kind: kind === 'r' ? 's' : (kind as Kind),
  ...(kind === 'r' ? { resized: true } : {}),
  max: Number(max),
  robust: robust === '1',
  ephemeral: ephemeral === '1',
  bypass: Number(bypass),
});

/**
 * The answer to `open`. born: the ticket with which the object was made. max: the number of permits of a semaphore that
 * was resized. others: the object exists with these other settings.
 */
export type Opened =
  | { readonly born: string; readonly max: number | undefined; readonly others?: undefined }
  | { readonly others: Settings };

export function openedIn(answer: unknown): Opened {
  const [letter, ...words] = String(answer).split(' ');
  if (letter === 'E') return { others: settingsIn(...(words as [string, string, string, string, string])) };
  return { born: words[0] as string, max: words[1] === undefined ? undefined : Number(words[1]) };
}

/** The state of an object on the server. */
export interface Found extends Settings {
  readonly born: string;
  readonly free: number;
  readonly waiting: number;
  readonly deaths: number;
}

function foundIn(text: string): Found {
  const [kind = '', max = '', robust = '', ephemeral = '', born = '', ...rest] = text.split(' ');
  const [free = 0, waiting = 0, deaths = 0, bypass = 0] = rest.map(Number);
  return { ...settingsIn(kind, max, robust, ephemeral, bypass), born, free, waiting, deaths };
}

/** A request that waits or holds. */
export interface Claim {
  readonly sid: string;
  readonly rid: string;
  readonly ticket: string;
  readonly permits: number;
  /** Since when the request waits or holds, in milliseconds of the server's clock; undefined if not known. */
  readonly at: number | undefined;
}

/** Cuts a text into fields of these widths. */
const fixed = (text: string, ...widths: readonly number[]): string[] => {
  let at = 0;
  return widths.map((width) => {
    at += width;
    return text.slice(at - width, at);
  });
};

/** A session and its label. The server writes `sid conn reads label`; if the session has ended, `sid` or `sid dead`. */
export type Labelled = readonly [sid: string, label: string];

const labelledIn = (line: string): Labelled => {
  const [sid = ''] = fixed(line, 16);
  return [sid, line.slice(17).replace(/^\d+ \d+ /, '')];
};

/** Reads the answer to `inspect`. Returns undefined if the object does not exist. */
export function inspectedIn(answer: unknown) {
  if (!Array.isArray(answer)) return undefined;
  const [text, entries, records, next, sessions, times, now] = answer as [
    ...[text: string, entries: string[], records: string[], next: string],
    ...[sessions: string[], times: string[], now: string],
  ];
  const claim = (sid = '', rid = '', ticket = '', permits = '', at?: number): Claim => ({
    ...{ sid, rid, ticket, at },
    permits: Number.parseInt(permits, 16),
  });
  return {
    object: foundIn(text.slice(2)),
    queue: entries.map((entry) => {
      // A name contains no NUL, so the first NUL ends the name.
      const [ticket, sid, rid, permits, , at = ''] = fixed(entry.slice(entry.indexOf('\0') + 1), 14, 16, 10, 8, 14, 11);
      return claim(sid, rid, ticket, permits, Number.parseInt(at, 16));
    }),
    holders: records.map((record, i) => {
      const [sid, rid, ticket, permits] = fixed(record, 16, 10, 14, 8);
      return claim(sid, rid, ticket, permits, times[i] ? Number(times[i]) : undefined);
    }),
    /** The `from` with which the search for holders goes on; '' at the end. */
    next,
    labels: sessions.map(labelledIn),
    now: Number(now),
  };
}

/** The place in a queue behind the entry with this ticket. */
export const placeBehind = (ticket: string): string => `${ticket}${END}`;

/** Reads the answer to `inspectSpace`. last: the last ticket of the space. next: where the list goes on, or `NONE`. */
export function spaceIn(answer: unknown) {
  const [first = '', ...sessions] = answer as string[];
  const [, epoch, , last, next = NONE] = first.split(' ');
  return { epoch: Number(epoch), last: Number(last), next, labels: sessions.map(labelledIn) };
}

/** The place before all scores. */
export const LOWEST = '-inf';

/** The score behind which the list of sessions goes on; `Infinity` at the end of the list. */
export const scoreOf = (next: string): number => Number(next.slice(1) || Infinity);

/** Reads the answer to `listObjects`. next: the next cursor, 0 at the end. */
export function objectsIn(answer: unknown) {
  const [next = '0', ...lines] = answer as string[];
  return {
    next,
    objects: lines.map((line): readonly [name: string, Found] => {
      const [name = '', text = ''] = line.split('\0');
      return [name, foundIn(text)];
    }),
  };
}

/** Reads the answer to `cancelAll`: up to which ticket waiters are left to cancel; '' if none is left. */
export const upToIn = (answer: unknown): string => String(answer).slice(2);

/** The answer to `ofProof`: the grant is still held (V), or was held until this operation took it away (F). */
export const TRUE = '1';

// Tickets and proofs ------------------------------------------------------------------------------------------------

/** The fencing token of a grant. pass: how often the mutex was passed on within the process since the grant. */
export const tokenOf = (ticket: string, pass = 0): bigint => BigInt(`0x${ticket}`) * 4096n + BigInt(pass);

/** The parts of a proof. A proof names one grant among all grants of all processes. */
export interface Proof {
  readonly sid: string;
  readonly rid: string;
  readonly ticket: string;
}

export const writeProof = ({ sid, rid, ticket }: Proof): string => `${sid}.${rid}.${ticket}`;

/** Reads a proof that a user passes. Returns undefined if the text is no proof. */
export function proofIn(text: unknown): Proof | undefined {
  const match = typeof text === 'string' && /^([ps][0-9a-f]{15})\.([0-9a-f]{10})\.([0-9a-f]{14})$/.exec(text);
  if (!match) return undefined;
  const [, sid, rid, ticket] = match as unknown as [string, string, string, string];
  return { sid, rid, ticket };
}
