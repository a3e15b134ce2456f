/** The kinds of shared objects, and their numbers: KIND_* of core/layout.ts, which a unit test compares with these. */
export const KINDS = {
  Semaphore: 1,
  TicketSemaphore: 2,
  TwaSemaphore: 3,
  Mutex: 20,
  TtsLock: 21,
  TicketLock: 22,
  TwaLock: 23,
  Capacitor: 28,
} as const;

export type Kind = keyof typeof KINDS;
