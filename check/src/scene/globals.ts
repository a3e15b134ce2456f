/** Lists the globals of each module that the checks read, and the globals that no later call reads (dead globals). */
import type { Program } from '../engine/wasm/code.js';
import type { ProgramName } from '../programs.js';
import { globalIndex } from './set-up.js';

interface Names {
  /** The ticket that the thread took last. */
  readonly ticketTaken: string;
  /** The elements that a thread owns between its calls. */
  readonly spares: readonly string[];
  /** Where a thread first looks for a free element, object or name. */
  readonly looks: readonly string[];
  /** The globals by which the calls of one operation pass values on. They are dead between two operations. */
  readonly dead: readonly string[];
  /** The globals that are dead only when the thread has come to the end of its program. */
  readonly last: readonly string[];
  /** A global that is not 0 if the call before was cut short. While it is not 0, no global is dead. */
  readonly pendingCall?: string;
  /** A global that says how a thread has left a chain that it need not have joined: 1 to 4, or 0 if it has not. */
  readonly recovery?: string;
}

const GLOBALS: Readonly<Record<ProgramName, Names>> = {
  core: {
    ticketTaken: 'threads/ticketTaken',
    spares: ['elements/spare', 'elements/secondSpare'],
    looks: ['elements/hint', 'objects/hint'],
    dead: [
      'pending-call/released',
      'pending-call/grantBefore',
      'pending-call/grantLate',
      'pending-call/headOf',
      'pending-call/headAttachment',
      'mutex-pace/base',
      'mutex-pace/turnOf',
      'mutex-pace/turnFrom',
      'mutex/limitUnset',
      'mutex/slept',
      'names/first',
      'names/found',
      'channel/given',
      'watch/told',
    ],
    last: ['mutex/guess'],
    pendingCall: 'pending-call/pendingCall',
  },
  algorithms: {
    ticketTaken: 'threads/ticketTaken',
    spares: [],
    looks: ['elements/hint'],
    dead: [
      'papers/chains/recovery',
      'papers/lanes/given',
      'papers/lanes/grantBefore',
      'papers/twa-semaphore/given',
      'papers/twa-semaphore/grantBefore',
      'papers/twa-semaphore/waiters',
    ],
    last: [],
    recovery: 'papers/chains/recovery',
  },
};

const PAUSES = 'polling/pauseSink';

/** The same globals by their numbers in a program; -1 for a global that the module does not have. */
export interface Globals {
  readonly ticketTaken: number;
  readonly spares: readonly number[];
  readonly looks: readonly number[];
  readonly dead: readonly number[];
  readonly last: readonly number[];
  readonly pendingCall: number;
  readonly recovery: number;
  /** The global by which a pause keeps the compiler from dropping its steps. */
  readonly pauses: number;
}

export function globalsOf(program: Program, name: ProgramName): Globals {
  const number = (global: string): number => {
    const index = globalIndex(program, global);
    if (index < 0) throw new Error(`${name}.wasm has no global ${global}`);
    return index;
  };
  const { ticketTaken, spares, looks, dead, last, pendingCall, recovery } = GLOBALS[name];
  return {
    ticketTaken: number(ticketTaken),
    spares: spares.map(number),
    looks: looks.map(number),
    dead: [...dead, ticketTaken, PAUSES].map(number),
    last: last.map(number),
    pendingCall: pendingCall === undefined ? -1 : number(pendingCall),
    recovery: recovery === undefined ? -1 : number(recovery),
    pauses: number(PAUSES),
  };
}
