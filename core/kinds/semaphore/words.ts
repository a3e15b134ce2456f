/** The number of a Semaphore. It has no words of its own: ticket and grant are those of every queue (arena/words.ts). */
export const KIND_SEMAPHORE: i32 = 1;
