// The pause of a polling loop. It tells the processor that executing ahead gains nothing. The papers' pause for ARM is
// YIELD, which most of these processors ignore. Two other ways to pause that the papers name can be chosen for a run:
// LFENCE, which ends speculation on x86, and sched_yield of the system.
//
// The papers also name MONITOR and MWAIT. A program may use them only as UMWAIT on Intel or MWAITX on AMD. Neither is
// here: no machine that the benchmarks have run on shows them (`waitpkg` or `mwaitx` in /proc/cpuinfo).
#pragma once

#include <sched.h>

// With so many polls a waiter never parks.
inline constexpr int spinsForEver = 2'000'000'000;

inline void spend(int& polls) {
  if (polls != spinsForEver) polls--;
}

enum class Pause { usual, lfence, yield };

// Is set before the first thread starts.
inline Pause howToPause = Pause::usual;

inline void pauseBriefly() {
  if (howToPause == Pause::yield) {
    sched_yield();
    return;
  }
#if defined(__x86_64__)
  if (howToPause == Pause::lfence) return __builtin_ia32_lfence();
#endif
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}
