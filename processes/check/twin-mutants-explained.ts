/**
 * Mutants of the twin that nothing tells, and why that is right. `text` is part of the compiled line, `from` what is
 * changed, and `to` what it becomes.
 */
export interface Explained {
  readonly text: string;
  readonly from?: string;
  readonly to?: string;
  readonly reason: string;
}

export const EXPLAINED: readonly Explained[] = [];
