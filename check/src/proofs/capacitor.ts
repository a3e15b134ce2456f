/**
 * The capacitor (Dice, Capacitors, Listings 1 and 2): for each bound B, and any number of threads, at most B - 1 later
 * threads get the lock before a thread that has its ticket.
 *
 * A thread stands in the system by its ticket. When it comes again, it has another ticket. Any number of tickets may be
 * taken and not yet departed, so the system contains that of T threads, for each T.
 *
 *     tickets   ... 4 5 6 7 | 8 9 10 11 | 12 13 ...       B = 4
 *                   departed  base        grant
 *
 * `base` is the first ticket of the present platoon. `watched` is any one ticket, and `overtaken` counts how many later
 * ones get the lock before it. The inner lock is a step that any thread inside may take at any time: the proof does not
 * even need that the lock admits one thread at a time.
 */
import { count, declaresCount, lemmaTerms, SET } from './counting.js';
import type { System } from './system.js';
import { and, at, either, forAll, implies, not, put, within } from './terms.js';

const CORE = 'core/papers/capacitor.ts';
const CPP = 'bench/native/capacitor.hpp';

const all = (body: string) => forAll(['k'], body);
const is = (stage: string, k = 'k') => `(= ${at('stage', k)} ${stage})`;
const end = '(+ base B)';

