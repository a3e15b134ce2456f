/**
 * The state space that the search explores: threads, the choices that are open to them, and one state at a time.
 *
 * The search knows nothing of the program under test. It lists choices, performs them, takes them back, and compares
 * states by their hashes; the state space does the work, and throws a finding (violation.ts) where a check fails.
 */
export interface StateSpace {
  readonly threads: number;

  // --- The state ---------------------------------------------------------------------------------------------

  /** The hash of the present state. */
  readonly hashLo: number;
  readonly hashHi: number;
  /** Computes the hash anew, which `undo` leaves as it was. */
  rehash(): void;
  /** Writes a moment to come back to into `out`: two numbers, from `at` on. */
  mark(out: number[], at: number): void;
  /** Goes back to a moment, which stays good. */
  undo(marks: readonly number[], at: number): void;

  // --- Choices -----------------------------------------------------------------------------------------------

  /** Writes the open choices from `out[from]` on, and returns the end. At most three of a thread are open. */
  choices(out: Int32Array, from?: number): number;
  /** The same, of thread t alone. */
  choicesOf(t: number, out: Int32Array, from: number): number;
  /** Performs an open choice. Throws a finding if it breaks a promise. */
  apply(choice: number): void;
  /** Whether the last choice may have moved other threads than its own. */
  readonly others: boolean;
  /** Whether the checks take notice of the last choice, so that its order among others matters. */
  readonly touched: boolean;
  /** Throws a finding unless this state, in which no choice but deaths is open, is a proper end. */
  checkEnd(): void;
  /** What a choice would do now, in words. */
  describe(choice: number): { readonly thread: number; readonly where: string; readonly what: string };
  /** Counters that the state space keeps for reports. The search resets them, and copies them to its result. */
  readonly tallies: number[];

  // --- Symmetry: threads that run the same program ----------------------------------------------------------

  /** Threads that do the same begin in the order of their numbers: 1, in any order: 0, in the reverse order: -1. */
  symmetry(order: 1 | 0 | -1): void;
  /** Whether something has happened that tells such threads apart, so that the order may not be kept. */
  distinguishes(): boolean;
  /** Whether t need not wait with its next access until another thread has begun. */
  mayMove(t: number): boolean;

  // --- What threads share (sharing.ts) ----------------------------------------------------------------------

  /** The size of the shared memory, in words of 8 bytes. */
  readonly sharedWords: number;
  /** Addresses of the words that the checks read, so that no access to them is invisible. */
  visibleWords(): Iterable<number>;
  /** Where t is in its program, as a number: the same place has the same number, whatever the memory holds. */
  placeOf(t: number): number;
  /**
   * The word of 8 bytes to which the pending access of t goes, if it is a plain load, store or exchange of one word,
   * else -1: a wait and a notify concern other threads too.
   */
  pendingWord(t: number): number;
  /** The same of any pending access, waits and notifies among them. */
  accessedWord(t: number): number;
  /** Whether the pending access of t may change its word. */
  pendingIsWrite(t: number): boolean;
  /** Whether the pending access of t changes nothing that any thread or check can tell. */
  silent(t: number): boolean;
  /** Whether t makes no access any more. */
  isOver(t: number): boolean;
}
