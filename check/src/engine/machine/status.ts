/** The status of a thread (machine.ts). IDLE: no call is under way. */
export const IDLE = 0;
export const PENDING = 1;
export const PARKED = 2;
export const DEAD = 3;
