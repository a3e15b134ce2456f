/**
 * Transition systems of any number of threads, and what proves them right: inductive invariants.
 *
 * A system has variables, a first state and steps. Each step is one access to shared memory, and any thread may take its
 * next step at any time. An invariant is proved by induction: it holds in the first state, and each step preserves it.
 * So it holds in every state that can be reached, after any number of steps of any number of threads. A claim follows
 * from the invariants alone.
 *
 * Each of these three parts is a set of checks, which a solver decides by itself. The solver looks for a state that
 * refutes the check. If it answers `unsat`, there is none, and the check holds.
 */
import { and, implies, not, or, type Term } from './terms.js';

/** The code that a step stands for. */
export interface Code {
  readonly file: string;
  /** A part of one line, word for word. A test looks for it, so that the step is looked at when the code changes. */
  readonly line: string;
}

export interface Step {
  readonly name: string;
  readonly code: readonly Code[];
  /** What the step may choose: names and sorts. */
  readonly chooses?: Readonly<Record<string, string>>;
  /** When the step is possible. */
  readonly when: Term;
  /** The new values of the variables that the step changes, all at once. */
  readonly sets: Readonly<Record<string, Term>>;
}

export interface System {
  readonly name: string;
  /** Declarations of sorts and functions. */
  readonly declares: readonly string[];
  /** Names and sorts of what never changes. Nothing is known of it but `assumes`. */
  readonly constants: Readonly<Record<string, string>>;
  readonly assumes: readonly Term[];
  /** Names and sorts. */
  readonly variables: Readonly<Record<string, string>>;
  /** The first value of each variable. */
  readonly first: Readonly<Record<string, Term>>;
  readonly steps: readonly Step[];
  readonly invariants: Readonly<Record<string, Term>>;
  /** What follows from the invariants, in each state. */
  readonly claims: Readonly<Record<string, Term>>;
  /** What each process that must do something does after finitely many steps of its own. */
  readonly promise?: Promised;
}

/** What a process must do sooner or later, if it goes on taking steps. */
export interface Promised {
  /** The name of the process, in the steps and here. */
  readonly process: string;
  /** Values with which its steps are possible, for what else they choose. */
  readonly chooses: Readonly<Record<string, Term>>;
  readonly promised: Term;
  /** The end of the promise, whoever brings it about. */
  readonly kept: Term;
  /** A number that is at least 0 while the promise is open. */
  readonly left: Term;
}

/** The solver looks for values for which all the asserted terms are true. The check holds if there are none. */
export interface Check {
  readonly name: string;
  readonly declares: readonly string[];
  readonly asserts: readonly Term[];
}

/** Steps one after the other from the first state, with values for all that a step chooses. */
export interface Run {
  readonly name: string;
  readonly constants: Readonly<Record<string, string>>;
  readonly steps: readonly (readonly [step: string, chosen?: Readonly<Record<string, string>>])[];
  /** What is true at the end. */
  readonly shows: Term;
}

const declareAll = (sorts: Readonly<Record<string, string>>): string[] =>
  Object.entries(sorts).map(([name, sort]) => `(declare-const ${name} ${sort})`);

/** Returns what a term says if names have these values. */
function given(values: Readonly<Record<string, Term>>, term: Term): Term {
  const bindings = Object.entries(values).map(([name, value]) => `(${name} ${value})`);
  return bindings.length === 0 ? term : `(let (${bindings.join(' ')}) ${term})`;
}

/** Returns the declarations that all checks of a system need. */
export function preambleOf({ declares, constants, variables, assumes }: System): string[] {
  return [
    ...declares,
    ...declareAll(constants),
    ...declareAll(variables),
    ...assumes.map((term) => `(assert ${term})`),
  ];
}

/** Returns the checks that together prove a system. */
export function checksOf(system: System): Check[] {
  const { first, steps, invariants, claims, promise } = system;
  const known = Object.values(invariants);
  return [
    { name: 'the first state', declares: [], asserts: [not(given(first, and(...known)))] },
    ...steps.map(({ name, chooses = {}, when, sets }) => ({
      name: `step: ${name}`,
      declares: declareAll(chooses),
      asserts: [...known, when, not(given(sets, and(...known)))],
    })),
    ...Object.entries(claims).map(([name, claim]) => ({
      name: `claim: ${name}`,
      declares: [],
      asserts: [...known, not(claim)],
    })),
    ...(promise === undefined ? [] : checksOfPromise(system, promise)),
  ];
}

/**
 * Returns the checks that a process keeps its promise: while the promise is open, a step of the process is possible.
 * Each such step keeps the promise or leaves fewer steps. The steps of others leave it as near as it is, or keep it.
 */
function checksOfPromise({ steps, invariants }: System, { process, chooses, promised, kept, left }: Promised): Check[] {
  const open = [...Object.values(invariants), promised, not(kept)];
  const isOwn = ({ chooses = {} }: Step) => Object.hasOwn(chooses, process);
  const possible = steps.filter(isOwn).map(({ when }) => given(chooses, when));
  const declares = [`(declare-const ${process} Int)`];
  return [
    { name: 'promise: a step is possible', declares, asserts: [...open, not(or(...possible))] },
    ...steps.map((step) => {
      const { name, chooses = {}, when, sets } = step;
      // The step is that of any process, `actor`. Perhaps it is the process of the promise.
      const byActor = (term: Term) => (isOwn(step) ? given({ [process]: 'actor' }, term) : term);
      const then = (term: Term) =>
        given(Object.fromEntries(Object.entries(sets).map(([variable, value]) => [variable, byActor(value)])), term);
      const nearer = isOwn(step) ? implies(`(= actor ${process})`, `(< ${then(left)} ${left})`) : 'true';
      const stays = and(then(promised), `(<= 0 ${then(left)} ${left})`, nearer);
      const { [process]: _, ...others } = chooses;
      return {
        name: `promise: ${name}`,
        declares: [...declares, '(declare-const actor Int)', ...declareAll(others)],
        asserts: [...open, byActor(when), not(or(then(kept), stays))],
      };
    }),
  ];
}

/** Returns the check of a run. Unlike those of a proof, it succeeds if the solver answers `sat`. */
export function checkOf(system: System, { name, constants, steps, shows }: Run): Check {
  const rest = steps.reduceRight<Term>((then, [called, chosen = {}]) => {
    const step = system.steps.find((candidate) => candidate.name === called);
    if (step === undefined) throw new Error(`the ${system.name} has no step '${called}'`);
    return given(chosen, and(step.when, given(step.sets, then)));
  }, shows);
  return {
    name: `run: ${name}`,
    declares: [...system.declares, ...declareAll(system.constants)],
    asserts: [
      ...Object.entries(constants).map(([constant, value]) => `(= ${constant} ${value})`),
      given(system.first, rest),
    ],
  };
}
