/** The shared words in which the threads at a channel say what they do. The page reads them ten times a second. */

/** Word 0 says by what messages go now. All threads look at it. */
export const BY = 0;
export const STOP = 0;
export const CHANNEL = 1;
export const POST = 2;

/** Words of a thread: what it does, and how many messages it has sent or received in each way. */
export const STATE = 0;
export const BY_CHANNEL = 1;
export const BY_POST = 2;
/** Of a sender: how many of the messages that it has posted were received. */
export const ARRIVED = 3;

export const WORKS = 0;
export const WAITS = 1;

const LINE = 16;

/** Returns the index of a word of a thread. */
export const wordOf = (thread: number, word: number): number => (1 + thread) * LINE + word;

export const boardOf = (threads: number): Int32Array => new Int32Array(new SharedArrayBuffer(4 * LINE * (1 + threads)));
