// What the process of a run of `bench channels` and its threads tell one another.

// Indices into the words of a run, and where the counts of the receivers begin, a line each.
export const START = 0;
export const COUNTS = 16;
export const LINE = 16;

export interface ChannelsOrder {
  row: string;
  role: 'send' | 'receive' | 'relay' | 'ask' | 'answer' | 'compute';
  words: Int32Array;
  /** Where the thread counts what it receives. */
  count: number;
  /** The end at which the thread receives, and that at which it sends. */
  from?: unknown;
  to?: unknown;
  /** How many messages there are: first those that are not timed, and then the others. For ever, if it is absent. */
  counts?: readonly [number, number];
}

/** When the timed messages began to be sent, or the last of them was received; or the microseconds of each round trip. */
export interface ChannelsReply {
  ready?: true;
  time?: number;
  trips?: number[];
}
