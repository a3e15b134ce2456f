/**
 * The kinds of taketurns/keyed. The object of a table is only a name and a life: the keys have semaphores of their own,
 * whose names say to which table they belong (src/keyed/key-names.ts). So the core has no code for these kinds.
 */
export const KIND_KEYED_MUTEX: i32 = 30;
export const KIND_KEYED_SEMAPHORE: i32 = 31;
