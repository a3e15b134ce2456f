/** What the errors of PostgreSQL and of its client libraries mean for a call. */
import { SpaceError } from '../errors.js';
import { asError } from './link.js';

/**
 * What is to be done after an error. lost: the connection is of no use any more, and nobody knows whether the statement
 * was done. again: the statement has done nothing, and may be run again; silently: without messages. refused: the
 * server refuses the statement, and has done nothing.
 */
export interface Trouble {
  readonly is: 'lost' | 'again' | 'silently' | 'refused';
  readonly error: Error;
}

/** What an error of the server has, in both client libraries. */
interface ServerError {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  /** Which function of the server has raised it. */
  readonly routine?: string;
  /** What called what, if it comes from within a function. */
  readonly where?: string;
}

const isServerError = (error: unknown): error is ServerError => {
  const { severity, code } = (error ?? {}) as Partial<ServerError>;
  return typeof severity === 'string' && /^[0-9A-Z]{5}$/.test(`${code}`);
};

const SCHEMA =
  'the database has no tables and functions of this version of taketurns-processes: run `npx taketurns-processes sql` ' +
  'and give its output to psql, or give Space.connect { createSchema: true }';

/** Who lacks a right, and what to do. */
function rightsIn({ message, routine, where }: ServerError): string {
  const lacks = `lacks a right (${message})`;
  if (where) {
    return (
      `the owner of the functions in the schema taketurns ${lacks}: the same role must own the tables there, and triggers ` +
      'and policies on them must leave it all rights'
    );
  }
  const rights =
    routine === 'CheckMyDatabase'
      ? 'the owner of the database must run, for this role, GRANT CONNECT ON DATABASE "database" TO "role"'
      : 'a role with rights on the schema must run, for the role of this process, GRANT USAGE ON SCHEMA taketurns TO ' +
        '"role"; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA taketurns TO "role"';
  return `the role of this process ${lacks}: ${rights}`;
}

/** What an error means. The codes are in appendix A of the manual of PostgreSQL. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof SpaceError) return { is: 'refused', error };
  // The connection has ended, or the client library cannot open it.
  if (!isServerError(error)) return { is: 'lost', error: asError(error) };
  const { code, message } = error;
  const kind = code.slice(0, 2);
  const lost = (words: string): Trouble => ({ is: 'lost', error: new Error(words, { cause: error }) });
  // The words in front are those of session/server-error.ts for what passes by itself.
  if (code === '25006') return lost(`READONLY ${message}`);
  if (code === '57P03') return lost(`LOADING ${message}`);
  if (code === '53300') return lost(`max number of clients: ${message}`);
  if (kind === '08' || code.startsWith('57P')) return lost(message);
  // Serialisation, deadlock, a lock that was not available, a cancelled statement.
  if (/^(40001|40P01|55P03|57014)$/.test(code)) return { is: 'again', error: asError(error) };
  // The server tells it in its own language.
  if (code === '54000' && /NOTIFY/.test(message)) return { is: 'silently', error: asError(error) };
  // Out of memory or of disk space, or beyond a limit of the server.
  if (kind === '53' || kind === '54') return refused('OOM', message, error);
  if (/^(42883|3F000|42P01)$/.test(code) && /taketurns/.test(message))
    return refused('SCHEMA', `${SCHEMA} (${message})`, error);
  if (code === '42501') return refused('NOPERM', rightsIn(error), error);
  if (kind === '28') return refused('WRONGPASS', message, error);
  return refused(code, message, error);
}

const refused = (code: string, words: string, cause: unknown): Trouble => ({
  is: 'refused',
  error: new SpaceError(code, words, cause),
});

/** What comes of an error in making the tables and functions. What passes by itself stays: the next connection makes them. */
export function notMade(error: unknown): Error {
  if (troubleOf(error).is !== 'refused') return asError(error);
  const { code, message } = error as ServerError;
  if (code !== '42501') return new SpaceError('SCHEMA', `createSchema: ${message}`, error);
  const words =
    `createSchema: this role may not make the schema taketurns (${message}): run \`npx taketurns-processes sql\` and ` +
    'give its output to psql as a role that may';
  return new SpaceError('NOPERM', words, error);
}
