/**
 * What the kept records of bench/records/ say about claims of the papers. `count-claims.mjs` prints it, and
 * docs/internals/claims.md cites it. Needs no machine that is idle: nothing is measured.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BENCHMARKS, rowsOf } from '../dist/benchmarks.js';
import { Store } from '../dist/record.js';
import { fixed, rate } from '../dist/report/tables.js';
import { cells } from '../dist/results.js';

/** The records, and what was measured in each. */
const RECORDS = {
  'locks-16': '16 processors, TypeScript',
  'locks-2': '2 processors, TypeScript',
  'capacitors-2': '2 processors, C++',
};
const LOCKS = ['TtsLock', 'TicketLock', 'McsLock', 'LifoLock', 'ReciprocatingLock'];
/** The names of the locks in the rows in C++. */
const IN_CPP = { TtsLock: 'tts', TicketLock: 'ticket', McsLock: 'mcs' };

/** The endings of the names of the rows. */
const FORMS = { bare: '', wrapped: '+capacitor', fractional: '+fractional' };

/** Returns a function that finds the cell of a lock in one of its forms in a record. */
function cellsOf(record) {
  known[record] ??= read(record);
  return known[record];
}

const known = {};

function read(record) {
  const file = fileURLToPath(new URL(`../records/${record}.jsonl.gz`, import.meta.url));
  if (!existsSync(file)) return () => undefined;
  const all = cells(Store.read(file, (benchmark) => rowsOf(BENCHMARKS[benchmark])).results);
  return (lock, form, threads) => {
    const name = record === 'capacitors-2' ? `${IN_CPP[lock]}-spin` : `${lock} spin`;
    return all.find((cell) => cell.row === name + FORMS[form] && cell.threads === threads);
  };
}

const speed = ({ throughput }) => rate(throughput.median);
const percent = (share) => `${Math.round(100 * share)} %`;

/** Throughput and fairness of a lock, bare and in a capacitor, in each record. */
function beside(lock, threads) {
  return Object.entries(RECORDS).flatMap(([record, where]) => {
    const cell = cellsOf(record);
    const [bare, wrapped] = [cell(lock, 'bare', threads), cell(lock, 'wrapped', threads)];
    if (!bare || !wrapped) return [];
    const said = (of) => `${speed(of)}, fairness ${of.fairness.median.toFixed(3)}`;
    return [`${where}, ${threads} threads, ${lock}: bare ${said(bare)}; in a capacitor ${said(wrapped)}`];
  });
}

/** What a lock keeps of its throughput from 4 threads to 16, if each thread has a processor. */
function kept(locks) {
  const cell = cellsOf('locks-16');
  const share = (lock, form) => percent(cell(lock, form, 16).throughput.median / cell(lock, form, 4).throughput.median);
  return locks.map(
    (lock) =>
      `16 processors, ${lock}: with 16 threads, ${share(lock, 'bare')} of the throughput with 4 threads bare, and ` +
      `${share(lock, 'wrapped')} in a capacitor`,
  );
}

/** Throughput in a capacitor over that of the bare lock. */
function gains(threads) {
  return Object.entries(RECORDS).flatMap(([record, where]) => {
    const cell = cellsOf(record);
    const all = LOCKS.flatMap((lock) => {
      const [bare, wrapped] = [cell(lock, 'bare', threads), cell(lock, 'wrapped', threads)];
      const gain = bare && wrapped && wrapped.throughput.median / bare.throughput.median;
      return gain === undefined ? [] : [`${lock} ${gain < 0.01 ? gain.toPrecision(2) : fixed(gain)}`];
    });
    return all.length > 0
      ? [`${where}, ${threads} threads, times the throughput of the bare lock: ${all.join(', ')}`]
      : [];
  });
}

/** The longest waits of the locks, bare and in another form. */
function longestWaits(form, named) {
  const cell = cellsOf('locks-16');
  const wait = (lock, of) => fixed(cell(lock, of, 16).longestWait.median);
  return LOCKS.filter((lock) => cell(lock, form, 16)).map(
    (lock) =>
      `16 processors, 16 threads, ${lock}: longest wait, ms, bare ${wait(lock, 'bare')}, ${named} ${wait(lock, form)}`,
  );
}

export const FROM_RECORDS = {
  C23: () => beside('TtsLock', 16),
  C24: () => kept(['TtsLock', 'TicketLock', 'McsLock']),
  C34: () => ['TtsLock', 'TicketLock'].flatMap((lock) => beside(lock, 16)),
  C39: () => [4, 16].flatMap(gains),
  C26: () => longestWaits('fractional', 'with fractional bypass'),
  C42: () => {
    const cell = cellsOf('locks-2');
    const range = (lock, form, threads) => {
      const { min, median, max } = cell(lock, form, threads).throughput;
      return percent((max - min) / median);
    };
    const ranges = [2, 4, 16].flatMap((threads) =>
      LOCKS.map(
        (lock) =>
          `2 processors, ${threads} threads, ${lock}: range of 11 runs / median, bare ${range(lock, 'bare', threads)}, ` +
          `in a capacitor ${range(lock, 'wrapped', threads)}`,
      ),
    );
    return [...ranges, ...longestWaits('wrapped', 'in a capacitor')];
  },
};
