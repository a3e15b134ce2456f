/**
 * Passes signals on to the command. The command is in the process group of this program. So a signal to the whole
 * group, such as Ctrl-C of a terminal or what timeout(1) sends, reaches the command by itself, and must not reach it
 * twice. A signal to this program alone must go on. Nothing tells a program of Node which one it has got.
 *
 * So there is a witness, a small shell in the group. Its exit status tells the first signal that it has got, and it is
 * asked by a signal of a larger number.
 *
 *     the group gets SIGINT      --> the witness ends with 2 ---> the command has it
 *     only this program gets it  --> it asks: the witness ends with 23 ---> SIGINT goes on to the command
 *
 * The answer does not depend on time: a shell acts on what it has got in the order of the numbers, and whoever hears of
 * a signal to the group asks after the witness has got that signal. But a witness can tell one signal only. If the
 * group gets two different ones at the same moment, one of them also goes on to the command, which then gets it twice.
 * And on macOS and the BSDs the numbers of `SIGUSR1` and `SIGUSR2` are larger than that of the question, so these two
 * may come twice there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

/** The signals that go on to the command. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;
type Name = (typeof SIGNALS)[number];

/**
 * Nobody else sends it. On Linux its number is larger than those of `SIGNALS`; on macOS and the BSDs those of `SIGUSR1`
 * and `SIGUSR2` are still larger.
 */
const QUESTION = 'SIGURG' as const;
/** How often the witness is asked, in milliseconds: it may not hear the question while it starts. */
const AGAIN = 20;

const numberOf = (name: NodeJS.Signals): number => constants.signals[name];

/** The witness waits for the end of its input, which is the end of this program. */
const program = (): string =>
  [
    ...[...SIGNALS, QUESTION].map((name) => `trap 'exit ${numberOf(name)}' ${name.slice('SIG'.length)}`),
    'read -r end',
  ].join('\n');

class Witness {
  #process: ChildProcess | undefined;
  #ended: Promise<readonly [number | null, NodeJS.Signals | null]>;

  constructor() {
    const started = spawn('sh', ['-c', program()], { stdio: ['pipe', 'ignore', 'ignore'] });
    this.#process = started;
    this.#ended = new Promise((resolve) => {
      started.on('exit', (...how) => resolve(how));
      // There is no shell, as in some containers and on Windows. Then every signal goes on, also one to the group.
      started.on('error', () => {
        this.#process = undefined;
        resolve([null, null]);
      });
    });
    started.stdin?.on('error', () => {});
  }

  /** Resolves to whether the group has got the signal that this program has got. The witness ends. */
  async hasGot(name: Name): Promise<boolean> {
    const ask = (): unknown => this.#process?.kill(QUESTION);
    ask();
    const asks = setInterval(ask, AGAIN);
    const [status, signal] = await this.#ended;
    clearInterval(asks);
    // A signal that came before the shell has read its program ends the shell itself.
    return signal === name || status === numberOf(name);
  }

  end(): void {
    this.#process?.stdin?.destroy();
  }
}

/**
 * Passes signals on from now on. Returns what ends that.
 * @param pass passes one on to the command.
 */
export function relay(pass: (name: Name) => void): () => void {
  let witness = new Witness();
  const listeners = SIGNALS.map((name) => {
    const listener = async (): Promise<void> => {
      const asked = witness;
      const isOfGroup = await asked.hasGot(name);
      if (asked === witness) witness = new Witness();
      if (!isOfGroup) pass(name);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return () => {
    for (const remove of listeners) remove();
    witness.end();
  };
}
