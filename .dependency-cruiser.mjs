/** The layers of the project: which folder may import which. `npm run layers` checks them. */

/** A rule: files that match `from` must not import files that match `to`. `comment` says why. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** Files of `folder` may import, of the same tree, only files that match one of `allowed`. */
const only = (name, comment, folder, tree, allowed) =>
  forbid(name, comment, { path: folder }, { path: tree, pathNot: [folder, ...allowed] });

const KINDS = '^core/kinds/kinds[.]ts$';
const WORDS = '^core/(answers|.*/words)[.]ts$';
const ENTRIES = '((channel|keyed|metrics|papers/(algorithms|p0514)|report|sync|tasks)/)?index[.](d[.]m?ts|js)$';

const circles = [
  forbid(
    'no-circle',
    'Files that import each other can only be understood together, and the order in which they are loaded decides ' +
      'whether they work. One circle is wanted: the queue asks core/kinds/kinds.ts, and the kinds are built on the ' +
      'queue. The core runs nothing when it is loaded, so there the order does not matter.',
    { path: '^(core|src|check/src|bench/src|lab/src|runtimes/src|simulate/src|processes/(src|check|chaos))/' },
    { circular: true, viaOnly: { pathNot: KINDS } },
  ),
  forbid(
    'folder-is-read-from-above',
    'all.ts imports each file of its folder when it runs, which no-circle does not see. If a file of the folder ' +
      'imported all.ts, even through other files, each would wait for ever for the other to load.',
    { path: '^(check/src/models|simulate/src/kinds)/', pathNot: '/all[.]ts$' },
    { path: '^(check/src/models|simulate/src/kinds)/all[.]ts$', reachable: true },
  ),
];

const core = [
  only(
    'core-arena',
    'core/arena says where things lie. It is the lowest layer, and knows neither the queue nor a kind.',
    '^core/arena/',
    '^core/',
    ['^core/answers[.]ts$'],
  ),
  only(
    'core-queue',
    'One queue serves all kinds. It names none of them, and asks kinds.ts where the kind of an object matters.',
    '^core/queue/',
    '^core/',
    ['^core/arena/', WORDS, KINDS],
  ),
  only(
    'core-kinds',
    'A kind is built on the queue. A death reaches it through kinds.ts, so it knows nothing of deaths.',
    '^core/kinds/',
    '^core/',
    ['^core/(arena|queue)/', WORDS],
  ),
  forbid(
    'core-kinds-are-asked',
    'kinds.ts asks the kinds. No kind asks kinds.ts.',
    { path: '^core/kinds/', pathNot: KINDS },
    { path: KINDS },
  ),
  only(
    'core-death',
    'What a dead thread leaves behind is put in order without naming a kind.',
    '^core/death/',
    '^core/',
    ['^core/(arena|queue)/', WORDS, KINDS],
  ),
  only(
    'core-papers',
    "The papers' algorithms share the arena, the waiting array and the pause with the queue, but not the queue itself.",
    '^core/papers/',
    '^core/',
    ['^core/arena/', '^core/queue/(waiting-array|polling)[.]ts$', '^core/kinds/(counter/counter|kinds)[.]ts$', WORDS],
  ),
  forbid(
    'core-counter-exports',
    'The module of the algorithms exports the counter, and no algorithm uses it.',
    { path: '^core/papers/', pathNot: '^core/papers/index[.]ts$' },
    { path: '^core/kinds/', pathNot: WORDS },
  ),
  forbid(
    'core-kinds-is-the-way-in',
    'A new kind is its folder and a line in kinds.ts: no other file outside core/kinds names a kind. The four index ' +
      'files only export.',
    { path: '^core/', pathNot: ['^core/kinds/', '^core/((channel|papers|sync)/)?index[.]ts$'] },
    { path: '^core/kinds/', pathNot: [KINDS, WORDS] },
  ),
];

