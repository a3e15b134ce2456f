/**
 * The layout of a machine's state. The state is an array of words: first the program's image, and then a header, frames
 * and globals for each thread.
 */

// The first words of the state, in the place of the image's first instruction, say where each area of operands begins.
export const FRAME_BASE = 0;
export const GLOBALS_BASE = 1;
export const CONSTANTS_BASE = 2;

// The header of a thread, by index from its first word.
export const STATUS = 0;
/** The instruction of the pending access or of the wait; or BETWEEN_CALLS. */
export const PC = 1;
/** The index of the innermost frame in the state. */
export const FRAME = 2;
/** IDLE: the low word of the result. PENDING, PARKED: the address of the access or of the wait. */
export const VALUE = 3;
/** IDLE: the high word of the result. PENDING: whether the thread can be killed. PARKED: whether it can time out. */
export const DETAIL = 4;
/** The place of the thread among the sleepers on its address: from 1 on, perhaps with gaps. 0 if it does not sleep. */
export const ORDER = 5;
/** The hash of the globals. Each change of a global updates it. */
export const GLOBALS_LO = 6;
export const GLOBALS_HI = 7;
/** The hash of the thread. Both words are 0 while the hash has yet to be computed. */
export const HASH_LO = 8;
export const HASH_HI = 9;
export const HEADER = 10;

/** Stands for an instruction when no call is under way. */
export const BETWEEN_CALLS = -1;
