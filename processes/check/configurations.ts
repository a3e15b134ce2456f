/**
 * The configurations that are searched. The name `1, 2 of 2: CT` says that one process wants 1 permit and another wants
 * 2, of 2 in all, and that the events C and T may happen, once each:
 *
 *     C  a connection is cut                       M  a message is lost
 *     T  a request times out or is aborted         K  a process is killed
 *     L  a lease lapses                            R  the server takes a lease too early
 *     F  a failover to any older copy of the data  V  the same, and connections live on
 *     H  another history of the data, no loss      D  a driver sends a call twice
 *     X  the object is disposed of                 A  all waiters are cancelled
 *     Y  a hold is revoked                         S  the object gets a permit less
 *     G  the object gets a permit more
 */
import type { ObjectSettings, Rules, Want } from './client.js';
import type { Budget, Configuration } from './protocol.js';

const semaphore = (max: number): ObjectSettings => ({ name: 'a', kind: 's', max });
const robust = (max: number): ObjectSettings => ({ name: 'a', kind: 's', max, robust: true });
const mutex = (bypass: number): ObjectSettings => ({ name: 'a', kind: 'm', max: 1, bypass });
const named = (name: string): ObjectSettings => ({ name, kind: 's', max: 1 });
/** A reader takes one permit, a writer all. */
const READERS = 2 ** 20;
const rwLock: ObjectSettings = { name: 'a', kind: 'w', max: READERS };
/** Each call of the script handles one record or grant only. So calls of other processes, and deaths, come between. */
const SLOWLY = { WORK: 1 };
const LETTERS: Record<string, keyof Budget> = {
  ...{ C: 'cuts', M: 'losses', T: 'timeouts', K: 'kills', L: 'lapses', R: 'reapings', F: 'failovers', D: 'resends' },
  ...{ X: 'disposals', A: 'cancels', V: 'returns', H: 'changes' },
  ...{ Y: 'revocations', S: 'shrinks', G: 'growths' },
};

