/**
 * The layout of a machine's state: an array of words, in which the program's image comes first and then each thread.
 * A thread is a header, frames and globals.
 */

// Where operands are, by their area: the first words of the state, in the image's first instruction.
export const FRAME_BASE = 0;
export const GLOBALS_BASE = 1;
export const CONSTANTS_BASE = 2;

// The header of a thread, by index from its first word on.
export const STATUS = 0;
/** Of the pending access, or of the wait; BETWEEN_CALLS. */
export const PC = 1;
/** The innermost frame: index in the state. */
export const FRAME = 2;
/** IDLE: low word of the result. PENDING, PARKED: address of the access, or slept on. */
export const VALUE = 3;
/** IDLE: high word of the result. PENDING: whether it can be killed. PARKED: whether it can time out. */
export const DETAIL = 4;
/** Place in the queue of its address, from 1 on, not without gaps; 0 if in none. */
export const ORDER = 5;
/** Of the globals, kept as they change. */
export const GLOBALS_LO = 6;
export const GLOBALS_HI = 7;
/** Of all; both 0 if it has to be computed. */
export const HASH_LO = 8;
export const HASH_HI = 9;
export const HEADER = 10;

/** In place of an instruction: no call is under way. */
export const BETWEEN_CALLS = -1;
