/** Checks what the processes of a run of rates have written (rates-client.ts), line by line, in bounded memory. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { beginsEpoch, Dates, untold, Windows } from '../check/rate-checks.js';
import type { RatesPlan } from './rates-plan.js';
import { type Dated, type Other, recordIn } from './rates-record.js';

const US = 1000;
/** For so many microseconds the system may keep a process between its look at the clock and the end of its line. */
const DISORDER = 60e6;
/** A look at the clock that is longer ago than so many microseconds counts as the begin itself. */
const LONG_AGO = 1000;

/** Something that was done to the server, from and to, in microseconds. */
export interface Loss {
  readonly from: number;
  readonly to: number;
}

export interface Judgement {
  takes: number;
  permits: number;
  /** The most permits in a window that no loss excuses, and how many there are in windows that one does. */
  most: number;
  mostAfterLoss: number;
  longestGap: number;
  /** Begins whose process lost the processor after its look at the clock. */
  taken: number;
  /** How many pairs of dates were compared for the order, and begins with what they were told. */
  ordered: number;
  told: number;
  /** Permits of dates that passed, and of calls that were refused, given up or cancelled. */
  readonly others: Record<Other, number>;
  /** How many milliseconds earlier than it was told a call began, at most. */
  early: number;
  /** The longest slack that a process was told, in milliseconds: it grows where answers come too late again and again. */
  slack: number;
  /** From the first begin to the last, in milliseconds. */
  span: number;
  readonly faults: string[];
}

/** A date that a request was told, and when its call began, as far as the process knows. */
interface Entry extends Dated {
  readonly at: number;
}

/** Puts what comes almost in order into order: by `rank`, as soon as nothing can come any more that is before. */
class Sorter<T> {
  #all: T[] = [];
  #full = 20_000;
  #latest = 0;
  readonly #timeOf: (each: T) => number;
  readonly #compare: (a: T, b: T) => number;
  readonly #next: (each: T) => void;

  constructor(timeOf: (each: T) => number, compare: (a: T, b: T) => number, next: (each: T) => void) {
    this.#timeOf = timeOf;
    this.#compare = compare;
    this.#next = next;
  }

  add(each: T): void {
    this.#latest = Math.max(this.#latest, this.#timeOf(each));
    if (this.#all.push(each) >= this.#full) this.flush(this.#latest - DISORDER);
  }

  flush(until = Infinity): void {
    this.#all.sort(this.#compare);
    let ripe = 0;
    for (; ripe < this.#all.length && this.#timeOf(this.#all[ripe] as T) <= until; ripe++)
      this.#next(this.#all[ripe] as T);
    this.#all = this.#all.slice(ripe);
    this.#full = 2 * this.#all.length + 20_000;
  }
}

/** What is known of one rate. */
class RateJudge {
  readonly #plan: RatesPlan;
  readonly #judgement: Judgement;
  readonly #losses: readonly Loss[];
  readonly #mayLose: boolean;
  readonly #rests: number;
  readonly windows: Windows;
  readonly #dates = new Dates();
  #before: (Entry & { readonly part: number }) | undefined;
  readonly #byDate = new Sorter<Entry & { readonly part: number }>(
    ({ at }) => at,
    (a, b) => a.part - b.part || a.answer.epoch - b.answer.epoch || a.answer.given - b.answer.given,
    (each) => this.#order(each),
  );
  #latest = 0;

  constructor(plan: RatesPlan, judgement: Judgement, losses: readonly Loss[], mayLose: boolean, rests: number) {
    this.#plan = plan;
    this.#judgement = judgement;
    this.#losses = losses;
    this.#mayLose = mayLose;
    this.#rests = rests;
    this.windows = new Windows(plan.permits, plan.per * US);
  }

  #fault(text: string): void {
    if (this.#judgement.faults.length < 20) this.#judgement.faults.push(text);
  }

  /** Whether something was lost in this time. */
  #loses(from: number, to: number): boolean {
    return this.#losses.some((loss) => loss.from <= to && from <= loss.to);
  }

