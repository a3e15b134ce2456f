/**
 * Passes signals on to the command. The command is in the process group of this program. So a signal to the whole
 * group, such as Ctrl-C of a terminal or what timeout(1) sends, reaches the command by itself, and must not reach it
 * twice. A signal to this program alone must go on. Nothing tells a program of Node which one it has got.
 *
 * So there is a witness, a small shell in the group. It writes a line for each signal that it gets, and for each
 * question that this program writes to it.
 *
 *     the group gets SIGINT      --> this program asks; the witness writes "2", "? 1"  --> the command has it
 *     only this program gets it  --> this program asks; the witness writes "? 1"       --> SIGINT goes on
 *
 * Why that is right: a signal to the group is pending for each of its processes before one of them can act on it. So
 * the witness has it pending when it reads a question that this program asks afterwards, and the kernel hands over
 * what is pending before the read returns. The answer does not depend on time, nor on the order in which this program
 * hears of two signals: it has several threads, the kernel gives each signal to any of them, and one of them may be
 * slow. What the witness has told of a signal is kept until this program hears of that signal too.
 *
 * What is left: a process that gets a signal twice before it has acted on it gets it once. If the group gets the same
 * signal twice at once, the witness may tell of one and this program hear of two: then the command gets one more. Or
 * the witness tells of two and this program hears of one: the second is forgotten after a second (`KEPT`), and a signal
 * to this program alone within that second does not go on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';

/** The signals that go on to the command. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
type Name = (typeof SIGNALS)[number];

/** How often a question is asked again, in milliseconds: a signal may interrupt the shell while it reads a question. */
const AGAIN = 20;
/** How long this program may take, in milliseconds, until it hears of a signal that the witness has told of. */
const KEPT = 1000;

const numberOf = (name: NodeJS.Signals): number => constants.signals[name];

/**
 * `read` fails when a signal interrupts it, and at the end of the input, which is the end of this program. In the first
 * case only, a trap has run.
 */
const PROGRAM = `
${SIGNALS.map((name) => `trap 'trapped=1; echo ${numberOf(name)}' ${name.slice('SIG'.length)}`).join('\n')}
while :; do
  trapped=
  if read -r question; then echo "? $question"; else [ "$trapped" ] || exit 0; fi
done`;

interface Question {
  readonly number: number;
  readonly resolve: () => void;
}

class Witness {
  /** `undefined` if there is no shell, as in some containers and on Windows. Then every signal goes on. */
  #shell: ChildProcess | undefined;
  #hasEnded = false;
  #asked = 0;
  readonly #questions = new Set<Question>();
  /** For each signal, when the witness told of it: what this program has not heard of yet. */
  readonly #told = new Map<number, number[]>(SIGNALS.map((name) => [numberOf(name), []]));

  constructor() {
    this.#start();
  }

  #start(): void {
    const shell = spawn('sh', ['-c', PROGRAM], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#shell = shell;
    shell.on('error', () => this.#goesOnWithout());
    // After the last line of its output.
    shell.on('close', (_status, signal) => {
      if (shell !== this.#shell) return;
      if (signal === null || this.#hasEnded) {
        this.#goesOnWithout();
        return;
      }
      // The signal came before the shell had set its traps.
      this.#told.get(numberOf(signal))?.push(performance.now());
      this.#start();
      this.#ask();
    });
    shell.stdin?.on('error', () => {});
    if (shell.stdout) createInterface({ input: shell.stdout }).on('line', (line) => this.#hears(line));
  }

  #goesOnWithout(): void {
    this.#shell = undefined;
    this.#answers(this.#asked);
  }

  #hears(line: string): void {
    const [word = '', question] = line.split(' ');
    // An interrupted question is a smaller number, or none.
    if (question !== undefined) this.#answers(Number(question));
    else this.#told.get(Number(word))?.push(performance.now());
  }

  #answers(number: number): void {
    for (const question of this.#questions) {
      if (question.number > number) continue;
      this.#questions.delete(question);
      question.resolve();
    }
  }

  #ask(): void {
    if (this.#questions.size > 0) this.#shell?.stdin?.write(`${this.#asked}\n`);
  }

  /** Resolves to whether the group has got the signal that this program has got. */
  async hasGot(name: Name): Promise<boolean> {
    if (this.#shell === undefined) return false;
    const answered = new Promise<void>((resolve) => {
      this.#questions.add({ number: ++this.#asked, resolve });
    });
    this.#ask();
    const asks = setInterval(() => this.#ask(), AGAIN);
    await answered;
    clearInterval(asks);
    const number = numberOf(name);
    const [told, ...others] = (this.#told.get(number) ?? []).filter((at) => performance.now() - at < KEPT);
    this.#told.set(number, others);
    return told !== undefined;
  }

  end(): void {
    this.#hasEnded = true;
    this.#shell?.stdin?.destroy();
  }
}

/**
 * Passes signals on from now on. Returns what ends that.
 * @param pass passes one on to the command.
 */
export function relay(pass: (name: Name) => void): () => void {
  const witness = new Witness();
  const listeners = SIGNALS.map((name) => {
    const listener = async (): Promise<void> => {
      if (!(await witness.hasGot(name))) pass(name);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return () => {
    for (const remove of listeners) remove();
    witness.end();
  };
}
