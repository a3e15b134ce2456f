/**
 * The constants of the core, and the meaning of the word at an address. The build reads the constants from the sources
 * of the core (scripts/words.mjs), so they are written only once. Globals of the core say where the regions of an arena
 * begin.
 */
import { words as readWords } from '../files.js';

const constants = new Map(Object.entries(readWords()));

/** Returns a constant of the core. */
export function constant(name: string): number {
  const value = constants.get(name);
  if (value === undefined) throw new Error(`no words.ts of core/ has a constant ${name}`);
  return value;
}

export const LINE = constant('LINE');
export const OBJECT_SIZE = constant('OBJECT_SIZE');
export const ELEMENT_SIZE = constant('ELEMENT_SIZE');
const NAME_SIZE = constant('NAME_SIZE');
const NAME_HEADS = constant('NAME_HEADS');
export const THREAD_SIZE = constant('THREAD_SIZE');
export const TICKET = constant('TICKET');
export const GRANT = constant('GRANT');
export const O_LIFE = constant('O_LIFE');
export const B_CELLS = constant('B_CELLS');
export const B_EXTENT = constant('B_EXTENT');
export const TRIMMER_SHIFT = constant('TRIMMER_SHIFT');
export const B_PARKED = constant('B_PARKED');
export const E_STATE = constant('E_STATE');
export const T_DOORBELL = constant('T_DOORBELL');
export const T_DUE = constant('T_DUE');
export const IDLE = constant('IDLE');
export const RESERVED = constant('RESERVED');
export const WAITING = constant('WAITING');
export const AWAKE = constant('AWAKE');
export const TOMBSTONE = constant('TOMBSTONE');
export const CLAIMED = constant('CLAIMED');
export const MERGING = constant('MERGING');
export const ATTACHED = constant('ATTACHED');
export const BORROWED = constant('BORROWED');
export const INTERRUPTED = constant('INTERRUPTED');
export const MORE = constant('MORE');
export const QUEUED = constant('QUEUED');
export const E_START = constant('E_START');
export const E_REQUEST = constant('E_REQUEST');
export const E_CELLS = constant('E_CELLS');
export const E_END = constant('E_END');
export const E_GATE = constant('E_GATE');
export const C_HEAD = constant('C_HEAD');
export const C_CHANNEL_HEAD = constant('C_CHANNEL_HEAD');
export const O_VAIN_POLLS = constant('O_VAIN_POLLS');
export const O_SLEEPERS = constant('O_SLEEPERS');
export const C_LOCATION_HEAD = constant('C_LOCATION_HEAD');
export const C_DUE_HEAD = constant('C_DUE_HEAD');
export const E_HELD = constant('E_HELD');
export const O_DEATHS = constant('O_DEATHS');
export const O_TIMEOUTS = constant('O_TIMEOUTS');
export const T_COLLISIONS = constant('T_COLLISIONS');
export const T_FUTILE_WAKES = constant('T_FUTILE_WAKES');
export const T_SLEEPS_ON = constant('T_SLEEPS_ON');
export const T_SLEEPS = constant('T_SLEEPS');
export const REAPER = constant('REAPER');
export const LIFE_STATE = constant('LIFE_STATE');
export const FREE = constant('FREE');
export const ALIVE = constant('ALIVE');
export const STILL_AWAKE = constant('STILL_AWAKE');
/** A state of a thread's life. It has another name here, because the machine has a status DEAD. */
export const DEAD_LIFE = constant('DEAD');
export const TIMED_OUT = constant('TIMED_OUT');
export const LEAVE = constant('LEAVE');
export const ANSWER_FULL = constant('ANSWER_FULL');
export const STATE_MASK = constant('STATE_MASK');
export const CLOSED_OBJECT = constant('CLOSED_OBJECT');
export const ADMITTED = constant('ADMITTED');
export const REFUSED = constant('REFUSED');
export const CANCELLED = constant('CANCELLED');
export const KEPT = constant('KEPT');
export const O_OWNER = constant('O_OWNER');
export const O_TAKEN = constant('O_TAKEN');
export const ANSWER_NOT_HELD = constant('ANSWER_NOT_HELD');
export const ANSWER_HELD = constant('ANSWER_HELD');
export const ANSWER_CLOSED = constant('ANSWER_CLOSED');

/** The first byte of each region of an arena. */
export interface Regions {
  readonly objects: number;
  readonly names: number;
  readonly threads: number;
  readonly chains: number;
  readonly buckets: number;
  readonly lines: number;
  readonly common: number;
  readonly elements: number;
  readonly end: number;
}

const STATES = [
  'IDLE',
  'RESERVED',
  'WAITING',
  'GRANTED',
  'CLOSED',
  'ASKED',
  'AWAKE',
  'TOMBSTONE',
  'CLAIMED',
  'MERGING',
  'ATTACHED',
  'BORROWED',
];
const words = (names: Record<string, string>): Map<number, string> =>
  new Map(Object.entries(names).map(([name, text]) => [constant(name), text]));
