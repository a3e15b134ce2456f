/**
 * The state space that the search explores: threads, the choices that are open to them, and one state at a time.
 *
 * The search knows nothing of the program under test. It lists choices, performs them, undoes them, and compares states
 * by their hashes. The state space does the work, and throws a finding (violation.ts) where a check fails.
 */
export interface StateSpace {
  readonly threads: number;

  // --- The state ---------------------------------------------------------------------------------------------

  /** The hash of the present state. */
  readonly hashLo: number;
  readonly hashHi: number;
  /** Computes the hash anew, since `undo` leaves it unchanged. */
  rehash(): void;
  /** Writes a mark of the present state into `out`: two numbers, from `at` on. */
  mark(out: number[], at: number): void;
  /** Goes back to a mark, which stays valid. */
  undo(marks: readonly number[], at: number): void;

  // --- Choices -----------------------------------------------------------------------------------------------

  /** Writes the open choices from `out[from]` on, and returns the end. Each thread has at most three. */
  choices(out: Int32Array, from?: number): number;
  /** Writes the open choices of thread t alone from `out[from]` on, and returns the end. */
  choicesOf(t: number, out: Int32Array, from: number): number;
  /** Performs an open choice. Throws a finding if the choice breaks an invariant. */
  apply(choice: number): void;
  /** Whether the last choice may have moved threads besides the thread of the choice. */
  readonly others: boolean;
  /** Whether the checks notice the last choice, so that its order among other choices matters. */
  readonly touched: boolean;
  /** Throws a finding unless this state, in which no choice is open but deaths and exceptions, is a proper end. */
  checkEnd(): void;
  /** Describes in words what a choice would do now. */
  describe(choice: number): { readonly thread: number; readonly where: string; readonly what: string };
  /** Counters for reports. The search resets them, and copies them to its result. */
  readonly tallies: number[];

  // --- Symmetry: threads that run the same program ----------------------------------------------------------

  /** Sets the order in which threads of the same program begin: by number (1), any (0), or the reverse (-1). */
  symmetry(order: 1 | 0 | -1): void;
  /** Says whether threads of the same program have turned out to differ. Then all orders must be tried. */
  distinguishes(): boolean;
  /** Says whether t may make its next access before another thread begins. */
  mayMove(t: number): boolean;

  // --- What threads share (sharing.ts) ----------------------------------------------------------------------

  /** The size of the shared memory, in words of 8 bytes. */
  readonly sharedWords: number;
  /** Returns the addresses of the words that the checks read. An access to one of these words is never local. */
  visibleWords(): Iterable<number>;
  /** Numbers the position of t in its program. A position has the same number whatever the memory holds. */
  positionOf(t: number): number;
  /**
   * Returns the word of 8 bytes to which the pending access of t goes. Returns -1 if the access is a wait or a notify,
   * since these concern other threads too.
   */
  pendingWord(t: number): number;
  /** Returns the word of 8 bytes to which the pending access of t goes, also for a wait or a notify. */
  accessedWord(t: number): number;
  /** Whether the pending access of t may change its word. */
  pendingIsWrite(t: number): boolean;
  /** Whether the pending access of t changes nothing that a thread or a check can see. */
  silent(t: number): boolean;
  /** Whether t will make no more accesses. */
  isOver(t: number): boolean;
}
