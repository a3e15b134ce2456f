/** The words of a command line: which commands and options there are, and what a command gets. */
import { parseArgs } from 'node:util';

/** The command line is wrong. */
export class UsageError extends Error {}

interface Option {
  /** What stands for the value in the help; an option without it is a switch. */
  readonly value?: string;
  readonly text: string;
}

export interface Command {
  /** What stands behind the options in the help. */
  readonly rest: string;
  readonly text: string;
  readonly options: Readonly<Record<string, Option>>;
}

/** The options of all commands. */
const SPACE = {
  space: { value: 'NAME', text: 'the name of the space; "default" by default' },
  directory: { value: 'PATH', text: 'the folder of the spaces, instead of the usual one' },
  url: {
    value: 'URL',
    text: 'a server instead of this machine: redis://localhost (Redis or Valkey), or postgres://localhost/shop',
  },
  lease: { value: 'SECONDS', text: 'with --url: the lease; by default that of the space, and 10 for a new one' },
  partitions: { value: 'N', text: 'with --url: the partitions; by default those of the space, and 1 for a new one' },
} as const;

const JSON_LINES = { json: { text: 'of show and objects: a line of JSON for each object' } } as const;

export const COMMANDS = {
  run: {
    rest: '--name NAME [options] -- COMMAND [ARGUMENT...]',
    text: 'Runs the command when its turn comes, and exits with its status.',
    options: {
      name: { value: 'NAME', text: 'what the command needs: a mutex, or a semaphore of this name' },
      permits: { value: 'N', text: 'how many commands may run at once; 1 by default. Makes a semaphore' },
      timeout: { value: 'SECONDS', text: 'how long to wait at most; 75 is the exit status then' },
      try: { text: 'do not wait: if it is not free now, exit with the status 75' },
      label: { value: 'TEXT', text: 'names the process in `show`; the command and the process id by default' },
      ...SPACE,
    },
  },
  show: {
    rest: '[options] [NAME...]',
    text: 'Shows who holds and who waits: again and again on a terminal, else once.',
    options: { once: { text: 'show it once on a terminal too' }, ...JSON_LINES, ...SPACE },
  },
  objects: {
    rest: '[options]',
    text: 'Lists the objects of the space, one a line.',
    options: { ...JSON_LINES, ...SPACE },
  },
  revoke: {
    rest: '[options] NAME TOKEN',
    text: 'Takes away what the holder with this token (see `show`) holds.',
    options: SPACE,
  },
  sql: {
    rest: '',
    text: 'Prints the tables and functions for PostgreSQL, for psql.',
    options: {},
  },
} as const satisfies Record<string, Command>;

export type Name = keyof typeof COMMANDS;

export interface Given {
  readonly command: Name;
  /** The options with a value. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The switches. */
  readonly switches: ReadonlySet<string>;
  /** The words that are no options. */
  readonly words: readonly string[];
  /** The words behind `--`, or undefined if there is none. */
  readonly behind: readonly string[] | undefined;
}

const listed = (names: readonly string[]): string => names.map((name) => `--${name}`).join(', ');

/**
 * Reads a command line without the name of the program. Returns undefined if it asks for help.
 * @throws {UsageError} for what the command does not know, and for an option that is given twice or without its value.
 */
export function read(line: readonly string[]): Given | undefined {
  const [first = '', ...others] = line;
  if (first === '' || first === 'help' || first === '--help' || first === '-h') return undefined;
  if (!Object.hasOwn(COMMANDS, first)) {
    throw new UsageError(`there is no command ${JSON.stringify(first)}; there are ${Object.keys(COMMANDS).join(', ')}`);
  }
  const command = first as Name;
  const at = others.indexOf('--');
  const [own, behind] = at < 0 ? [others, undefined] : [others.slice(0, at), others.slice(at + 1)];
  const known: Readonly<Record<string, Option>> = COMMANDS[command].options;
  const types = Object.entries(known).map(
    ([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }] as const,
  );
  const { tokens } = parseArgs({ args: own, options: Object.fromEntries(types), strict: false, tokens: true });
  const values: Record<string, string> = {};
  const switches = new Set<string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (name === 'help' || name === 'h') return undefined;
    const option = rawName.startsWith('--') && Object.hasOwn(known, name) ? known[name] : undefined;
    if (!option)
      throw new UsageError(
        `${command}: there is no option ${rawName}; there are ${listed(Object.keys(known)) || 'none'}`,
      );
    if (name in values || switches.has(name)) throw new UsageError(`${command}: ${rawName} is given twice`);
    if (option.value === undefined) {
      if (value !== undefined)
        throw new UsageError(`${command}: ${rawName} has no value, got ${JSON.stringify(value)}`);
      switches.add(name);
    } else {
      if (value === undefined) throw new UsageError(`${command}: ${rawName} needs a value: ${rawName} ${option.value}`);
      values[name] = value;
    }
  }
  return { command, values, switches, words, behind };
}

/** A number that an option gives, or undefined if it is not given. */
export function numberOf(
  { command, values }: Given,
  name: string,
  what: string,
  is: (value: number) => boolean,
): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && is(value)) return value;
  throw new UsageError(`${command}: --${name} must be ${what}, got ${JSON.stringify(text)}`);
}

/** What `--help` prints. */
export function help(): string {
  const lines = [
    'taketurns-processes: fair locks for commands, in the order in which they ask.',
    '',
    ...Object.entries(COMMANDS).flatMap(([name, { rest, text }]) => [`  ${name} ${rest}`.trimEnd(), `      ${text}`]),
  ];
  const all: Record<string, Option> = { ...COMMANDS.run.options, ...COMMANDS.show.options };
  lines.push('', 'Options:');
  for (const [name, { value, text }] of Object.entries(all)) {
    lines.push(`  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(20)}${text}`);
  }
  lines.push(
    '',
    'Exit status of run: that of the command, or 128 and the number of the signal that has ended it; 75 if it was not',
    'free (--try) or not in time (--timeout); 70 if the turn was taken away or lost, and then all processes of the',
    'command are ended: by SIGTERM, and a moment later by SIGKILL; 126 or 127 if the command cannot be',
    'run or is not found. Of all commands: 64 if the command line is wrong; 69 if the space cannot be used; 74 if the',
    'output cannot be written; 141 if its reader has gone; 1 if there is no such holder. The command finds the fencing',
    'token of its turn in TAKETURNS_TOKEN.',
  );
  return lines.join('\n');
}