/** `CCM`: two cuts and a lost message. */
function budget(letters: string): Budget {
  const counts: Partial<Record<keyof Budget, number>> = {};
  for (const letter of letters) {
    const what = LETTERS[letter] as keyof Budget;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

/** Processes with one request each: the list says how many permits each process wants. */
const once = (...permits: readonly number[]): Want[][] => permits.map((n) => [{ object: 0, n }]);
const times = (count: number, processes: number): Want[][] =>
  Array.from({ length: processes }, () => Array.from({ length: count }, () => ({ object: 0, n: 1 })));

function of(
  what: string,
  letters: string,
  objects: readonly ObjectSettings[],
  clients: readonly (readonly Want[])[],
  more: Partial<Configuration> = {},
): Configuration {
  return { name: letters === '' ? what : `${what}: ${letters}`, objects, clients, budget: budget(letters), ...more };
}

const asks = (client: number): string[] => [`${client}: ask`, `${client}: the server runs A`, `${client}: answer`];
const givesBack = (client: number): string[] => [`${client}: give back`, `${client}: the server runs D`];

/** Short searches, which the tests make. */
export const SHORT: readonly Configuration[] = [
  of('1, 1 of 1', 'C', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'MT', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'F', [semaphore(1)], once(1, 1)),
  of('1, 2 of 2', 'K', [semaphore(2)], once(1, 2)),
  of('1, 1 of 1', 'L', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1, robust', 'K', [robust(1)], once(1, 1), { closes: true }),
  of('2 of 3, a part first; 2 of 3', 'C', [semaphore(3)], [[{ object: 0, n: 2, part: 1 }], [{ object: 0, n: 2 }]]),
  of('a mutex, 2 requests of one process, bypass 1', 'T', [mutex(1)], times(2, 1)),
  of('a mutex, 1 and 1 requests, bypass 0', '', [mutex(0)], times(1, 2)),
  of('a reader, a writer', 'T', [rwLock], once(1, READERS)),
  of(
    'two objects of a partition',
    '',
    [named('a'), named('b')],
    [
      [
        { object: 0, n: 1 },
        { object: 1, n: 1 },
      ],
      once(1)[0] as Want[],
    ],
    {
      sequential: true,
    },
  ),
  of('1, 1 of 1', 'X', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'A', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'MY', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1, robust', 'Y', [robust(1)], once(1, 1)),
  of('a mutex, 2 and 0 requests, bypass 1, the first holds', 'Y', [mutex(1)], [...times(2, 1), []], {
    after: [...asks(0), '0: ask'],
  }),
  of('1, 2 of 2', 'S', [semaphore(2)], once(1, 2), { after: asks(0) }),
  of('1, 2 of 1', 'G', [semaphore(1)], once(1, 2)),
  // The first call of the new history makes a grant.
  of('1, 1 of 1, the first lapses', 'HL', [semaphore(1)], once(1, 1), {
    after: [...asks(0), ...asks(1), '0: lapse', 'the lease of p0000001', '1: beat', 'another history'],
  }),
  of('1, 1 of 1, the first holds', 'V', [semaphore(1)], once(1, 1), { after: asks(0) }),
  // The request to which the mutex is passed on is of an earlier object of the same name. That object was disposed of
  // before the process knew of it.
  of(
    'a mutex that the server forgets, 2 and 1 requests, bypass 1, on two objects of the name',
    'X',
    [{ ...mutex(1), ephemeral: true }],
    [...times(2, 1), ...times(1, 1)],
    {
      after: [
        ...['0: ask', '0: the server runs N', '0: ask', '1: dispose', '1: the server runs K', '1: answer', '1: ask'],
        ...['1: the server runs N', '0: the server runs N', '1: answer'],
      ],
    },
  ),
  // In the history that is lost, the waiting process was taken for dead, and a later request was granted.
  of('1 and 1 again, 1, of 1', 'FR', [semaphore(1)], [...times(2, 1), ...times(1, 1)], {
    sequential: true,
    after: [...asks(0), ...asks(1), 'the lease of p0000002', 'the copy', ...givesBack(0)],
  }),
  // The process that gives back 2 permits may die before the second request has got its one permit.
  of('2; 1 and 1, of 2, a grant a call', 'K', [semaphore(2)], [...once(2), ...times(2, 1)], {
    constants: SLOWLY,
    after: [...asks(0), ...asks(1), ...asks(1), ...givesBack(0)],
  }),
  // The first waiting request is cancelled. The second one could be served before the second call cancels it.
  of(
    '1; 2 and 1, of 2, a cancellation a call',
    'AK',
    [semaphore(2)],
    [...once(1), [...(once(2)[0] as Want[]), ...(once(1)[0] as Want[])]],
    {
      constants: SLOWLY,
      after: [...asks(0), ...asks(1), ...asks(1), '0: cancel all', '0: the server runs L'],
    },
  ),
  of('a mutex, 2 and 1 requests, bypass 2', 'FR', [mutex(2)], [...times(2, 1), ...times(1, 1)], {
    after: [...asks(0), '0: ask', ...asks(1), 'the lease of p0000001', 'the copy', '1: beat', '1: the server runs B'],
  }),
];

export const CONFIGURATIONS: readonly Configuration[] = [
  ...SHORT,
  of('1 and 1 again, 1, of 1', 'FF', [semaphore(1)], [...times(2, 1), ...times(1, 1)], { sequential: true }),
  of('1, 1, 1 of 1', 'H', [semaphore(1)], once(1, 1, 1)),
  of('1, 1 of 1', 'V', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'VC', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'HL', [semaphore(1)], once(1, 1), { after: [...asks(0), ...asks(1)] }),
  of('a mutex, 2 and 1 requests, bypass 1', 'V', [mutex(1)], [...times(2, 1), ...times(1, 1)], {
    after: [...asks(0), '0: ask', ...asks(1)],
  }),
  of('a mutex, 2 and 1 requests, bypass 1', '', [mutex(1)], [times(2, 1)[0] as Want[], times(1, 1)[0] as Want[]]),
  of('a mutex, 2 and 1 requests, bypass 1', 'K', [mutex(1)], [times(2, 1)[0] as Want[], times(1, 1)[0] as Want[]]),
  of('a mutex, 2, 1 and 1 requests, bypass 3', '', [mutex(3)], [times(2, 1)[0] as Want[], ...times(1, 2)]),
  of('a mutex, 1 and 1 requests, bypass 1', 'C', [mutex(1)], times(1, 2)),
  of('a mutex, 1 and 1 requests, bypass 1', 'F', [mutex(1)], times(1, 2)),
  of('a reader, a reader, a writer', '', [rwLock], once(1, 1, READERS)),
  of('a reader, a writer', 'C', [rwLock], once(1, READERS)),
  of('a reader, a writer', 'K', [rwLock], once(1, READERS)),
  of(
    'two objects of a partition',
    'C',
    [named('a'), named('b')],
    [
      [
        { object: 0, n: 1 },
        { object: 1, n: 1 },
      ],
      once(1)[0] as Want[],
    ],
    { sequential: true },
  ),
  of(
    'two objects, reaped one record a call; the dead resumes meanwhile',
    'LC',
    [named('a'), named('b')],
    [
      [
        { object: 0, n: 1 },
        { object: 1, n: 1 },
      ],
      once(1)[0] as Want[],
    ],
    { constants: SLOWLY },
  ),
  of('1, 1 of 1, first without a session', 'C', [semaphore(1)], once(1, 1), { cold: true }),
  of('1, 1 of 1', 'CX', [semaphore(1)], once(1, 1)),
  of('2 of 2, a part first, robust', 'CX', [robust(2)], [[{ object: 0, n: 2, part: 1 }]]),
  of('a mutex that the server forgets, 2 requests, bypass 1', 'CX', [{ ...mutex(1), ephemeral: true }], times(2, 1)),
  of(
    'a mutex that the server forgets, 2 and 1 requests, bypass 1',
    'X',
    [{ ...mutex(1), ephemeral: true }],
    [...times(2, 1), ...times(1, 1)],
  ),
  of('1, 1 of 1', 'CA', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'CC', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'CY', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'YL', [semaphore(1)], once(1, 1)),
  of('1, 2 of 2', 'CS', [semaphore(2)], once(1, 2)),
  of('1, 2 of 2', 'SG', [semaphore(2)], once(1, 2)),
  of('1, 1 of 1', 'CMT', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'CD', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'FF', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'FC', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1', 'R', [semaphore(1)], once(1, 1)),
  of('1, 1 of 1, twice each', 'L', [semaphore(1)], times(2, 2), { sequential: true }),
  of('1, 1 of 1, twice each', 'CM', [semaphore(1)], times(2, 2), { sequential: true }),
  of('1, 1 of 1, twice each', 'MM', [semaphore(1)], times(2, 2)),
];

/** The first process holds 2 of 2 and gives them back one by one; the second wants 1, and 1 once more. */
const oneByOne: Want[][] = [[{ object: 0, n: 2, part: 1 }], ...times(2, 1)];

/** For each rule of the client, a search that finds a fault without the rule, and none with it. */
export const RULE_SEARCHES: Readonly<Record<keyof Rules, Configuration>> = {
  comparesHeard: of('1, 1 of 1', 'C', [semaphore(1)], once(1, 1)),
  comparesNumbers: of('1, 1 of 1', 'MT', [semaphore(1)], once(1, 1)),
  // The first process is granted its request after its lease has lapsed. Its session is reaped, and the other process
  // asks again.
  hearsNothingWhenLost: of('1; 1 and 1 again, of 1', 'L', [semaphore(1)], [...times(1, 1), ...times(2, 1)], {
    sequential: true,
    after: [
      ...asks(1),
      ...asks(0),
      '0: lapse',
      ...givesBack(1),
      'the lease of p0000001',
      ...['1: answer', '1: beat', '1: the server runs B', '1: answer', '1: ask'],
    ],
  }),
  // Two messages come while the session is being entered, and the first of them is lost.
  remembersGaps: of('2 of 2, a part first; 1, 1', 'CM', [semaphore(2)], oneByOne, {
    after: [
      ...asks(0),
      ...asks(1),
      ...asks(1),
      ...['1: cut', '1: enter', '1: the server runs O'],
      ...givesBack(0),
      ...['1: a message is lost', '0: answer'],
      ...givesBack(0),
      '1: message',
    ],
  }),
  opensAgain: of('1 of 1, which nobody has opened', 'C', [semaphore(1)], once(1), { cold: true, unmade: true }),
  // A driver sends a comparison once more. The comparison is older than a request that was granted meanwhile.
  settlesListedOnly: of('2 of 2, a part first; 1, 1', 'CMD', [semaphore(2)], oneByOne, {
    after: [
      ...asks(0),
      ...asks(1),
      ...givesBack(0),
      ...['1: a message is lost', '1: beat', '1: the server runs B', '1: answer', '1: ask'],
      ...['1: the server runs S', '1: the server runs A', '0: answer'],
      ...givesBack(0),
      ...['1: message', '1: cut, and resent'],
    ],
  }),
  // A comparison is cut off, and the second request is granted by a message that is lost too.
  listsAnew: of('2 of 2, a part first; 1, 1', 'CMM', [semaphore(2)], oneByOne, {
    after: [
      ...asks(0),
      ...asks(1),
      ...givesBack(0),
      ...['1: a message is lost', '1: beat', '1: the server runs B', '1: answer', '1: ask'],
      ...['1: the server runs S', '1: the server runs A', '1: cut'],
    ],
  }),
  numbersConnections: of('1, 1 of 1', 'CT', [semaphore(1)], once(1, 1), { after: ['0: ask', '0: cut'] }),
  comparesHistories: of('1, 1 of 1, the first holds', 'V', [semaphore(1)], once(1, 1), { after: asks(0) }),
  losesInTime: of('1, 1 of 1', 'L', [semaphore(1)], once(1, 1), { after: asks(0) }),
  // A driver sends a request once more, after a message has granted it and its permit was given back.
  returnsOtherGrants: of('1, 1 of 1', 'CD', [semaphore(1)], once(1, 1), {
    after: [
      ...asks(0),
      ...['0: give back', '1: ask', '1: the server runs A', '0: the server runs D', '0: answer', '1: message'],
      ...givesBack(1),
      '1: cut, and resent',
    ],
  }),
  dropsServed: of('a mutex, 2 and 0 requests, bypass 1, the first holds', 'Y', [mutex(1)], [...times(2, 1), []], {
    after: [...asks(0), '0: ask'],
  }),
  asksLate: of('1, 1 of 1', 'CT', [semaphore(1)], once(1, 1), { after: ['0: ask', '0: cut'] }),
  asksUnknown: of('1, 1 of 1', 'CT', [semaphore(1)], once(1, 1), { after: ['0: ask', '0: cut'] }),
  asksForgotten: of('1, 1 of 1', 'LT', [semaphore(1)], once(1, 1), { after: ['0: ask', '0: lapse'] }),
  asksInAnother: of('1, 1 of 1', 'FT', [semaphore(1)], once(1, 1), { after: [...asks(0)] }),
  takesBack: of('1 for ever, 1 of 1', 'CT', [semaphore(1)], [[{ object: 0, n: 1, keeps: true }], ...once(1)], {
    after: [...asks(0), '1: ask', '1: cut'],
  }),
  tellsWhoLeaves: of('1, 1 of 1', 'T', [semaphore(1)], once(1, 1)),
};
