export const O_MOST: usize = 28; // i32, largest value of a counter (BinarySemaphore, CountingSemaphore)
export const O_WIDEST: usize = 48; // i32, the most that a taker of a counter has waited for; 0 means 1
export const WAITING_SHIFT: i64 = 32;
export const MOST_WAITING: i64 = 0x1fffffff;
export const VALUE_MASK: i64 = 0xffffffff;
export const NOTIFY_ONE: i32 = 1;
export const NOTIFY_NONE: i32 = 2;
export const GIVE_BACK: i32 = 3; // as NOTIFY_ALL, and past the maximum
