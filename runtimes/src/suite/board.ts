/** A list that threads write into: how many entries there are, then each. */
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

/** What has been written, in order. To be read when nobody writes. */
export function entries(board: Board): number[] {
  return [...board.subarray(1, 1 + length(board))];
}
