import type { Answer, Store } from '../src/local/store.js';

export function moduleOf(source: string): string;
export function functionOf(source: string): (store: Store) => (args: readonly string[]) => Answer[];
