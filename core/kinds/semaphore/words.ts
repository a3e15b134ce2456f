/** The kind of a Semaphore. It has no words of its own: every queue has ticket and grant (arena/words.ts). */
export const KIND_SEMAPHORE: i32 = 1;
