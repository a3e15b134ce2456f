/**
 * The waiting array of the TWA-Semaphore (Dice and Kogan, Semaphores Augmented with a Waiting Array, Listing 2): no
 * wake-up is lost, for any number of threads, each threshold, each size of the array and each hash.
 *
 * The proof follows one waiter, that of the ticket `watched`. This may be any ticket. All else that changes its bucket is
 * part of the system, without a bound on its number:
 *
 *     p >= 0     a release, whose number is the grant that it found. So its permits are for the tickets from p on
 *     p = -1     the thread that disposes of the semaphore
 *     p < -1     whoever else pokes the bucket: a release of another semaphore, or of this one after it was closed
 *     others     how many other waiters are counted in `parked` of the bucket
 *
 * Only two releases must wake the waiter: `first` makes its ticket due, and `second` makes it near. The proof shows that
 * each of them pokes the bucket in time, or that the waiter sees the new grant.
 */
import type { System } from './system.js';
import { and, at, either, forAll, implies, least, most, not, or, put, within } from './terms.js';

const TWA = 'core/papers/twa-semaphore.ts';

const NUMBERS = '(Array Int Int)';
const post = (p: string) => at('post', p);
const is = (stage: string, p = 'p') => `(= ${post(p)} ${stage})`;
const waiterIs = (...stages: readonly string[]) => or(...stages.map((stage) => `(= waiter ${stage})`));

/** Whether the waiter is counted in `parked` of its bucket. */
const counted = waiterIs('LooksAgain', 'Waits', 'Asleep', 'Leaves');
/** The first ticket that comes near by the release p. */
const nearest = (p: string) => `(+ ${p} threshold)`;
/** The ends of the two rows. */
const endOne = (p: string) => `(+ ${p} ${least('slots', least(at('waiting', p), least(at('given', p), 'threshold')))})`;
const endTwo = (p: string) =>
  `(+ ${nearest(p)} ${least('slots', least(`(- ${at('waiting', p)} threshold)`, at('given', p)))})`;
/** Whether p, which visits a ticket, is at the bucket of the waiter. */
const here = (p: string) => or(`(< ${p} 0)`, `(= (bucket ${at('visits', p)}) (bucket watched))`);
/** Whether somebody is counted at the bucket that p visits. Of another bucket nothing is known. */
const somebody = either(here('p'), or('(> others 0)', counted), 'elsewhere');
const goesOn = {
  post: put(
    'post',
    'p',
    either(`(= ${at('row', 'p')} 1)`, 'RowOne', either(`(= ${at('row', 'p')} 2)`, 'RowTwo', 'Idle')),
  ),
  visits: put('visits', 'p', `(+ ${at('visits', 'p')} 1)`),
};

const isPoking = (p: string) => or(is('ReadsParked', p), is('Notifies', p));
const inRowOne = (p: string) => or(is('RowOne', p), is('Pokes', p), and(isPoking(p), `(= ${at('row', p)} 1)`));
const inRowTwo = (p: string) => or(is('RowTwo', p), and(isPoking(p), `(= ${at('row', p)} 2)`));
/** Whether the ticket of the waiter lies in the rows of the release p. */
const rowOneHas = (p: string) =>
  and(not('forever'), within(p, 'watched', `(+ ${p} ${least(at('given', p), 'threshold')})`));
const rowTwoHas = (p: string) => within(nearest(p), 'watched', `(+ ${nearest(p)} ${at('given', p)})`);
const knowsTicket = (p: string) => `(> ${at('waiting', p)} (- watched ${p}))`;
/** Whether p has yet to come to the bucket in a row that begins with `first`. */
const isBefore = (p: string, first: string, ...stages: readonly string[]) =>
  or(
    `(< ${at('visits', p)} (visit ${first}))`,
    and(`(= ${at('visits', p)} (visit ${first}))`, or(...stages.map((stage) => is(stage, p)))),
  );

/** Whether p will move the sequence of the bucket, if the waiter is counted by then. */
const willPoke = (p: string) =>
  and(
    `(< ${p} grant)`,
    or(
      and(`(= ${p} (- 1))`, is('Closes', p)),
      and(
        `(>= ${p} 0)`,
        or(
          and(is('Moved', p), '(> ticket watched)', or(rowOneHas(p), rowTwoHas(p))),
          and(inRowOne(p), knowsTicket(p), or(rowTwoHas(p), and(rowOneHas(p), isBefore(p, p, 'RowOne', 'Pokes')))),
          and(inRowTwo(p), knowsTicket(p), rowTwoHas(p), isBefore(p, nearest(p), 'RowTwo')),
        ),
      ),
    ),
  );
