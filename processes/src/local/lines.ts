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
import { clock, type Timer } from '../runtime/clock.js';

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

/** For how long lines that are not urgent may stay behind, in milliseconds. */
const STAYS = 50;

/**
 * Sends lines to a member, in their order. Each write wakes the process of the member. So lines that are not urgent
 * stay behind until an urgent line comes, and go with it.
 */
export class Writer {
  readonly #socket: Socket;
  #behind = '';
  #timer: Timer;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(lines: string): void {
    const all = this.#behind + lines;
    this.#behind = '';
    if (all !== '') this.#socket.write(all);
  }

  writeLater(lines: string): void {
    this.#behind += lines;
    const late = (): void => {
      this.#timer = undefined;
      this.write('');
    };
    this.#timer ??= clock.after(STAYS, late, false);
  }
}
