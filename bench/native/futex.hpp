// Sleeping on a 32-bit word, as Linux offers it. Other systems have no futex: TAKETURNS_FUTEX says so, and the rows
// that need one are left out there.
//
// The kernel compares the word and goes to sleep in one step, so a thread that changes the word before it wakes can not
// slip between the two. A wait may also end for no reason, so the caller looks again.
#pragma once

#ifdef __linux__
#define TAKETURNS_FUTEX 1

#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// Sleeps while the word holds `seen`.
inline void futexWait(const void* word, std::uint32_t seen) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

inline void futexWakeAll(const void* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

#endif
