/** A choice is what may happen next in a state. It is one number, thread * CHOICES + kind. */

/** The thread performs its pending access. */
export const STEP = 0;
/** The wait of a parked thread times out. */
export const TIME_OUT = 1;
/** The thread is killed. */
export const KILL = 2;
/** An exception ends the call of the thread, and the thread survives it. */
export const CUT = 3;
/** The number of kinds. */
export const CHOICES = 4;

/** Whether the choice is a death or an exception, which a model allows and which need not happen. */
export const isMishap = (choice: number): boolean => choice % CHOICES >= KILL;
