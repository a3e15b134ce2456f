/** A list that threads write into: the number of entries, then the entries. */
export type Board = Int32Array;

export function newBoard(room = 2000): Board {
  return new Int32Array(new SharedArrayBuffer(4 * (room + 1)));
}

export function log(board: Board, entry: number): void {
  Atomics.store(board, 1 + Atomics.add(board, 0, 1), entry);
}

export function length(board: Board): number {
  return Atomics.load(board, 0);
}

/** Returns the entries in order. No thread may write meanwhile. */
export function entries(board: Board): number[] {
  return [...board.subarray(1, 1 + length(board))];
}
