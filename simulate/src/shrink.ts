/**
 * Shortens a failing run. First it takes things out of the program: a thread, an operation, an option of an operation.
 * Then it takes answers out of the schedule, and begins anew. It keeps each change after which the run still fails in
 * the same way.
 */
import { drawChoices } from './cases.js';
import { type Answers, type Choices, Listed, Recorded } from './choices.js';
import { type Operation, type Program, textOf } from './program.js';
import { Random } from './random.js';
import type { World } from './run.js';

export interface Failing {
  readonly program: Program;
  readonly answers: Answers;
  readonly error: Error;
}

/** How many schedules are tried with a smaller program. */
const TRIES = 100;

/** Runs a program, and returns how it fails, if it does. */
export function failing(world: World, program: Program, choices: Choices): Failing | undefined {
  const recorded = new Recorded(choices);
  const { failure } = world.run(program, recorded);
  return failure && { program, answers: recorded.answers, error: failure };
}

/** Returns what kind of failure an error is: its message, without the names and numbers of this program. */
function sortOf({ message }: Error): string {
  return message.replace(/^.*?(still waits|has never ended|has ended with)/, '$1').replace(/\d+/g, '');
}

export function shrink(world: World, found: Failing): Failing {
  let least = found;
  const sort = sortOf(found.error);
  const attempt = (program: Program, choices: Choices): boolean => {
    const again = failing(world, program, choices);
    if (!again || sortOf(again.error) !== sort) return false;
    least = again;
    return true;
  };
  const still = (program: Program): boolean => {
    if (attempt(program, new Listed(least.answers))) return true;
    const random = new Random(1);
    for (let i = 0; i < TRIES; i++) if (attempt(program, drawChoices(random, 2))) return true;
    return false;
  };
  // With a shorter schedule, more can be taken out of the program.
  for (let before: Failing | undefined; before !== least; ) {
    before = least;
    descend(() => [...programsBelow(least.program)], still);
    descend(
      () => fewerThan(least.answers),
      (answers) => attempt(least.program, new Listed(answers)),
    );
  }
  return least;
}

/** Takes steps to something smaller, in rounds, until a round has no step that is possible. */
function descend<T>(steps: () => T[], take: (step: T) => boolean): void {
  for (let isOver = false; !isOver; ) {
    isOver = true;
    // After a step has been taken, the list is made anew, and the next step stands at the same index.
    for (let i = 0, all = steps(); i < all.length; )
      if (take(all[i] as T)) {
        isOver = false;
        all = steps();
      } else i++;
  }
}

function* programsBelow(program: Program): Generator<Program> {
  const { threads, dies, objects } = program;
  const { dies: _, ...alive } = program;
  if (dies !== undefined) yield alive;
  for (let on = 0; on < objects.length; on++) {
    const isUsed = threads.some((operations) => operations.some((operation) => operation.on === on));
    const isNeeded = objects.some(({ of }) => of === on);
    if (objects.length > 1 && !isUsed && !isNeeded) yield without(program, on);
  }
  for (let t = 0; t < threads.length; t++) {
    const operations = threads[t] as readonly Operation[];
    if (threads.length > 1 && dies !== t + 1 && operations.length > 0) {
      const others = threads.map((own, i) => (i === t ? [] : own));
      yield { ...program, threads: others };
      // The operations of this thread can also become operations of the thread before it.
      if (t > 0) yield { ...program, threads: others.map((own, i) => (i === t - 1 ? [...own, ...operations] : own)) };
    }
  }
  // If a thread dies, three threads are needed: another thread reaps it, while a third may sleep.
  if (threads.length > (dies === undefined ? 1 : 3) && threads.at(-1)?.length === 0 && dies !== threads.length)
    yield { ...program, threads: threads.slice(0, -1) };
  for (let t = 0; t < threads.length; t++)
    for (let o = 0; o < (threads[t]?.length ?? 0); o++) {
      const put = (...by: Operation[]): Program => ({
        ...program,
        threads: threads.map((own, i) => (i === t ? own.toSpliced(o, 1, ...by) : own)),
      });
      yield put();
      const { timeout, signal, cut, callback, goesOn, ...rest } = (threads[t] as readonly Operation[])[o] as Operation;
      const given = { timeout, signal, cut, callback, goesOn };
      for (const [name, value] of Object.entries(given)) {
        const others = Object.entries(given).filter(([other, is]) => other !== name && is !== undefined);
        if (value !== undefined) yield put({ ...rest, ...Object.fromEntries(others) });
      }
    }
}

/** The program without an object that no operation uses. */
function without(program: Program, gone: number): Program {
  const renumbered = (on: number): number => on - Number(on > gone);
  return {
    ...program,
    objects: program.objects
      .filter((_, on) => on !== gone)
      .map((spec) => (spec.of === undefined ? spec : { ...spec, of: renumbered(spec.of) })),
    threads: program.threads.map((own) => own.map((operation) => ({ ...operation, on: renumbered(operation.on) }))),
  };
}

/** Returns shorter lists of answers: without the end of the list, or without one answer. */
function fewerThan(answers: Answers): Answers[] {
  const all = [...answers];
  const fewer: Answers[] = all.map((_, i) => new Map(all.toSpliced(i, 1)));
  for (let half = all.length >> 1; half > 0; half >>= 1) fewer.unshift(new Map(all.slice(0, half)));
  return fewer;
}

/** A case as one word, for a command. */
export function wordOf({ program, answers }: Pick<Failing, 'program' | 'answers'>): string {
  return Buffer.from(JSON.stringify({ program, answers: [...answers] })).toString('base64url');
}

export function ofWord(word: string): { program: Program; answers: Answers } {
  const { program, answers } = JSON.parse(Buffer.from(word, 'base64url').toString());
  return { program, answers: new Map(answers) };
}

/** Describes a failing case: the program, its schedule, and how to run it again. */
export function report(world: World, least: Failing, fault?: string): string {
  const { trace } = world.run(least.program, new Listed(least.answers), true);
  const events = trace.filter((line) => !line.includes(':   ')).map((line) => `  ${line}`);
  return [
    least.error.message,
    '',
    textOf(least.program),
    '',
    'as it went, each line an event, further in where it came between two steps of another:',
    ...events,
    '',
    `npm start -w simulate -- --trace ${fault ? `--fault ${fault} ` : ''}--again ${wordOf(least)}`,
  ].join('\n');
}