/** What every class of shared objects is built on. */
const BASIS = ['arena', 'border', 'common', 'host', 'look', 'objects', 'runtime'];
/** The folders of src and its entries: what each is, and which others it may import. Nothing else is allowed. */
const SRC = {
  common: ['The floor of all three worlds, tasks, threads and processes. It knows none of them.', []],
  border: ['What the build knows of the core, for all of src.', []],
  host: ['What differs between Node and browsers. All else builds on it.', ['border', 'common']],
  runtime: ['What each thread has of the library, whichever object it uses.', ['border', 'common', 'host']],
  look: [
    'Reads the memory of an arena by loads alone: who waits, who holds what, and what all that is called. It needs ' +
      'nothing of the thread that looks.',
    ['border', 'common', 'runtime'],
  ],
  objects: [
    'What all classes of shared objects have: how an object is made and found, its guards, its counts. It names no class.',
    ['border', 'common', 'host', 'look', 'runtime'],
  ],
  arena: ['The memory that threads share.', ['border', 'common', 'host', 'objects', 'runtime']],
  semaphore: ['A class. It knows no other class.', BASIS],
  mutex: ['A class. It knows no other class.', BASIS],
  sync: [
    'Conditions lock mutexes, and the turn of a RwLock is a semaphore. Who imports taketurns/sync gets no code of ' +
      'another entry but taketurns into the bundle.',
    [...BASIS, 'mutex', 'semaphore'],
  ],
  rates: [
    'Who waits for a rate sleeps in the queue of a semaphore. A rate needs no lock by key. It is public by taketurns/keyed.',
    [...BASIS, 'semaphore'],
  ],
  keyed: [
    'A key is a semaphore. Who imports taketurns/keyed gets no code of another entry but taketurns into the bundle.',
    [...BASIS, 'rates', 'semaphore'],
  ],
  channel: [
    'A select waits for semaphores, too. Who imports taketurns/channel gets no code of another entry but taketurns into ' +
      'the bundle.',
    [...BASIS, 'semaphore'],
  ],
  report: ['A report reads words of all kinds, and needs the code of none.', BASIS],
  metrics: ['Metrics are built on reports, not the other way round.', [...BASIS, 'report']],
  'papers/policies[.]ts': ['How a waiter of the papers waits.', ['border', 'runtime']],
  'papers/algorithms': ['Readers of the papers find the algorithms alone here.', [...BASIS, 'papers/policies[.]ts']],
  'papers/p0514': [
    'P0514 is built on the algorithms, not the other way round.',
    [...BASIS, 'papers/algorithms', 'papers/policies[.]ts', 'semaphore'],
  ],
  tasks: [
    'taketurns/tasks is for engines without WebAssembly and shared memory: it shares only what all three worlds share.',
    ['common'],
  ],
  'index[.]ts': [
    'Who imports taketurns alone gets no code of another entry into the bundle.',
    ['arena', 'common', 'mutex', 'objects', 'runtime', 'semaphore'],
  ],
  'share[.]ts': ['Who imports taketurns/share gets what makes an arena, and no class.', ['runtime']],
};

/** A folder or file of src; a program finds the host of its runtime in dist. */
const inSrc = (name) => `^(src|dist)/${name}(/|$)`;

const src = [
  ...Object.entries(SRC).map(([name, [comment, may]]) =>
    only(`src-${name.replace(/[^\w]+/g, '-')}`, comment, inSrc(name), '^(src|dist)/', may.map(inSrc)),
  ),
  forbid(
    'src-is-listed',
    'A new folder of src has a row in the table SRC, which says what it may import.',
    { path: '^src/', pathNot: Object.keys(SRC).map(inSrc) },
    { path: '^(src|dist)/' },
  ),
];

const proof = [
  forbid(
    'check-engine',
    'check/src/engine knows nothing of this library: it could check the WebAssembly of another project.',
    { path: '^check/src/engine/' },
    { path: '^(check|core|src|dist|build|bench|lab)/', pathNot: '^check/src/engine/' },
  ),
  forbid(
    'library-by-its-entries',
    'The benchmarks measure, and the lab shows, what a user gets: they import the entries of ' + 'taketurns alone.',
    { path: '^(bench|lab)/src/' },
    { path: '^(core|src|build|dist)/', pathNot: `^dist/(types/)?${ENTRIES}` },
  ),
  forbid(
    'simulate-evaluates',
    'Each simulated thread evaluates the bundled library for itself. A library that was imported would be of no thread.',
    { path: '^simulate/src/' },
    { path: '^(core|src|build|dist|check|bench|lab)/' },
  ),
  forbid(
    'product-alone',
    'The library needs nothing of what proves, measures or shows it.',
    { path: '^(core|src)/' },
    { path: '^(check|simulate|bench|lab|test|runtimes|package-tests|examples|scripts|node_modules)/' },
  ),
  forbid(
    'no-unresolved',
    'No rule can judge an import whose file is not found. Run `npm run build` first.',
    {},
    { couldNotResolve: true },
  ),
];

