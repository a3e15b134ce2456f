/** What a team and its workers send one another. */

export interface Call {
  readonly id: number;
  readonly job: string;
  readonly args: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}