  add(record: Entry): void {
    const { permits, per } = this.#plan;
    const { at, rate, width, answer, sent, got } = record;
    const judgement = this.#judgement;
    if (!this.#loses(sent, got)) {
      const part = this.#losses.filter(({ to }) => to < sent).length;
      this.#byDate.add({ ...record, part });
    }
    judgement.slack = Math.max(judgement.slack, answer.slack / US);
    if (record.is !== 'begun') return;
    judgement.takes++;
    judgement.permits += width;
    if (at < this.#latest) {
      this.#fault(`a begin of ${rate} came more than a minute too late to be checked`);
      return;
    }
    this.#latest = at;
    const isExcused = this.#mayLose && this.#loses(at - per * US - this.#rests, at);
    const tooMany = this.windows.begin(at, width, isExcused);
    if (tooMany && (!isExcused || tooMany > 2 * permits))
      this.#fault(`${tooMany} permits of ${rate} begin in ${per} ms, at ${at}`);
    else judgement.mostAfterLoss = Math.max(judgement.mostAfterLoss, tooMany);
    if (record.isMoved) return;
    judgement.told++;
    const { early, late } = untold(answer, { sent: sent / US, got: got / US, at: at / US });
    judgement.early = Math.max(judgement.early, early);
    if (late > 0) this.#fault(`a call of ${rate} begins ${late.toFixed(3)} ms later than it was told, at ${at}`);
  }

  #order(record: Entry & { readonly part: number }): void {
    const before = this.#before;
    this.#before = record;
    const { answer, part, rate, width } = record;
    if (this.#rests === 0 && beginsEpoch(answer, before?.answer))
      this.#fault(`${rate} has begun a new epoch, though nothing was lost`);
    if (before?.part !== part || before.answer.epoch !== answer.epoch) this.#dates.begins();
    else this.#judgement.ordered++;
    const wrong = this.#dates.got(answer, width, this.#rests);
    if (wrong) this.#fault(`${rate}: ${wrong}; ${JSON.stringify([before, record])}`);
  }

  end(): void {
    this.#byDate.flush();
  }
}

/**
 * @param losses when the server may have lost data.
 * @param mayLose whether processes died, so that what they took may be lost with the server's data.
 * @param rests for how many milliseconds the server may give no dates, after a loss or a restart.
 */
export async function judgeRates(
  file: string,
  plan: RatesPlan,
  losses: readonly Loss[],
  mayLose: boolean,
  rests: number,
): Promise<Judgement> {
  const judgement: Judgement = {
    ...{ takes: 0, permits: 0, most: 0, mostAfterLoss: 0, longestGap: 0, taken: 0, ordered: 0, told: 0 },
    ...{ early: 0, slack: 0, span: 0 },
    ...{ others: { tooLate: 0, refused: 0, givenUp: 0, cancelled: 0 }, faults: [] },
  };
  const rates = new Map<string, RateJudge>();
  let [first, last] = [Infinity, 0];
  const byTime = new Sorter<Entry>(
    ({ at }) => at,
    (a, b) => a.at - b.at,
    (record) => {
      let rate = rates.get(record.rate);
      if (!rate) {
        rate = new RateJudge(plan, judgement, losses, mayLose, rests * US);
        rates.set(record.rate, rate);
      }
      rate.add(record);
      if (record.is !== 'begun') return;
      if (first < Infinity) judgement.longestGap = Math.max(judgement.longestGap, (record.at - last) / US);
      first = Math.min(first, record.at);
      last = record.at;
    },
  );
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const record = recordIn(line);
    if (!record) continue;
    if (record.is === 'wrong') judgement.faults.push(record.text);
    else if (record.is === 'begun' || record.is === 'unused') {
      const isTaken = record.look > LONG_AGO;
      if (isTaken) judgement.taken++;
      byTime.add({ ...record, at: record.time - (isTaken ? record.look : 0) });
    } else judgement.others[record.is] += record.width;
  }
  byTime.flush();
  for (const rate of rates.values()) {
    rate.end();
    judgement.most = Math.max(judgement.most, rate.windows.most);
  }
  judgement.span = (last - first) / US;
  return judgement;
}