/** Whether p has moved the sequence of the bucket, and has yet to notify. */
const willNotify = (p: string) => and(`(< ${p} grant)`, isPoking(p), here(p));
const willWake = (p: string) => or(willPoke(p), willNotify(p));

/** How many steps p makes at most before it notifies: four for each visit. */
const rest = (end: string, p: string, done: string) => `(* 4 ${most('0', `(- ${end} ${at('visits', p)} ${done})`)})`;
const inVisit = (p: string) => either(is('Pokes', p), '3', either(is('ReadsParked', p), '2', '1'));
const permits = (p: string) => most('0', at('given', p));
const stepsLeft = (p: string) =>
  either(
    is('Moved', p),
    `(+ 12 (* 8 ${permits(p)}))`,
    either(
      inRowOne(p),
      `(+ 4 (* 4 ${permits(p)}) ${either(is('RowOne', p), rest(endOne(p), p, '0'), `(+ ${rest(endOne(p), p, '1')} ${inVisit(p)})`)})`,
      either(
        inRowTwo(p),
        either(is('RowTwo', p), rest(endTwo(p), p, '0'), `(+ ${rest(endTwo(p), p, '1')} ${inVisit(p)})`),
        either(is('Closes', p), '3', inVisit(p)),
      ),
    ),
  );

const IDLE = '((as const (Array Int Post)) Idle)';

/** A lost wake-up: the waiter sleeps although its turn has come, and nobody is about to do anything. */
export const isLost = and(waiterIs('Asleep'), or('closed', '(> grant watched)'), `(= post ${IDLE})`);

