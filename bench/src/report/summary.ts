// Says in three sentences what a run has shown, for somebody who has measured a machine for the first time. A sentence
// is left out if its figures are missing.

import { type Cell, cells, medianOf, type Results, threadCounts } from '../results.js';
import { fixed, rate } from './tables.js';

const OURS = 'Semaphore';
/** Semaphores that let threads overtake, with what to call them. */
const BARGING = [
  ['js-barging', 'a semaphore in plain JavaScript that lets threads overtake'],
  ['sem_t', "glibc's sem_t"],
] as const;

export function summary(results: Results): string[] {
  if (results.benchmark !== 'semaphores' || results.work !== undefined) return [];
  const most = threadCounts(results).at(-1) ?? 1;
  const measured = cells(results).filter(({ threads }) => threads === most);
  const ours = measured.find(({ row }) => row === OURS);
  const others = BARGING.flatMap(([row, name]) => {
    const cell = measured.find((candidate) => candidate.row === row);
    return cell ? [{ cell, name }] : [];
  });
  return [
    ...pairSentence(results),
    ...(ours?.probe && most > 1 ? [orderSentence(results, ours, others), speedSentence(ours, others)] : []),
  ];
}

interface Other {
  readonly cell: Cell;
  readonly name: string;
}

function pairSentence(results: Results): string[] {
  const own = medianOf(results.pairs, OURS);
  const native = medianOf(results.pairs, 'sem_t');
  if (Number.isNaN(own)) return [];
  const beside = Number.isNaN(native) ? '' : `, and on glibc's sem_t ${fixed(native)} ns`;
  return [`With nobody else there, acquire and release on a ${OURS} take ${fixed(own)} ns together${beside}.`];
}

function orderSentence({ environment }: Results, { threads, probe }: Cell, others: readonly Other[]): string {
  const { outOfOrder = Number.NaN, largestBypass = Number.NaN, admissions } = probe ?? {};
  const all = admissions === undefined ? 'its admissions' : `its ${admissions.toLocaleString('en')} admissions`;
  const inOrder = outOfOrder === 0 && largestBypass === 0;
  const own = inOrder
    ? `each of ${all} came in its turn, and nobody was overtaken`
    : `${outOfOrder} of ${all} came out of turn, and a waiter was overtaken ${largestBypass} times`;
  const overtaken = others
    .filter(({ cell }) => cell.probe)
    .map(
      ({ cell, name }) =>
        `${cell.probe?.outOfOrder === undefined ? 'at most ' : ''}${(cell.probe?.largestBypass ?? 0).toLocaleString('en')} times on ${name}`,
    );
  const beside = overtaken.length === 0 ? '' : `; one waiter was overtaken ${overtaken.join(', and ')}`;
  return `With ${threads} threads on ${environment.processors} processors, ${own}${beside}.`;
}

function speedSentence(ours: Cell, others: readonly Other[]): string {
  const both = ({ longestWait, throughput }: Cell) =>
    `${fixed(longestWait.median)} ms, at ${rate(throughput.median)} turns a second`;
  const beside = others.map(({ cell, name }) => `; on ${name} ${both(cell)}`).join('');
  return `Its longest wait was ${both(ours)}${beside}.`;
}
