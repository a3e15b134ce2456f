/** A program without the other entries carries no table, because its two classes name their numbers themselves. */
export const SEMAPHORE: NumberOf<'Semaphore'> = 1;
export const MUTEX: NumberOf<'Mutex'> = 20;

/** Each kind of shared object has a number: KIND_* of core/memory/layout.ts, which a unit test compares with these. */
export const KINDS = {
  Semaphore: 1,
  TicketSemaphore: 2,
  TwaSemaphore: 3,
  ChainSemaphore: 4,
  ChannelSemaphore: 5,
  LocationSemaphore: 6,
  EventCount: 7,
  Sequencer: 8,
  BinarySemaphore: 47,
  CountingSemaphore: 48,
  AtomicSemaphore: 11,
  Mutex: 20,
  TtsLock: 21,
  TicketLock: 22,
  TwaLock: 23,
  McsLock: 24,
  ClhLock: 25,
  LifoLock: 26,
  ReciprocatingLock: 27,
  Capacitor: 28,
  MultilaneSemaphore: 29,
  Condition: 40,
  RwLock: 41,
  Barrier: 42,
  Latch: 43,
  WaitGroup: 44,
  Event: 45,
  Once: 46,
} as const;

export type Kind = keyof typeof KINDS;

export type NumberOf<K extends Kind> = (typeof KINDS)[K];
