#!/usr/bin/env node
/** `npx taketurns-report PID` asks a process in report mode (report-mode.ts) who waits for whom, and prints the answer. */
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { addressOf, END, isRunning, listening } from './socket.js';

const HELP = `npx taketurns-report PID [options]

  PID        the process: one of this user, started with node --import taketurns/report.
             Without it, the command lists such processes
  --json     as JSON, for tools: { pid, arenas: [...], mainStack? }
  --stack    also the whole stack of the main thread, which stops for a moment (Node alone)

The process answers also while all its threads block. A question changes nothing in the process.
Exit code: 0 answered, 1 there is no such process, it cannot be asked or ends meanwhile, 2 an argument is wrong.`;

/** The milliseconds after which a process that does not answer counts as one that cannot. */
const PATIENCE = 10_000;

function end(code: number, message: string): never {
  console.error(message);
  process.exit(code);
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        stack: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return end(2, `${(error as Error).message}\n\n${HELP}`);
  }
}

/** Runs a function that may find that the folder of sockets is not safe. */
function safely<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    return end(1, `no process can be asked: ${(error as Error).message}`);
  }
}

const notAsked = (pid: number): string =>
  isRunning(pid)
    ? `process ${pid} cannot be asked: it was not started with node --import taketurns/report, or it belongs to another user`
    : `there is no process ${pid}`;

function ask(pid: number, question: string): void {
  const address = safely(() => addressOf(pid));
  if (address === undefined) end(1, notAsked(pid));
  let text = '';
  const socket = connect(address, () => socket.write(`${question}\n`));
  socket.setEncoding('utf8');
  socket.setTimeout(PATIENCE, () => end(1, `process ${pid} has not answered for ${PATIENCE / 1000} seconds`));
  // A process that was killed leaves its socket behind.
  socket.on('error', () => end(1, notAsked(pid)));
  socket.on('data', (part) => {
    text += part;
  });
  socket.on('end', () => {
    // The end of the process ends the connection, too. A part of an answer would look like the whole of it.
    if (!text.endsWith(END)) end(1, `process ${pid} has ended meanwhile, or has another version of taketurns`);
    process.stdout.write(text.slice(0, -END.length));
  });
}

const { values, positionals } = parsed();
const [given, more] = positionals;
if (values.help) console.log(HELP);
else if (more !== undefined) end(2, `one PID at a time, not also ${JSON.stringify(more)}\n\n${HELP}`);
else if (given === undefined) {
  const pids = safely(listening).filter(isRunning);
  if (pids.length === 0) end(1, `no process of this user is in report mode\n\n${HELP}`);
  console.log(`in report mode: ${pids.join(', ')}`);
} else {
  if (!/^[1-9]\d{0,9}$/.test(given)) end(2, `PID must be the number of a process, not ${JSON.stringify(given)}`);
  ask(Number(given), `${values.json ? 'json' : 'text'}${values.stack ? ' stack' : ''}`);
}
