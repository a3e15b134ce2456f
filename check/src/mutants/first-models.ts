/**
 * Says for some mutants which model is tried first. A run that has an earlier report takes this model from the report.
 * A run without a report would not kill these mutants: the model that finds the fault is larger than the limit, or
 * smaller models, which are tried first, use up the budget.
 */
export const firstModels: readonly (readonly [mutant: RegExp, model: string])[] = [
  [/^elements\/reserve: cmpxchg elements used, loosened$/, 'first registrations'],
  [/^reaping\/cleanUp: store held #1, dropped$/, 'condition: carried by a dead thread, whose reaper dies'],
  [/^reaping\/cleanUp: load counter\/variant #3, (zero|ones)$/, 'p0514: a disposer dies'],
  [/^reaping\/cleanUp: load held #[34], (zero|ones)$/, 'wait group: a holder dies'],
  [/^reaping\/cleanUp: store held #2, dropped$/, 'wait group: a holder dies, and who reaps it'],
  [/^reaping\/cleanUp: load held #[3-6], (zero|ones)$/, 'killed asleep: a holder'],
  [/^reaping\/cleanUp: store held #3, dropped$/, 'reaped twice: a holder'],
  [/^reaping\/cleanUp: load life #1, zero$/, 'mutex: die, the disposer while it is held, of two promises'],
  [/^papers\/due-chains\/wakeDue: rmw( below)?, dropped$/, 'chain due: one of three'],
  [/^papers\/hashes\/most: load robust\/hash, (zero|ones)$/, 'hash paired: release of 3'],
  [/^threads\/sleepOn: store sleeps on, dropped$/, 'deadlocks: one looks and leaves'],
  [/^threads\/sleepOn: rmw sleeps, dropped$/, 'deadlocks: one lock after the other, twice'],
  [/^names\/openName: load bytes\/length #2, ones$/, 'keys, one changed for another beside a lock of the second'],
  [/^channel\/passOn: load ticket, (zero|ones)$/, 'channel: S | S | R, capacity 2'],
  [/^channel\/passOn: rmw grant, dropped$/, 'channel: S | S | R R, capacity 2'],
  [/^channel\/takeWord: load start, zero$/, 'channel: N | n R | X S, capacity 1, 1 of 0 may die'],
  [/^channel\/abandon: store start, (dropped|swapped with store state)$/, 'channel: S! T | S n n, capacity 2'],
  [/^channel\/claim: load end, counter, zero$/, 'channel: R! w T, capacity 2, 2 inside'],
  [/^channel\/claim: load max, ones$/, 'channel: S S | R R, capacity 1'],
  [/^channel\/tryClaim: load (end, counter|held), zero$/, 'channel: R! R T | S S, capacity 1'],
  [/^channel\/tryClaim: cmpxchg ticket, loosened$/, 'select: Sa Ra/Sa | Ra, capacity 1'],
  [/^reaping\/cleanUp: load start #2, zero$/, 'channel: S | S | X C R R, capacity 2, 2 of 0,1 may die'],
  [/^reaping\/cleanUp: load max #2, ones$/, 'channel: S | R | X C, capacity 1, 1 before, 1 of 0 may die'],
  [/^reaping\/cleanUp: load start #3, zero$/, 'channel: S | R | X, capacity 1, 2 of 0,1 may die'],
  [
    /^reaping\/cleanUp: (load start #3, (ones|swapped with store start)|rmw parked\/limit #1, dropped)$/,
    'channel: R | X U U, capacity 1, 1 inside, 1 of 0 may die',
  ],
  [
    /^reaping\/cleanUp: (cmpxchg bytes, loosened|store start, swapped with store state #1)$/,
    'channel: S | S | R R | X, capacity 2, 1 of 1 may die',
  ],
  [/^reaping\/cleanUp: store start, dropped$/, 'channel: N | n R | X S, capacity 1, 1 of 0 may die'],
  [/^reaping\/cleanUp: store below, dropped$/, 'channel: L | X | X S L, capacity 1, 2 of 0,1 may die'],
  [
    /^reaping\/cleanUp: load (owner\/taken #[12]|departed), (zero|ones)$/,
    'channel: S C | R R | X, capacity 1, 1 of 0 may die',
  ],
  [/^closing\/closeQueue: store grant, dropped$/, 'channel: S C | R R | X, capacity 1, 1 of 0 may die'],
  [/^reaping\/cleanUp: load life #1, ones$/, 'select: Ra/Rb | Sa | X, capacity 2, 1 of 0 may die'],
  [/^attachments\/createObject: store bytes, dropped$/, 'channel: S | R, capacity 1, in used memory'],
  [/^watch\/tell: load ticket #2, (zero|ones)$/, 'watch: W | A | N'],
];
