/** The globals of each module that a scene must know: which of them the checks read, and which are dead between calls. */
import type { Program } from '../engine/wasm/code.js';
import type { ProgramName } from '../programs.js';
import { globalIndex } from './set-up.js';

interface Names {
  readonly ticketTaken: string;
  /** The elements that a thread owns between its calls. */
  readonly spares: readonly string[];
  /** Where a thread looks first for what is free. */
  readonly looks: readonly string[];
  /** Besides ticketTaken: read only by what a call leaves to the call after it, and so dead between two operations. */
  readonly dead: readonly string[];
  /** Nobody reads them when the thread has come to the end of its program. */
  readonly last: readonly string[];
  /** Unless this says that the call before was cut short. */
  readonly pendingCall?: string;
  /** Says by which way a waiter got off a chain that it need not have pushed itself on: 1 to 4, else 0. */
  readonly recovery?: string;
}

const GLOBALS: Readonly<Record<ProgramName, Names>> = {
  core: {
    ticketTaken: 'tickets/ticketTaken',
    spares: ['elements/spare', 'elements/secondSpare'],
    looks: ['elements/hint', 'objects/hint', 'names/hint'],
    dead: [
      'pending-call/released',
      'pending-call/grantBefore',
      'pending-call/grantLate',
      'pending-call/competedFor',
      'pending-call/competesBy',
      'mutex-pace/base',
      'mutex/limitUnset',
    ],
    last: ['mutex/guess'],
    pendingCall: 'pending-call/pendingCall',
  },
  algorithms: {
    ticketTaken: 'core/ticketTaken',
    spares: [],
    looks: ['elements/hint'],
    dead: [
      'algorithms/chains/recovery',
      'algorithms/twa-semaphore/given',
      'algorithms/twa-semaphore/grantBefore',
      'algorithms/twa-semaphore/waiters',
    ],
    last: [],
    recovery: 'algorithms/chains/recovery',
  },
};

/** The same globals by their numbers in a program; -1 for one that its module does not have. */
export interface Globals {
  readonly ticketTaken: number;
  readonly spares: readonly number[];
  readonly looks: readonly number[];
  readonly dead: readonly number[];
  readonly last: readonly number[];
  readonly pendingCall: number;
  readonly recovery: number;
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
    dead: [...dead, ticketTaken, 'pause/pauseSink'].map(number),
    last: last.map(number),
    pendingCall: pendingCall === undefined ? -1 : number(pendingCall),
    recovery: recovery === undefined ? -1 : number(recovery),
  };
}
