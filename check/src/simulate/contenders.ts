/**
 * Lists the contenders, which are the locks and semaphores to simulate. semaphores.ts and capacitors.ts make most of
 * them. Contenders call the same exports of the modules as the library does.
 */
import { constant, QUEUED } from '../scene/layout.js';
import { capacitors, wrapped } from './capacitors.js';
import { ADAPTIVE, type Call, type Contender, type Inner, MORE, TWA_THRESHOLD, WITHOUT_END } from './contender.js';
import { readers } from './readers.js';
import { chains, semaphores, thresholds } from './semaphores.js';

const MUTEX_BYPASS = 2 ** 21;

const HEAD = constant('HEAD');
const CONTENDED = constant('CONTENDED');

const compete: Call = { name: 'compete', args: ({ attachment }) => [-1, -1, attachment] };

const mutex: Contender = {
  name: 'Mutex',
  objects: [{ kind: 'KIND_MUTEX', spin: ADAPTIVE, most: MUTEX_BYPASS, robust: true }],
  enter: () => [
    {
      name: 'lock',
      next: (answer) =>
        answer === CONTENDED
          ? [
              {
                name: 'queue',
                args: ({ attachment }) => [attachment],
                next: (queued) => {
                  if (queued === HEAD) return [compete];
                  if (queued !== QUEUED) return [];
                  return [{ name: 'park', on: 'nothing', args: ({ attachment }) => [0, attachment] }, compete];
                },
              },
            ]
          : [],
    },
  ],
  leave: () => [{ name: 'unlock', next: (answer) => (answer === MORE ? [{ name: 'wakeHead' }] : []) }],
  of: 'locks',
};

/** The locks that spin, as in the paper: the name, the kind, and how the exports begin. */
const LOCKS = [
  ['TtsLock', 'TTS', 'tts'],
  ['TicketLock', 'TICKET', 'ticket'],
  ['TwaLock', 'TWA', 'twa'],
  ['McsLock', 'MCS', 'mcs'],
  ['ClhLock', 'CLH', 'clh'],
  ['LifoLock', 'LIFO', 'lifo'],
  ['ReciprocatingLock', 'RECIPROCATING', 'recip'],
] as const;

const inners: readonly Inner[] = LOCKS.map(([name, kind, prefix]) => ({
  name,
  made: { kind: `KIND_${kind}_LOCK`, spin: WITHOUT_END, threshold: TWA_THRESHOLD },
  lock: `${prefix}Lock`,
  tryLock: `${prefix}TryLock`,
  unlock: `${prefix}Unlock`,
}));

const bare = ({ name, made, lock, unlock }: Inner): Contender => ({
  name,
  program: 'algorithms',
  objects: [made],
  enter: () => [{ name: lock }],
  leave: () => [{ name: unlock }],
  of: 'locks',
});

/** Returns the contender of this name. */
export function contenderOf(name: string): Contender {
  const contender = contenders.find((candidate) => candidate.name === name);
  if (contender === undefined) throw new Error(`nothing that is simulated is called ${name}`);
  return contender;
}

export const contenders: readonly Contender[] = [
  ...semaphores,
  ...chains,
  ...thresholds,
  ...inners.flatMap((inner) => [bare(inner), wrapped(inner)]),
  mutex,
  ...inners.filter(({ name }) => name === 'TtsLock' || name === 'McsLock').flatMap(capacitors),
  ...readers,
];
