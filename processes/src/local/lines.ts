/**
 * What a member and the broker send each other: lines of JSON.
 *
 *     member --- [cookie, member] -------------> broker       the first line
 *            <-- ["ready"] --------------------
 *            --- [id, arguments] ------------->              a call of the twin
 *            <-- [id, reply] ------------------
 *            <-- [id, null, why] --------------              the call is refused (grammar.ts)
 *            --- [id] ------------------------> <-- [id]     a ping
 *            <-- [0, sid, text] ---------------              a message to a session
 *     broker --- [generation] ----------------> member       the only line of a connection to a member's own socket
 */

export type Line = readonly unknown[];

export const lineOf = (...values: Line): string => `${JSON.stringify(values)}\n`;

/** Cuts what comes from a socket into lines. */
export class Lines {
  #parts: string[] = [];

  /** Throws if a line is no list. */
  push(text: string): Line[] {
    const end = text.lastIndexOf('\n');
    if (end < 0) {
      this.#parts.push(text);
      return [];
    }
    const whole = this.#parts.join('') + text.slice(0, end);
    this.#parts = [text.slice(end + 1)];
    return whole.split('\n').map((line) => {
      const value: unknown = JSON.parse(line);
      if (!Array.isArray(value)) throw new TypeError('a line is no list');
      return value;
    });
  }
}
