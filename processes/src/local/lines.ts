/**
 * What a member and the broker send each other: lines of JSON.
 *
 *     member --- [cookie, member] -------------> broker       the first line
 *            <-- ["ready"] --------------------
 *            --- [id, arguments] ------------->              a call of the script
 *            <-- [id, reply] ------------------
 *            <-- [id, null, why] --------------              the call is refused (grammar.ts)
 *            --- [id] ------------------------> <-- [id]     a ping
 *            <-- [0, sid, text] ---------------              a message to a session
 *     broker --- [generation] ----------------> member       the only line of a connection to a member's own socket
 */
import type { Socket } from 'node:net';

export type Line = readonly unknown[];

export const lineOf = (...values: Line): string => `${JSON.stringify(values)}\n`;

/** Calls a function with the lines that come from a socket. What is no line of JSON ends the socket. */
export function onLines(socket: Socket, heard: (lines: Line[]) => void): void {
  let parts: string[] = [];
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (data) => {
    const text = `${data}`;
    const end = text.lastIndexOf('\n');
    if (end < 0) {
      parts.push(text);
      return;
    }
    const whole = parts.join('') + text.slice(0, end);
    parts = [text.slice(end + 1)];
    let lines: unknown[] = [0];
    try {
      // No text of JSON has a line break.
      lines = JSON.parse(`[${whole.replaceAll('\n', ',')}]`);
    } catch {}
    if (lines[0] && lines.every(Array.isArray)) heard(lines as Line[]);
    else socket.destroy();
  });
}
