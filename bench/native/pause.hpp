// The pause of a polling loop. It tells the processor that executing ahead gains nothing. The papers' pause for ARM is
// YIELD, which most of these processors ignore.
#pragma once

// With so many polls a waiter never parks.
inline constexpr int spinsForEver = 2'000'000'000;

inline void spend(int& polls) {
  if (polls != spinsForEver) polls--;
}

inline void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}
