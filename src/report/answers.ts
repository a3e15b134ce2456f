/**
 * How a process in report mode answers those who ask it (cli.ts), at its socket (socket.ts).
 *
 *     cli.ts                        reporter
 *     connects
 *     'json stack', end of line ──► looks at all arenas
 *                               ◄── the report, END, and the end of the connection
 *
 * A question is a line of at most two words: `text` or `json`, and `stack` for the stack of the main thread besides.
 * Nothing else is read, and a question changes nothing in the process.
 */
import { createServer, type Socket } from 'node:net';
import { mainStack } from './main-stack.js';
import { type ArenaReport, formatReport } from './report.js';
import { END, listen } from './socket.js';
import { stackText, type ThreadStack } from './stacks.js';

/** The answer to a question with `json`. */
export interface Answer {
  readonly pid: number;
  /** A report of each arena of the process, and where in the code threads have blocked for more than a second. */
  readonly arenas: readonly (ArenaReport & { readonly stacks: readonly ThreadStack[] })[];
  /** The stack of the main thread, the innermost call first, if it was asked for. */
  readonly mainStack?: readonly string[];
}

/** The longest question is `text stack`. */
const QUESTION = /^(text|json)( stack)?\n$/;
const LONGEST = 16;
/** Who connects and asks nothing is sent away after so many milliseconds. */
const PATIENCE = 5000;

/** Returns an answer in words. */
function textOf({ pid, arenas, mainStack }: Answer): string {
  const parts = arenas.map((report, i) => {
    const which = arenas.length > 1 ? `Arena ${i + 1} of ${arenas.length}: ` : '';
    return [which + formatReport(report), ...report.stacks.map(stackText)].join('\n');
  });
  if (parts.length === 0) parts.push(`No thread of the process ${pid} is attached to an arena.`);
  if (mainStack) parts.push(`The stack of the main thread (threadId 0):\n    ${mainStack.join('\n    ')}`);
  return `${parts.join('\n\n')}\n`;
}

async function answer(socket: Socket, question: string, reports: () => Answer['arenas']): Promise<void> {
  const [, form, withStack] = QUESTION.exec(question) ?? [];
  if (form === undefined) {
    socket.destroy();
    return;
  }
  const answer: Answer = {
    pid: process.pid,
    arenas: reports(),
    ...(withStack ? { mainStack: await mainStack() } : {}),
  };
  socket.end((form === 'json' ? `${JSON.stringify(answer)}\n` : textOf(answer)) + END);
}

/**
 * Answers questions to this process, as long as the process runs.
 * @throws {Error} if there is no safe place to listen.
 */
export function answerQuestions(reports: () => Answer['arenas']): void {
  const server = createServer((socket) => {
    let question = '';
    socket.setTimeout(PATIENCE, () => socket.destroy());
    socket.setEncoding('latin1');
    socket.on('error', () => {});
    socket.on('data', (text) => {
      question += text;
      if (question.length > LONGEST) socket.destroy();
      else if (question.endsWith('\n')) answer(socket, question, reports).catch(() => socket.destroy());
    });
  });
  server.on('error', () => {});
  listen(server);
}
