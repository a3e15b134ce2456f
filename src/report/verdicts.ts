/** What the look of a thread has found (youngest.ts), if it is not a circle that this thread must tell. */

/** No circle in which the thread waits. */
export const NONE = 'none';
/** A circle that another thread tells. */
export const OTHERS = 'others';
/** Perhaps a circle that this thread must tell: its second look found something else. */
export const PERHAPS = 'perhaps';

export type Verdict = typeof NONE | typeof OTHERS | typeof PERHAPS;
