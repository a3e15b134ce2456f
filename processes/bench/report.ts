/** Formats the tables of the benchmark. */
import { fixed, makeTable, rate, ratio } from '@taketurns/bench/dist/report/tables.js';
import { met, type Target } from '@taketurns/bench/dist/report/targets.js';
import { each, type Part, type Results, type Run, spreadOf } from './results.js';
import { targets } from './targets.js';

interface Column {
  readonly figure: string;
  readonly heading: string;
  readonly shown: (value: number) => string;
  /** With `spread`, least and most stand beside the median. With `most`, the most of all rounds replaces the median. */
  readonly of?: 'spread' | 'most';
  /** A page leaves the column out. */
  readonly terminal?: true;
}

const RATE: Column = { figure: 'rate', heading: 'hand-overs\na second', shown: rate, of: 'spread' };
const FAIRNESS: Column = { figure: 'fairness', heading: 'fewest\n/ most', shown: (value) => value.toFixed(2) };
const WAIT: Column = { figure: 'longestWaitMs', heading: 'longest\nwait, ms', shown: fixed, of: 'most' };
const BYPASS: Column = { figure: 'bypass', heading: 'largest\nbypass', shown: fixed, of: 'most' };
const COMMANDS: Column = { figure: 'commands', heading: 'commands a\nhand-over', shown: (value) => value.toFixed(3) };
const MESSAGES: Column = { figure: 'messages', heading: 'messages a\nhand-over', shown: (value) => value.toFixed(3) };
const BYTES: Column = { figure: 'bytesOut', heading: 'bytes\nout', shown: fixed };
const SERVER: Column = { figure: 'serverMicros', heading: 'server\nµs', shown: fixed, terminal: true };
const CLIENT: Column = { figure: 'clientMicros', heading: 'clients\nµs', shown: fixed, terminal: true };
const SCRIPT: Column = { figure: 'scriptMicros', heading: 'µs a\ncall', shown: fixed, terminal: true };

const PARTS: Readonly<Record<Part, { heading: string; at: string; columns: readonly Column[] }>> = {
  'hand-over': {
    heading: 'hand-overs, all loop without a pause',
    at: 'clients',
    columns: [RATE, FAIRNESS, WAIT, BYPASS, COMMANDS, MESSAGES, SERVER, CLIENT, SCRIPT],
  },
  waiters: {
    heading: 'hand-overs as waiters grow, one round',
    at: 'clients',
    columns: [COMMANDS, MESSAGES, BYTES, SERVER, RATE, FAIRNESS, BYPASS],
  },
  pairs: {
    heading: 'uncontended pair, one client',
    at: '',
    columns: [
      { figure: 'pair', heading: 'µs a pair', shown: fixed, of: 'spread' },
      { figure: 'script', heading: 'µs an operation\nin the script', shown: fixed, of: 'spread', terminal: true },
      { figure: 'calls', heading: 'calls of\nthe script', shown: fixed, terminal: true },
    ],
  },
  mutex: {
    heading: 'a lock of 4 processes of 8 tasks',
    at: '',
    columns: [RATE, FAIRNESS, WAIT, BYPASS, COMMANDS, MESSAGES, CLIENT],
  },
  latency: {
    heading: 'the mutex of 4 processes of 8 tasks over a network, one round',
    at: 'ms round trip',
    columns: [RATE, FAIRNESS, WAIT, BYPASS, COMMANDS],
  },
  rates: {
    heading: 'a take of a rate',
    at: 'dates ahead',
    columns: [
      { figure: 'script', heading: 'µs in\nthe script', shown: fixed, of: 'spread' },
      { figure: 'bytes', heading: 'bytes of\nthe rate', shown: fixed },
    ],
  },
};

/** What a page shows. A terminal shows all parts. */
const ON_PAGE: readonly Part[] = ['hand-over', 'pairs', 'mutex'];

/** A table, before it is formatted for a terminal or a page. */
interface Made {
  readonly heading: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Formats the report for a terminal. */
export function report(results: Results): string {
  const drawn = tablesOf(results, true).map(({ heading, head, rows }) => {
    const table = makeTable([...head]);
    for (const row of rows) table.push([...row]);
    return `${heading}\n${table.toString()}`;
  });
  return [conditions(results), ...drawn].join('\n\n');
}

/** Formats the report for a page. */
export function markdown(results: Results): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const drawn = tablesOf(results, false).map(({ heading, head, rows }) => {
    const columns = head.map((cell) => cell.replace('\n', ' '));
    const rule = head.map((_, i) => (i === 0 ? '---' : '---:'));
    return `### ${heading}\n\n${[columns, rule, ...rows].map(line).join('\n')}`;
  });
  return [`${conditions(results).replace('\n', '. ')}.`, ...drawn].join('\n\n');
}

function conditions({ environment, servers, load, options }: Results): string {
  const { cpu, processors, node, date } = environment;
  const machine = `${cpu}, ${processors} processors, Node ${node}, ${servers.join(', ')}, ${String(date).slice(0, 10)}`;
  const { rounds, seconds, warmUp } = options;
  const length = `${rounds === 1 ? '1 round' : `${rounds} rounds`} of ${seconds} s after ${warmUp} s of the same`;
  const before = load.before.toFixed(1);
  return `${machine}\n${length}; load of the machine, average of a minute: ${before} before, ${load.after.toFixed(1)} after`;
}

/** The tables of the first server. Those for a terminal have all parts and columns, and the targets. */
function tablesOf(results: Results, terminal: boolean): Made[] {
  const [server] = results.servers;
  const parts = each(results.runs, 'part')
    .filter((part) => terminal || ON_PAGE.includes(part))
    .map((part) => {
      const runs = results.runs.filter((run) => run.part === part && run.server === server);
      return tableOf(results, part, `${PARTS[part].heading}; ${server}`, runs, terminal);
    });
  const toReach = targetsOf(results);
  return terminal && toReach.rows.length > 0 ? [toReach, ...parts] : parts;
}

function targetsOf(results: Results): Made {
  const shown = (target: Target, server: string): string => {
    const value = target.found.get(server) ?? Number.NaN;
    return Number.isNaN(value) ? '' : `${ratio(value)} ${met(target, value) ? 'yes' : 'no'}`;
  };
  const rows = targets(results)
    .map((target) => [
      target.what,
      `${target.bound} ${target.wanted}`,
      ...results.servers.map((server) => shown(target, server)),
    ])
    .filter((row) => row.slice(2).some((cell) => cell !== ''));
  return { heading: 'to reach, medians of the rounds of this run', head: ['to reach', '', ...results.servers], rows };
}

function tableOf(results: Results, part: Part, heading: string, runs: readonly Run[], terminal: boolean): Made {
  const { at } = PARTS[part];
  const columns = PARTS[part].columns.filter((column) => terminal || !column.terminal);
  const rows = each(runs, 'at').flatMap((number) => {
    const some = runs.filter((run) => run.at === number);
    return each(some, 'row').map((row) => {
      const where = some.find((run) => run.row === row) as Run;
      const cells = columns.map(({ figure, shown, of }) => {
        const { median, min, max } = spreadOf(results, where, figure);
        if (Number.isNaN(median)) return '';
        if (of === 'most') return shown(max);
        return of === 'spread' ? `${shown(median)} (${shown(min)}–${shown(max)})` : shown(median);
      });
      return [row, ...(at === '' ? [] : [String(number)]), ...cells];
    });
  });
  return { heading, head: ['row', ...(at === '' ? [] : [at]), ...columns.map((column) => column.heading)], rows };
}
