/** The registry of cases. They run one after the other, in the runtime that loads this file. */
import { sleep } from './check.js';
import type { PairRound } from './pair.js';
import { Team, type WorkerKind } from './team.js';

export interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly error?: string;
  /** A fact about the runtime that the case has found out. */
  readonly note?: string;
}

export interface Context {
  readonly team: Team;
  /** Adds a difference between runtimes to the report. */
  note(text: string): void;
}

type Run = (context: Context) => Promise<void>;

const cases: { readonly name: string; readonly run: Run }[] = [];

export function test(name: string, run: Run): void {
  cases.push({ name, run });
}

const DEADLINE = 60_000;

export interface Choice {
  readonly workers: WorkerKind;
  /** Only cases run whose names contain this text. */
  readonly only: string;
  /** A feature that is taken out of the runtime before the library is loaded. */
  readonly without: string;
  /** If not 0, no case runs. Instead, the uncontended pair (pair.ts) is measured in this number of rounds. */
  readonly pair: number;
}

export async function runCases(choice: Choice, tell: (result: Result) => void): Promise<void> {
  const team = new Team(choice.workers, choice.without);
  for (const { name, run } of cases) {
    if (!name.includes(choice.only)) continue;
    const begun = Date.now();
    let error: string | undefined;
    let said: string | undefined;
    const context: Context = {
      team,
      note(text) {
        said = text;
      },
    };
    try {
      const late = sleep(DEADLINE).then(() => {
        throw new Error(`not done after ${DEADLINE} ms`);
      });
      await Promise.race([run(context), late]);
    } catch (thrown) {
      const { name: kind, message } = thrown as Error;
      error = `${kind}: ${message}`;
    }
    team.endOfCase();
    tell({
      name,
      ok: error === undefined,
      ms: Date.now() - begun,
      ...(error === undefined ? {} : { error }),
      ...(said === undefined ? {} : { note: said }),
    });
  }
  team.end();
}

/** Measures in a worker, since a browser's main thread may not block. */
export async function runPair({ workers, pair, without }: Choice): Promise<PairRound[]> {
  const team = new Team(workers, without);
  const rounds = await team.stranger().call<PairRound[]>('pair', pair);
  team.end();
  return rounds;
}
