/**
 * All that a client and the script send each other, by names: the arguments of each operation, the answers, and the
 * messages. The files in turn/ say what each of them means. No other file takes such a text apart. The script tells the
 * state of a request in one form in answers and in another form in messages; `Fate` is both.
 */

/** Semaphore, mutex, read-write lock, as the script calls them. */
export type Kind = 's' | 'm' | 'w';

/** The settings on which all who open an object agree. */
export interface Settings {
  readonly kind: Kind;
  readonly max: number;
  /** The semaphore was resized: whoever opens it need not know the number. */
  readonly resized?: boolean;
  readonly robust: boolean;
  readonly ephemeral: boolean;
  readonly bypass: number;
}

/** A number as the script takes it. */
export const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

const flag = (is: boolean): string => (is ? '1' : '0');

// Names -----------------------------------------------------------------------------------------------------------------

/** The keys of a partition of a space, in the order in which the script takes them, and what its channels begin with. */
export function keysOf(space: string, partition: number): { readonly keys: string[]; readonly channel: string } {
  const tag = `tt:{${space}.${partition}}:`;
  const keys = ['meta', 'objects', 'queue', 'records', 'sessions', 'leases', 'seqs'].map((key) => tag + key);
  return { keys, channel: `${tag}c:` };
}

/** Returns a name that no session has. In a cluster it tells that messages to the session go by SPUBLISH. */
export function newSid(cluster: boolean): string {
  const bytes = crypto.getRandomValues(new Uint8Array(15));
  return (cluster ? 's' : 'p') + Array.from(bytes, (byte) => (byte & 15).toString(16)).join('');
}

// Operations --------------------------------------------------------------------------------------------------------

/** The version of the keys and the script. */
export const VERSION = '2';

/** An operation: its letter and its arguments. */
export type Arguments = readonly string[];

/** A place in an order before which there is nothing, and one behind which there is nothing. */
export const START = '';
export const END = '~';
/** No ticket: no sign of life that was seen, or an object that was not opened yet. */
export const NONE = '-';

/** The head of each call. */
export const call = (sid: string, conn: number, channel: string): string[] => [sid, String(conn), channel];

