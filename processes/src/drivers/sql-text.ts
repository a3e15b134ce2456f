/** Texts of statements for PostgreSQL: literals, calls of the function, and their replies. */

/** The function that a call runs. Its name has the version of the tables and functions. */
export const TURN_FUNCTION = 'turn_1';

/** A call of the function, as the head of ../postgres/schema.sql says. */
export interface TurnCall {
  readonly space: string;
  readonly partition: number;
  readonly args: readonly string[];
}

/** A text in a statement, whatever the server's settings say of backslashes. */
export const literal = (text: string): string => `e'${text.replace(/[\\']/g, '$&$&')}'`;

export const callOf = ({ space, partition, args }: TurnCall, durable: boolean, tells: boolean): string => {
  const array = `{${args.map((each) => `"${escaped(each).replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
  return `taketurns.${TURN_FUNCTION}(${literal(space)}, ${partition}, ${literal(array)}, ${durable}, ${tells})`;
};

export const replyIn = (json: string): unknown =>
  JSON.parse(json, (_, value) => (typeof value === 'string' ? unescaped(value) : value));

/** No text of PostgreSQL has a NUL. So U+0001 n stands for NUL, and U+0001 s for U+0001. */
export const escaped = (text: string): string => text.replaceAll('\x01', '\x01s').replaceAll('\0', '\x01n');

export const unescaped = (text: string): string => text.replaceAll('\x01n', '\0').replaceAll('\x01s', '\x01');