export const capacitor: System = {
  name: 'capacitor',
  // What a thread does after its departure has been counted. The last of a platoon takes B off the count, then gives B
  // permits.
  declares: ['(declare-datatypes ((Stage 0)) (((Usual) (Completes) (Gives))))', ...declaresCount],
  constants: { B: 'Int', watched: 'Int' },
  assumes: ['(>= B 1)', '(>= watched 0)', ...lemmaTerms],
  variables: {
    ticket: 'Int',
    grant: 'Int',
    departed: 'Int',
    // By ticket: who has got the lock, whose departure is counted, what the count was, and who still owes permits.
    locked: SET,
    left: SET,
    counted: '(Array Int Int)',
    stage: '(Array Int Stage)',
    owes: '(Array Int Int)',
    // What only the proof knows.
    base: 'Int',
    unpaid: 'Int',
    giver: 'Int',
    overtaken: 'Int',
  },
  first: {
    ticket: '0',
    grant: 'B',
    departed: '0',
    locked: `((as const ${SET}) false)`,
    left: `((as const ${SET}) false)`,
    counted: '((as const (Array Int Int)) 0)',
    stage: '((as const (Array Int Stage)) Usual)',
    owes: '((as const (Array Int Int)) 0)',
    base: '0',
    unpaid: '0',
    giver: '0',
    overtaken: '0',
  },
  steps: [
    {
      name: 'take a ticket',
      code: [
        { file: 'core/papers/twa-semaphore.ts', line: 'const ticket = atomic.add<i64>(s, 1, TICKET);' },
        { file: 'core/papers/ticket-semaphore.ts', line: 'const ticket = atomic.add<i64>(s, 1, TICKET);' },
        { file: 'bench/native/twa-futex.hpp', line: 'const std::uint64_t ticket = ticket_.fetch_add(1);' },
      ],
      when: 'true',
      sets: { ticket: '(+ ticket 1)' },
    },
    {
      // grant never falls. So it does not matter how long ago the thread has seen that its ticket is below grant.
      name: 'get the lock',
      code: [
        { file: 'core/papers/twa-semaphore.ts', line: 'if (grant > ticket) return ADMITTED;' },
        { file: 'core/papers/ticket-semaphore.ts', line: 'if (grant > ticket) return ADMITTED;' },
        { file: 'bench/native/twa-futex.hpp', line: 'if (grant_.load() <= ticket) [[unlikely]] wait(ticket);' },
        { file: CPP, line: 'lock_.lock();' },
      ],
      chooses: { k: 'Int' },
      when: and(within('0', 'k', 'ticket'), '(< k grant)', not(at('locked', 'k'))),
      sets: {
        locked: put('locked', 'k', 'true'),
        overtaken: either(and('(< watched k)', not(at('locked', 'watched'))), '(+ overtaken 1)', 'overtaken'),
      },
    },
    {
      name: 'count a departure',
      code: [
        { file: CORE, line: 'let departed = atomic.add<i32>(s, 1, O_DEPARTED) + 1;' },
        { file: CPP, line: 'if (departed_.fetch_add(1) + 1 != bypass_) return;' },
      ],
      chooses: { k: 'Int' },
      when: and(at('locked', 'k'), not(at('left', 'k'))),
      sets: {
        departed: '(+ departed 1)',
        left: put('left', 'k', 'true'),
        counted: put('counted', 'k', '(+ departed 1)'),
        stage: put('stage', 'k', either('(>= (+ departed 1) B)', 'Completes', 'Usual')),
      },
    },
    {
      name: 'take a platoon off the count',
      code: [
        { file: CORE, line: 'const found = atomic.cmpxchg<i32>(s, departed, departed - bypass, O_DEPARTED);' },
        { file: CPP, line: 'departed_.store(0, std::memory_order_release);' },
      ],
      chooses: { k: 'Int' },
      when: and(is('Completes'), `(= departed ${at('counted', 'k')})`),
      sets: {
        departed: '(- departed B)',
        stage: put('stage', 'k', 'Gives'),
        owes: put('owes', 'k', 'B'),
        base: end,
        unpaid: 'B',
        giver: 'k',
      },
    },
    {
      // The library gives all permits in one step. Listing 2 gives them one by one.
      name: 'give permits',
      code: [
        { file: 'src/papers/algorithms/platoons.ts', line: 'this.functions.release(at, this.bypass);' },
        { file: 'core/papers/twa-semaphore.ts', line: 'const grant = atomic.add<i64>(s, n, GRANT);' },
        { file: 'core/papers/ticket-semaphore.ts', line: 'const grant = atomic.add<i64>(s, n, GRANT);' },
        { file: CPP, line: 'semaphore_.release(bypass_);' },
      ],
      chooses: { k: 'Int', permits: 'Int' },
      when: and(is('Gives'), '(>= permits 1)', `(<= permits ${at('owes', 'k')})`),
      sets: {
        grant: '(+ grant permits)',
        owes: put('owes', 'k', `(- ${at('owes', 'k')} permits)`),
        stage: either(`(= permits ${at('owes', 'k')})`, put('stage', 'k', 'Usual'), 'stage'),
        unpaid: '(- unpaid permits)',
      },
    },
  ],
  invariants: {
    'the tickets below base have departed': all(implies(within('0', 'k', 'base'), at('left', 'k'))),
    'who has departed had the lock': all(implies(at('left', 'k'), at('locked', 'k'))),
    'who had the lock has a ticket below grant': all(
      implies(at('locked', 'k'), and(within('0', 'k', 'ticket'), '(< k grant)')),
    ),
    'departed counts the departures of the platoon': `(= departed ${count('left', 'base', end)})`,
    'the rest of the platoon is not yet let in': and(
      `(= grant (- ${end} unpaid))`,
      '(<= 0 unpaid B)',
      '(>= base 0)',
      '(>= ticket 0)',
    ),
    'who completes a platoon has counted B': all(
      implies(is('Completes'), and('(= departed B)', `(= ${at('counted', 'k')} B)`, at('left', 'k'))),
    ),
    'a platoon that has departed has arrived': implies('(= departed B)', at('left', `(- ${end} 1)`)),
    'one thread completes a platoon': forAll(
      ['j', 'k'],
      implies(and(is('Completes', 'j'), is('Completes')), '(= j k)'),
    ),
    'one thread gives permits': all(
      implies(is('Gives'), and('(= k giver)', `(= ${at('owes', 'k')} unpaid)`, '(>= unpaid 1)', at('left', 'k'))),
    ),
    'only a later thread of the same platoon overtakes': implies(
      not(at('locked', 'watched')),
      either(`(< watched ${end})`, `(<= overtaken ${count('locked', '(+ watched 1)', end)})`, '(= overtaken 0)'),
    ),
    'at most B - 1 threads overtake': '(<= overtaken (- B 1))',
  },
  claims: {
    'a thread is overtaken at most B - 1 times': '(<= overtaken (- B 1))',
    'nobody comes in while a thread of an earlier platoon is inside': all(
      implies(and(at('locked', 'k'), not(at('left', 'k'))), within('base', 'k', 'grant')),
    ),
    'nobody is inside while a thread takes a platoon off the count': forAll(
      ['j', 'k'],
      implies(and(is('Completes'), at('locked', 'j')), at('left', 'j')),
    ),
    'the departure that completes a platoon is never refused': all(implies(is('Completes'), '(>= ticket grant)')),
    'the compare-and-swap succeeds, and stores 0': all(
      implies(is('Completes'), and(`(= departed ${at('counted', 'k')})`, '(= (- departed B) 0)')),
    ),
  },
};