/** Opens the session, or resumes it. seen: `Sign.told` of somebody's sign of life. topmost: the last ticket that was told. */
export const enter = (partitions: number, lease: number, label: string, seen: string, topmost: string): string[] => [
  'O',
  VERSION,
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

/** Asks for permits. queues: it waits if there are too few. */
export const ask = (queues: boolean, name: string, born: string, rid: string, permits: number): Arguments => [
  queues ? 'A' : 'T',
  ...[name, born, rid, hex(permits, 8)],
];

export const cancel = (rid: string): Arguments => ['C', rid];

/** What `giveBack` says of deaths that the holder was told: nothing, they are repaired, they are not, or it has died too. */
export type Note = '-' | 'c' | 'r' | 'd';

/** Gives `count` of `kept` permits back. marked: a beat has named the request. passes: how often the mutex was passed on. */
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
 * Asks for the state of these requests. The server drops the requests from one number up to another that are not
 * listed.
 */
export const list = (from: string, upTo: string, rids: readonly string[]): Arguments => [
  ...['S', from, upTo, String(rids.length), ...rids],
];

/** The place behind a request, where a next `list` begins. */
export const behind = (rid: string): string => `${rid}g`;

export const beat = (seen: string): string[] => ['B', seen];

/** A beat of a connection whose reply nobody reads for grants. */
export const beatAside = (): string[] => ['W', NONE];

/** With a beat: some requests that are held. */
export const mark = (rids: readonly string[]): Arguments => ['U', String(rids.length), ...rids];

export const leave = (): Arguments => ['X'];

export const resize = (name: string, born: string, max: number): Arguments => ['R', name, born, String(max)];

/** Cancels all who wait, up to a ticket: at first `NONE`, then what is left. */
export const cancelAll = (name: string, born: string, upTo: string): Arguments => ['L', name, born, upTo];

export const dispose = (name: string, born: string): Arguments => ['K', name, born];

/** Asks whether a proof is right (V), or takes what it proves away (F). */
export const ofProof = (letter: 'V' | 'F', name: string, { rid, ticket, sid }: Proof): Arguments => [
  ...[letter, name, rid, ticket, sid],
];

/** Asks for the state of an object: so many who wait, from a place of the queue on, and who hold, from a place of all records. */
export const inspect = (name: string, limit = 0, place = START, from = START): Arguments => [
  ...['I', name, String(limit), place, from],
];

/** Lists the sessions from one score on: that of the ticket of its last beat. */
export const inspectSpace = (from: string): Arguments => ['J', from];

export const listObjects = (cursor: string): Arguments => ['P', cursor];

// Requests ----------------------------------------------------------------------------------------------------------

/** What a process is told with its permits. */
export interface Grant {
  readonly ticket: string;
  /** Of holders, since the last grant. */
  readonly deaths: number;
  /** How often a mutex may be passed on. Of a semaphore that was resized, how many permits there are; else 0. */
  readonly lent: number;
  /** How many wait. */
  readonly waiting: number;
  /** How many it holds, in an answer that tells its state. */
  readonly permits: number;
}

/** What has become of a request, as answers and states say it. */
export const HELD = 'H';
export const QUEUED = 'Q';
export const REFUSED = 'R';
export const CANCELLED = 'C';
/** There is no such object any more. */
export const DISPOSED = 'X';
export const TOO_MANY = 'M';
/** The server has forgotten it, or never knew it. */
export const UNKNOWN = 'G';
/** What it held was taken away. Only messages say so. */
export const REVOKED = 'F';

export type Fate =
  | ({ readonly is: typeof HELD } & Grant)
  /** There are only so many permits. */
  | { readonly is: typeof TOO_MANY; readonly max: number }
  | { readonly is: 'Q' | 'R' | 'C' | 'X' | 'G' | 'F' };

/** The words by which messages say what has ended a request. */
const ENDS = { x: DISPOSED, c: CANCELLED, r: REVOKED } as const;

function grantIn(text: string): Fate {
  const [ticket = '', ...rest] = text.split(':');
  const [deaths = 0, lent = 0, waiting = 0, permits = 0] = rest.map(Number);
  return { is: HELD, ticket, deaths, lent, waiting, permits };
}

const fewer = (max: string): Fate => ({ is: TOO_MANY, max: Number(max) });

/** The answer to `ask` and `cancel`, and one of the states that `list` tells. */
export function fateIn(answer: unknown): Fate {
  const text = String(answer);
  const [is, rest] = [text[0], text.slice(2)];
  return is === HELD ? grantIn(rest) : is === TOO_MANY ? fewer(rest) : { is: is as typeof QUEUED };
}

/** What a message, or the end of a reply, tells of a request. No fate: others wait for the mutex that it holds. */
export function newsIn(entry: string): { readonly rid: string; readonly fate: Fate | undefined } {
  if (entry[0] === '!') return { rid: entry.slice(1), fate: undefined };
  const text = entry.slice(11);
  const is = ENDS[text as keyof typeof ENDS];
  const fate = is ? { is } : text[0] === 'm' ? fewer(text.slice(1)) : grantIn(text);
  return { rid: entry.slice(0, 10), fate };
}

/** At the end of a reply: grants are left, and the next beat goes on with them. To `leave` and `dispose`: ask again. */
export const LEFT = '+';

/** How many messages a connection can have: their numbers begin with its own number times that. */
export const SEQS_OF_A_CONNECTION = 2 ** 32;

/** A message: its number, and its news. */
export function messageIn(text: string): { readonly seq: number; readonly news: readonly string[] } {
  const at = text.indexOf(';');
  return { seq: Number(text.slice(0, at)), news: text.slice(at + 1).split(',') };
}

/** The answer to `list`. isWhole: all that is not listed was dropped. seq: of the last message before. */
export function statesIn(answer: unknown) {
  const [first, ...states] = answer as [string, ...string[]];
  const [letter, seq, place = ''] = first.split(' ');
  return { isWhole: letter === 'S', seq: Number(seq), place, states };
}

// Sessions ----------------------------------------------------------------------------------------------------------

/** A ticket that was told with the history in which it was given, so that a later call can name it. */
export interface Sign {
  readonly told: string;
  readonly ticket: string;
  /** The history, as epoch.id. */
  readonly place: string;
}

const signOf = (ticket = '', place = ''): Sign => ({ told: `${ticket} ${place}`, ticket, place });

/** The first answer of a reply that says that nothing was done. */
export const DEAD = 'DEAD';
export const STALE = 'STALE';

/** The answer to `enter`. others: the settings on which the other processes agree. watch: until a lease is over. */
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

/** The answer to a beat. seq: of the last message. isLeft: there may be more to do at once. */
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

/** The answer to `open`. born: the ticket of its making. max: of a semaphore that was resized. */
export type Opened =
  | { readonly born: string; readonly max: number | undefined; readonly others?: undefined }
  | { readonly others: Settings };

export function openedIn(answer: unknown): Opened {
  const [letter, ...words] = String(answer).split(' ');
  if (letter === 'E') return { others: settingsIn(...(words as [string, string, string, string, string])) };
  return { born: words[0] as string, max: words[1] === undefined ? undefined : Number(words[1]) };
}

/** An object as the server has it. */
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

/** Who waits, or holds. */
export interface Claim {
  readonly sid: string;
  readonly rid: string;
  readonly ticket: string;
  readonly permits: number;
  /** Since when, in milliseconds of the server; nothing if it is not known. */
  readonly at: number | undefined;
}

/** Fields of fixed width. */
const fixed = (text: string, ...widths: readonly number[]): string[] => {
  let at = 0;
  return widths.map((width) => {
    at += width;
    return text.slice(at - width, at);
  });
};

/** A session and its label: in `sid conn label`, or `sid` of one that has ended. */
export type Labelled = readonly [sid: string, label: string];

const labelledIn = (line: string): Labelled => {
  const [sid = ''] = fixed(line, 16);
  return [sid, line.slice(17).replace(/^\d+ /, '')];
};

/** The answer to `inspect`. Nothing: there is no such object. */
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
      // A name has no NUL.
      const [ticket, sid, rid, permits, , at = ''] = fixed(entry.slice(entry.indexOf('\0') + 1), 14, 16, 10, 8, 14, 11);
      return claim(sid, rid, ticket, permits, Number.parseInt(at, 16));
    }),
    holders: records.map((record, i) => {
      const [sid, rid, ticket, permits] = fixed(record, 16, 10, 14, 8);
      return claim(sid, rid, ticket, permits, times[i] ? Number(times[i]) : undefined);
    }),
    /** From where the records go on. */
    next,
    labels: sessions.map(labelledIn),
    now: Number(now),
  };
}