export const waitingArray: System = {
  name: 'waiting array',
  declares: [
    // Where the waiter is, and where another process is.
    `(declare-datatypes ((Waiter 0)) (((Away) (LooksFirst) (ReadsSequence) (Looks) (Decides) (LooksAgain) (Waits) (Asleep)
      (Leaves) (Ended))))`,
    '(declare-datatypes ((Post 0)) (((Idle) (Moved) (RowOne) (Pokes) (RowTwo) (ReadsParked) (Notifies) (Closes))))',
    '(declare-fun bucket (Int) Int)',
    '(declare-fun visit (Int) Int)',
  ],
  // `forever`: near waiters poll for ever. `slots`: the most tickets of a row that a release visits.
  constants: { permits: 'Int', threshold: 'Int', slots: 'Int', forever: 'Bool', watched: 'Int' },
  assumes: [
    '(>= permits 0)',
    '(>= threshold 0)',
    '(>= watched 0)',
    // The hash: in each row of as many tickets as a release visits, one has the bucket of the waiter, if the row begins
    // at or before the waiter's ticket (mostTickets in core/papers/hashes.ts). `visit` is that ticket.
    forAll(
      ['row'],
      implies(
        '(<= row watched)',
        and(
          '(<= row (visit row) watched)',
          '(< (visit row) (+ row slots))',
          '(= (bucket (visit row)) (bucket watched))',
        ),
      ),
    ),
  ],
  variables: {
    ticket: 'Int',
    grant: 'Int',
    closed: 'Bool',
    sequence: 'Int',
    others: 'Int',
    // The waiter. `read` is the sequence that it read last.
    waiter: 'Waiter',
    far: 'Bool',
    read: 'Int',
    // The other processes: the stage, the permits, how many tickets wait, the ticket and the row that p visits.
    post: '(Array Int Post)',
    given: NUMBERS,
    waiting: NUMBERS,
    visits: NUMBERS,
    row: NUMBERS,
    // What only the proof knows: see above. `waker` was the last to move the sequence.
    first: 'Int',
    second: 'Int',
    waker: 'Int',
  },
  first: {
    ticket: '0',
    grant: 'permits',
    closed: 'false',
    sequence: '0',
    others: '0',
    waiter: 'Away',
    far: 'true',
    read: '0',
    post: IDLE,
    given: `((as const ${NUMBERS}) 0)`,
    waiting: `((as const ${NUMBERS}) 0)`,
    visits: `((as const ${NUMBERS}) 0)`,
    row: `((as const ${NUMBERS}) 0)`,
    first: '(- 1)',
    second: '(- 1)',
    waker: '(- 1)',
  },
  steps: [
    {
      name: 'a thread takes a ticket',
      code: [{ file: TWA, line: 'const ticket = atomic.add<i64>(s, 1, TICKET);' }],
      when: 'true',
      sets: { ticket: '(+ ticket 1)', waiter: either('(= ticket watched)', 'LooksFirst', 'waiter') },
    },
    {
      name: 'the waiter looks for the first time',
      code: [{ file: TWA, line: 'return atomic.load<i64>(s, GRANT) > ticket ? ADMITTED : QUEUED;' }],
      when: waiterIs('LooksFirst'),
      sets: { waiter: either(and(not('closed'), '(> grant watched)'), 'Ended', 'ReadsSequence') },
    },
    {
      name: 'the waiter reads the sequence',
      code: [
        { file: TWA, line: 'let sequence = atomic.load<i64>(bucket, B_SEQUENCE);' },
        { file: TWA, line: '    sequence = atomic.load<i64>(bucket, B_SEQUENCE);' },
      ],
      when: waiterIs('ReadsSequence'),
      sets: { waiter: 'Looks', read: 'sequence' },
    },
    {
      name: 'the waiter looks at grant',
      code: [
        { file: TWA, line: '    const grant = atomic.load<i64>(s, GRANT);' },
        { file: TWA, line: 'if (grant > ticket) return ADMITTED;' },
        { file: TWA, line: 'if (grant < 0) return ANSWER_CLOSED;' },
        { file: TWA, line: 'if (wasFar && grant > near) {' },
      ],
      when: waiterIs('Looks'),
      sets: {
        waiter: either(or('closed', '(> grant watched)'), 'Ended', 'Decides'),
        far: and('far', '(<= grant (- watched threshold))'),
      },
    },
    {
      name: 'the near waiter polls',
      code: [{ file: TWA, line: '} else continue;' }],
      when: and(waiterIs('Decides'), not('far')),
      sets: { waiter: 'Looks' },
    },
    {
      name: 'the far waiter polls',
      code: [{ file: TWA, line: 'const now = atomic.load<i64>(bucket, B_SEQUENCE);' }],
      when: and(waiterIs('Decides'), 'far'),
      sets: { waiter: either('(= sequence read)', 'Decides', 'Looks'), read: 'sequence' },
    },
    {
      name: 'the waiter counts itself',
      code: [{ file: TWA, line: 'if (atomic.add<i32>(bucket, 1, B_PARKED) > 0) countCollision();' }],
      when: and(waiterIs('Decides'), or('far', not('forever'))),
      sets: { waiter: either('far', 'Waits', 'LooksAgain') },
    },
    {
      name: 'the near waiter looks again',
      code: [
        { file: TWA, line: 'const again = atomic.load<i64>(s, GRANT);' },
        { file: TWA, line: 'waits = again <= ticket && again >= 0;' },
      ],
      when: waiterIs('LooksAgain'),
      sets: { waiter: either(and('(<= grant watched)', not('closed')), 'Waits', 'Leaves') },
    },
    {
      name: 'the waiter waits',
      code: [{ file: TWA, line: 'atomic.wait<i64>(bucket + B_SEQUENCE, sequence, -1)' }],
      when: waiterIs('Waits'),
      sets: { waiter: either('(= sequence read)', 'Asleep', 'Leaves') },
    },
    {
      name: 'the waiter wakes for no reason',
      code: [{ file: TWA, line: 'atomic.wait<i64>(bucket + B_SEQUENCE, sequence, -1)' }],
      when: waiterIs('Asleep'),
      sets: { waiter: 'Leaves' },
    },
    {
      name: 'the waiter takes itself off the count',
      code: [{ file: TWA, line: 'atomic.sub<i32>(bucket, 1, B_PARKED);' }],
      when: waiterIs('Leaves'),
      sets: { waiter: 'ReadsSequence' },
    },
    {
      name: 'another waiter counts itself',
      code: [{ file: TWA, line: 'if (atomic.add<i32>(bucket, 1, B_PARKED) > 0) countCollision();' }],
      when: 'true',
      sets: { others: '(+ others 1)' },
    },
    {
      name: 'another waiter takes itself off the count',
      code: [{ file: TWA, line: 'atomic.sub<i32>(bucket, 1, B_PARKED);' }],
      when: '(> others 0)',
      sets: { others: '(- others 1)' },
    },
    {
      name: 'a release moves grant',
      code: [
        { file: TWA, line: 'const grant = atomic.add<i64>(s, n, GRANT);' },
        { file: TWA, line: 'post(s, atomic.add<i64>(s, n, GRANT), n, i64.MAX_VALUE);' },
      ],
      chooses: { n: 'Int' },
      when: and(not('closed'), '(>= n 1)'),
      sets: {
        grant: '(+ grant n)',
        post: put('post', 'grant', 'Moved'),
        given: put('given', 'grant', 'n'),
        first: either(within('grant', 'watched', '(+ grant n)'), 'grant', 'first'),
        second: either(within('grant', '(- watched threshold)', '(+ grant n)'), 'grant', 'second'),
      },
    },
    {
      // A conservative release does not read ticket: it behaves as if more tickets were taken.
      name: 'a release reads ticket',
      code: [
        { file: TWA, line: 'const waiting = atomic.load<i64>(s, TICKET) - grant;' },
        { file: TWA, line: 'if (waiting > 0) {' },
        {
          file: TWA,
          line: 'if ((knobs as i32) !== FOR_EVER) pokeRow(s, grant, min(waiting, min(n, threshold)), true);',
        },
      ],
      chooses: { p: 'Int', seen: 'Int' },
      when: and(is('Moved'), '(>= seen ticket)'),
      sets: {
        waiting: put('waiting', 'p', '(- seen p)'),
        post: put('post', 'p', either('(> seen p)', either('forever', 'RowTwo', 'RowOne'), 'Idle')),
        visits: put('visits', 'p', either('forever', nearest('p'), 'p')),
      },
    },
    {
      name: 'a release looks whether a due ticket is parked',
      code: [{ file: TWA, line: 'if (!onlyParked || atomic.load<i32>(bucket, B_PARKED) > 0) poke(bucket);' }],
      chooses: { p: 'Int', elsewhere: 'Bool' },
      when: and(is('RowOne'), `(< ${at('visits', 'p')} ${endOne('p')})`),
      sets: {
        post: put('post', 'p', either(somebody, 'Pokes', 'RowOne')),
        visits: put('visits', 'p', either(somebody, at('visits', 'p'), `(+ ${at('visits', 'p')} 1)`)),
      },
    },
    {
      name: 'a release ends the first row',
      code: [{ file: TWA, line: 'pokeRow(s, grant + threshold, min(waiting - threshold, n), false);' }],
      chooses: { p: 'Int' },
      when: and(is('RowOne'), `(>= ${at('visits', 'p')} ${endOne('p')})`),
      sets: { post: put('post', 'p', 'RowTwo'), visits: put('visits', 'p', nearest('p')) },
    },
    {
      name: 'a release moves the sequence',
      code: [{ file: TWA, line: 'atomic.add<i64>(bucket, 1, B_SEQUENCE);' }],
      chooses: { p: 'Int' },
      when: or(is('Pokes'), and(is('RowTwo'), `(< ${at('visits', 'p')} ${endTwo('p')})`)),
      sets: {
        sequence: either(here('p'), '(+ sequence 1)', 'sequence'),
        waker: either(here('p'), 'p', 'waker'),
        row: put('row', 'p', either(is('Pokes'), '1', '2')),
        post: put('post', 'p', 'ReadsParked'),
      },
    },
    {
      name: 'a release ends the second row',
      code: [{ file: TWA, line: 'for (let i: i64 = 0; i < most; i++) {' }],
      chooses: { p: 'Int' },
      when: and(is('RowTwo'), `(>= ${at('visits', 'p')} ${endTwo('p')})`),
      sets: { post: put('post', 'p', 'Idle') },
    },
    {
      name: 'somebody who pokes reads parked',
      code: [
        { file: TWA, line: 'if (atomic.load<i32>(bucket, B_PARKED) > 0) atomic.notify(bucket + B_SEQUENCE, -1);' },
      ],
      chooses: { p: 'Int', elsewhere: 'Bool' },
      when: is('ReadsParked'),
      sets: {
        post: either(somebody, put('post', 'p', 'Notifies'), goesOn.post),
        visits: either(somebody, 'visits', goesOn.visits),
      },
    },
    {
      name: 'somebody who pokes notifies',
      code: [
        { file: TWA, line: 'if (atomic.load<i32>(bucket, B_PARKED) > 0) atomic.notify(bucket + B_SEQUENCE, -1);' },
      ],
      chooses: { p: 'Int' },
      when: is('Notifies'),
      sets: { ...goesOn, waiter: either(and(here('p'), waiterIs('Asleep')), 'Leaves', 'waiter') },
    },
    {
      name: 'a thread closes the semaphore',
      code: [{ file: TWA, line: 'if (!closeObject(s)) return;' }],
      when: not('closed'),
      sets: { closed: 'true', post: put('post', '(- 1)', 'Closes') },
    },
    {
      name: 'the thread that has closed it moves the sequence',
      code: [{ file: TWA, line: 'for (let i: u32 = 0; i <= bucketMask; i++) poke(buckets + (i as usize) * LINE);' }],
      chooses: { p: 'Int' },
      when: and('(= p (- 1))', is('Closes')),
      sets: {
        sequence: '(+ sequence 1)',
        waker: 'p',
        row: put('row', 'p', '0'),
        post: put('post', 'p', 'ReadsParked'),
      },
    },
    {
      name: 'somebody else moves the sequence',
      code: [{ file: TWA, line: 'atomic.add<i64>(bucket, 1, B_SEQUENCE);' }],
      chooses: { p: 'Int' },
      when: and('(< p (- 1))', is('Idle')),
      sets: {
        sequence: '(+ sequence 1)',
        waker: 'p',
        row: put('row', 'p', '0'),
        post: put('post', 'p', 'ReadsParked'),
      },
    },
  ],
  invariants: {
    'the waiter has its ticket': `(= ${waiterIs('Away')} (<= ticket watched))`,
    'the sequence only grows': '(<= read sequence)',
    'other waiters take off what they have added': '(>= others 0)',
    'each release has found a smaller grant': and(
      '(>= grant permits)',
      forAll(['p'], implies(not(is('Idle')), '(< p grant)')),
    ),
    'nobody pokes for a close before the semaphore is closed': implies(not('closed'), is('Idle', '(- 1)')),
    'the first release has made the ticket due': implies(
      within('permits', 'watched', 'grant'),
      and(within('first', 'watched', `(+ first ${at('given', 'first')})`), within('permits', 'first', 'grant')),
    ),
    'the second release has made the ticket near': implies(
      within('permits', '(- watched threshold)', 'grant'),
      and(
        within('second', '(- watched threshold)', `(+ second ${at('given', 'second')})`),
        within('permits', 'second', 'grant'),
      ),
    ),
    'a near waiter has seen that it is near': implies(not('far'), '(> grant (- watched threshold))'),
    'a waiter that waits came too early': implies(
      waiterIs('Decides', 'LooksAgain', 'Waits', 'Asleep'),
      and('(<= permits watched)', implies('far', '(<= permits (- watched threshold))')),
    ),
    'only far waiters park if near waiters poll for ever': implies(
      or(waiterIs('LooksAgain'), and(waiterIs('Waits', 'Asleep'), not('far'))),
      and(not('forever'), not('far')),
    ),
    'a far waiter that knows the sequence is not near, or will be poked': implies(
      and(waiterIs('Decides', 'Waits', 'Asleep'), 'far', '(= sequence read)'),
      and(or('(<= grant (- watched threshold))', willPoke('second')), implies('closed', willPoke('(- 1)'))),
    ),
    'a near waiter that sleeps and knows the sequence is not due, or will be poked': implies(
      and(waiterIs('Waits', 'Asleep'), not('far'), '(= sequence read)'),
      and(or('(<= grant watched)', willPoke('first')), implies('closed', willPoke('(- 1)'))),
    ),
    'a near waiter has come near before the first release': implies(
      and(waiterIs('Waits', 'Asleep'), not('far'), '(> grant watched)'),
      '(> first (- watched threshold))',
    ),
    'a sleeper whose sequence has moved will be notified': implies(
      and(waiterIs('Asleep'), not('(= sequence read)')),
      willNotify('waker'),
    ),
  },
  claims: {
    'no wake-up is lost': not(isLost),
    'who sleeps although its turn has come is about to be woken': implies(
      and(waiterIs('Asleep'), '(> grant watched)'),
      or(willWake('first'), willWake('second'), willWake('waker')),
    ),
    'who sleeps far although it has come near is about to be woken': implies(
      and(waiterIs('Asleep'), 'far', '(> grant (- watched threshold))'),
      or(willWake('second'), willWake('waker')),
    ),
    'who sleeps although the semaphore is closed is about to be woken': implies(
      and(waiterIs('Asleep'), 'closed'),
      or(willWake('(- 1)'), willWake('waker')),
    ),
    'who polls its bucket although it has come near is about to be poked': implies(
      and(waiterIs('Decides'), 'far', '(= sequence read)', '(> grant (- watched threshold))'),
      willPoke('second'),
    ),
  },
  promise: {
    process: 'p',
    chooses: { seen: 'ticket' },
    promised: and(waiterIs('Asleep'), willWake('p')),
    kept: not(waiterIs('Asleep')),
    left: stepsLeft('p'),
  },
};