const HEADER = words({
  H_MAGIC: 'magic',
  H_VERSION: 'version',
  H_ID: 'id',
  H_OBJECTS: 'size of objects',
  H_THREADS: 'size of threads',
  H_BUCKETS: 'size of buckets',
  H_CHAINS: 'size of chains',
  H_ELEMENTS: 'size of elements',
  H_END: 'end of the arena',
  USED_ELEMENTS: 'elements used',
  USED_OBJECTS: 'objects used',
  USED_THREADS: 'threads used',
  REAPER: 'reaper',
  NEVER: 'never',
});
const OBJECT = words({
  TICKET: 'ticket',
  GRANT: 'grant',
  O_KIND: 'kind',
  O_MAX: 'max',
  O_SPIN: 'spin',
  O_THRESHOLD: 'threshold',
  O_INITIAL: 'initial',
  O_ROBUST: 'robust/hash',
  O_COUNTER: 'counter/variant',
  O_PARKED: 'parked/limit',
  M_HEAD: 'head',
  M_PACE: 'pace',
  M_TURN: 'turn',
  O_LIFE: 'life',
  O_UNREPORTED_DEATHS: 'died',
  O_DEATHS: 'deaths',
  O_TIMEOUTS: 'timeouts',
  O_DEPARTED: 'departed',
  O_OWNER: 'owner/taken',
  O_WHERE: 'where',
  O_VAIN_POLLS: 'vain',
  O_SLEEPERS: 'sleepers',
  O_NAME: 'name',
  O_ASKS: 'asks',
});
const NAME = words({
  N_NEXT: 'next',
  N_LENGTH: 'length',
});
const THREAD = words({
  T_LIFE: 'life',
  T_DOORBELL: 'doorbell',
  T_RUNTIME_ID: 'runtime id',
  T_WAKE: 'wake',
  T_COLLISIONS: 'collisions',
  T_FUTILE_WAKES: 'futile wakes',
  T_SLEEPS_ON: 'sleeps on',
  T_SLEEPS: 'sleeps',
  T_DUE: 'due',
});
const BUCKET = words({ B_SEQUENCE: 'sequence', B_PARKED: 'parked', B_EXTENT: 'extent' });
const CHAIN = words({
  C_HEAD: 'head',
  C_DUE_HEAD: 'due head',
  C_DUE_POSTS: 'due posts',
  C_CHANNEL_HEAD: 'channel head',
  C_LOCATION_HEAD: 'location head',
  C_SEQUENCE: 'sequence',
});
const ELEMENT = words({
  E_STATE: 'state',
  E_START: 'start',
  E_REQUEST: 'request',
  E_CELLS: 'cells',
  E_END: 'end, counter',
  E_HELD: 'held',
  E_SINCE: 'since',
  E_BELOW: 'below',
  // The element of a waiter in the queue has E_ASLEEP there.
  E_GATE: 'gate',
  E_PASSED: 'passed',
});

/** Names the word at this address in a trace. */
export function nameOf(address: number, at: Regions): string {
  const inLine = (kind: string, base: number, size: number, fields: Map<number, string>): string => {
    const offset = (address - base) % size;
    const cell = fields === BUCKET && offset >= B_CELLS ? `cell${(offset - B_CELLS) / 4}` : undefined;
    return `${kind}${Math.floor((address - base) / size)}.${cell ?? fields.get(offset) ?? `+${offset}`}`;
  };
  if (address >= at.elements) return inLine('element', at.elements, ELEMENT_SIZE, ELEMENT);
  if (address >= at.common) return inLine('common', at.common, LINE, BUCKET);
  if (address >= at.lines) return inLine('line', at.lines, LINE, BUCKET);
  if (address >= at.buckets) return inLine('bucket', at.buckets, LINE, BUCKET);
  if (address >= at.chains) return inLine('chain', at.chains, LINE, CHAIN);
  if (address >= at.threads) return inLine('thread', at.threads, THREAD_SIZE, THREAD);
  if (address >= at.names) return inLine('name', at.names, NAME_SIZE, NAME);
  if (address >= at.objects) return inLine('object', at.objects, OBJECT_SIZE, OBJECT);
  if (address >= CLOSED_OBJECT && address < CLOSED_OBJECT + OBJECT_SIZE)
    return `closed.${OBJECT.get(address - CLOSED_OBJECT)}`;
  if (address >= NAME_HEADS && address < at.objects) return 'head of names';
  return HEADER.get(address) ?? `header+${address}`;
}

/** Renders a value by the meaning of the word at this address. */
export function meaningOf(value: bigint, address: number, at: Regions): string {
  if (address >= at.elements && (address - at.elements) % ELEMENT_SIZE === E_STATE) {
    return `${STATES[Number(value & BigInt(STATE_MASK))]}#${value / BigInt(constant('EPOCH'))}`;
  }
  return value > -100000n && value < 100000n ? String(value) : `0x${BigInt.asUintN(64, value).toString(16)}`;
}
