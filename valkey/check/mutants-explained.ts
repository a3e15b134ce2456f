/** Mutants of turn.lua that nothing tells, and why that is right. `text` is part of the line, `from` of what is changed. */
export interface Explained {
  readonly text: string;
  readonly from?: string;
  readonly to?: string;
  readonly reason: string;
}

export const EXPLAINED: readonly Explained[] = [];