/** The place behind an entry of a queue. */
export const placeBehind = (ticket: string): string => `${ticket}${END}`;

/** The answer to `inspectSpace`. next: where the list of sessions goes on, `NONE` at its end. */
export function spaceIn(answer: unknown) {
  const [first = '', ...sessions] = answer as string[];
  const [, epoch, , last, next = NONE] = first.split(' ');
  return { epoch: Number(epoch), last: Number(last), next, labels: sessions.map(labelledIn) };
}

/** Before all scores. */
export const LOWEST = '-inf';

/** The score of `next`, behind which the list goes on; `Infinity` at its end. */
export const scoreOf = (next: string): number => Number(next.slice(1) || Infinity);

/** The answer to `listObjects`. next: the next cursor, 0 at the end. */
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

/** The answer to `cancelAll`: up to which ticket somebody waits still; '' if nobody does. */
export const upToIn = (answer: unknown): string => String(answer).slice(2);

/** The answer to `ofProof`. */
export const TRUE = '1';

// Tickets and proofs ------------------------------------------------------------------------------------------------

/** The fencing token of a ticket, and of the passes of a mutex that its holder has made. */
export const tokenOf = (ticket: string, pass = 0): bigint => BigInt(`0x${ticket}`) * 4096n + BigInt(pass);

/** What names a grant among all processes. */
export interface Proof {
  readonly sid: string;
  readonly rid: string;
  readonly ticket: string;
}

export const writeProof = ({ sid, rid, ticket }: Proof): string => `${sid}.${rid}.${ticket}`;

/** Reads a proof that somebody gives. Nothing: it is none. */
export function proofIn(text: unknown): Proof | undefined {
  const match = typeof text === 'string' && /^([ps][0-9a-f]{15})\.([0-9a-f]{10})\.([0-9a-f]{14})$/.exec(text);
  if (!match) return undefined;
  const [, sid, rid, ticket] = match as unknown as [string, string, string, string];
  return { sid, rid, ticket };
}
