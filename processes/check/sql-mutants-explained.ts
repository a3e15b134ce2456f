/** Why no call need tell some mutants of the functions of PostgreSQL (sql-mutants-cli.ts). */
import type { Explained } from './mutant.js';

export const EXPLAINED_OF_SQL: readonly Explained[] = [];
