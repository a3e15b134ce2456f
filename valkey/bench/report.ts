/** Formats the tables of the benchmark. */
import { fixed, makeTable, rate, ratio, targetTable } from '@taketurns/bench/dist/report/tables.js';
import { each, type Part, type Results, type Run, spreadOf } from './results.js';
import { targets } from './targets.js';

interface Column {
  readonly figure: string;
  readonly heading: string;
  readonly shown: (value: number) => string;
  /** Whether least and most are shown beside the median, and whether the worst round counts. */
  readonly of?: 'spread' | 'most' | 'least';
}

const RATE: Column = { figure: 'rate', heading: 'hand-overs\na second', shown: rate, of: 'spread' };
const FAIRNESS: Column = { figure: 'fairness', heading: 'fewest\n/ most', shown: (value) => value.toFixed(2) };
const WAIT: Column = { figure: 'longestWaitMs', heading: 'longest\nwait, ms', shown: fixed, of: 'most' };
const BYPASS: Column = { figure: 'bypass', heading: 'largest\nbypass', shown: fixed, of: 'most' };
const COMMANDS: Column = { figure: 'commands', heading: 'commands a\nhand-over', shown: (value) => value.toFixed(3) };
const MESSAGES: Column = { figure: 'messages', heading: 'messages a\nhand-over', shown: (value) => value.toFixed(3) };
const BYTES: Column = { figure: 'bytesOut', heading: 'bytes\nout', shown: fixed };
const SERVER: Column = { figure: 'serverMicros', heading: 'server\nµs', shown: fixed };
const CLIENT: Column = { figure: 'clientMicros', heading: 'clients\nµs', shown: fixed };
const SCRIPT: Column = { figure: 'scriptMicros', heading: 'µs a\ncall', shown: fixed };

const PARTS: Readonly<Record<Part, { heading: string; at: string; columns: readonly Column[] }>> = {
  'hand-over': {
    heading: 'hand-overs, all loop without a pause',
    at: 'clients',
    columns: [RATE, FAIRNESS, WAIT, BYPASS, COMMANDS, MESSAGES, SERVER, CLIENT, SCRIPT],
  },
  waiters: {
    heading: 'hand-overs as waiters grow',
    at: 'clients',
    columns: [COMMANDS, MESSAGES, BYTES, SERVER, RATE, FAIRNESS, BYPASS],
  },
  pairs: {
    heading: 'uncontended pair, one client',
    at: '',
    columns: [
      { figure: 'pair', heading: 'µs a pair', shown: fixed, of: 'spread' },
      { figure: 'script', heading: 'µs an operation\nin the script', shown: fixed, of: 'spread' },
      { figure: 'calls', heading: 'calls of\nthe script', shown: fixed },
    ],
  },
  mutex: {
    heading: 'a lock of 4 processes of 8 tasks',
    at: '',
    columns: [RATE, FAIRNESS, WAIT, BYPASS, COMMANDS, MESSAGES, CLIENT],
  },
  latency: {
    heading: 'the mutex of 4 processes of 8 tasks over a network',
    at: 'ms round trip',
    columns: [RATE, FAIRNESS, WAIT, BYPASS, COMMANDS],
  },
};

export function report(results: Results): string {
  const { cpu, processors, node } = results.environment;
  const { before, after } = results.load;
  const machine = `${cpu}, ${processors} processors, Node ${node}, ${results.servers.join(', ')}`;
  const parts = each(results.runs, 'part').flatMap((part) => tablesOf(results, part));
  return [
    `${machine}\nload of the machine (average of a minute): ${before.toFixed(1)} before, ${after.toFixed(1)} after`,
    ...parts,
    ...targetTable('to reach', targets(results), ratio),
  ].join('\n\n');
}

function tablesOf(results: Results, part: Part): string[] {
  const { heading } = PARTS[part];
  const ofPart = results.runs.filter((run) => run.part === part);
  return each(ofPart, 'server').map((server) => {
    const runs = ofPart.filter((run) => run.server === server);
    return `${heading}; ${server}\n${tableOf(results, part, runs)}`;
  });
}

function tableOf(results: Results, part: Part, runs: readonly Run[]): string {
  const { at, columns } = PARTS[part];
  const table = makeTable(['row', ...(at === '' ? [] : [at]), ...columns.map(({ heading }) => heading), 'rounds']);
  for (const number of each(runs, 'at')) {
    const some = runs.filter((run) => run.at === number);
    for (const row of each(some, 'row')) {
      const where = some.find((run) => run.row === row) as Run;
      const cells = columns.map(({ figure, shown, of }) => {
        const { median, min, max } = spreadOf(results, where, figure);
        if (Number.isNaN(median)) return '';
        if (of === 'most') return shown(max);
        return of === 'spread' ? `${shown(median)} (${shown(min)}–${shown(max)})` : shown(median);
      });
      const rounds = some.filter((run) => run.row === row).length;
      table.push([row, ...(at === '' ? [] : [number]), ...cells, rounds]);
    }
  }
  return table.toString();
}
