// Sleeping on a 32-bit word by a futex of Linux. TAKETURNS_FUTEX is defined only on Linux. On other systems the rows
// that need a futex are left out.
//
// The kernel compares the word and goes to sleep in one step. So a thread that changes the word and then wakes cannot
// come between comparison and sleep. A wait may also end for no reason, so the caller has to look at the word again.
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