/** The floor of the package: errors, options and events, and what it takes of its runtime. */
const FLOOR = '^processes/src/((errors|events|options)[.]ts$|runtime/)';

const processes = [
  only(
    'processes-runtime',
    'What the package takes of its runtime needs nothing else of the package.',
    '^processes/src/runtime/',
    '^processes/',
    [],
  ),
  only(
    'processes-floor',
    'Errors, options and events are what all folders speak of. They know none of them.',
    '^processes/src/(errors|events|options)[.]ts$',
    '^processes/',
    ['^processes/src/runtime/'],
  ),
  only(
    'processes-drivers',
    'A driver speaks with a server by a client library. It knows nothing of sessions and locks.',
    '^processes/src/drivers/',
    '^processes/',
    [FLOOR, '^processes/src/(script/turn|postgres/schema)-source[.]ts$'],
  ),
  only(
    'processes-local',
    'The form without a server is a driver like the others. It knows nothing of sessions and locks.',
    '^processes/src/local/',
    '^processes/',
    [FLOOR, '^processes/src/drivers/driver[.]ts$'],
  ),
  only(
    'processes-heartbeat',
    'A thread that beats has a driver and the words of the script. It keeps no session.',
    '^processes/src/heartbeat/',
    '^processes/',
    [FLOOR, '^processes/src/(script/wire|drivers/(answer-times|driver|link|load))[.]ts$'],
  ),
  only(
    'processes-session',
    'A session says what the process wants and holds. It knows what it needs of a guard, and no class of guards or objects.',
    '^processes/src/session/',
    '^processes/',
    [FLOOR, '^processes/src/(script/wire|drivers/(answer-times|driver|link)|heartbeat/heartbeat)[.]ts$'],
  ),
  only(
    'processes-objects',
    'What a caller has is built on sessions, and knows nothing of how a session is connected.',
    '^processes/src/objects/',
    '^processes/',
    [FLOOR, '^processes/src/(script/wire[.]ts$|session/)'],
  ),
  only(
    'processes-space',
    'A space puts all together: a driver, of a server or of this machine, its sessions and its objects.',
    '^processes/src/space/',
    '^processes/',
    [
      FLOOR,
      '^processes/src/(objects|session)/',
      '^processes/src/(script/wire|drivers/(answer-times|driver|link|load)|heartbeat/start-heartbeat|local/load)[.]ts$',
    ],
  ),
  only(
    'processes-command',
    'The program is a user of spaces. It knows besides how long a lease lasts, and what a refusal says.',
    '^processes/src/command/',
    '^processes/',
    [FLOOR, '^processes/src/(objects/|(space/space|drivers/schema|session/(lease|server-error|shared-object))[.]ts$)'],
  ),
  only(
    'processes-wire',
    'What is sent between client and script is read and written without anything else of the package.',
    '^processes/src/script/',
    '^processes/',
    [],
  ),
  only(
    'processes-state',
    'A call of the script decides by the state, its arguments and the time. So the state needs nothing else.',
    '^processes/src/local/(state|script|store|grammar)[.]ts$',
    '^processes/',
    [],
  ),
  forbid(
    'processes-product-alone',
    'The package needs nothing of what proves and measures it.',
    { path: '^processes/src/' },
    { path: '^(processes/(check|chaos|bench|test|servers|scripts|build)|check|bench|test)/' },
  ),
  forbid(
    'processes-on-common',
    'Processes stand on the floor of all three worlds, src/common, and on nothing else of taketurns. The bundles carry ' +
      'what they need of it.',
    { path: '^processes/' },
    { path: '^(core|src|dist|build)/', pathNot: '^src/common/' },
  ),
];

export default {
  forbidden: [...circles, ...core, ...src, ...processes, ...proof],
  options: {
    // Imports of types count: they also bind two files together.
    tsPreCompilationDeps: true,
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.d.ts'],
    },
  },
};
