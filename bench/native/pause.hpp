// The pause of a polling loop. It tells the processor that executing ahead gains nothing.
#pragma once

inline void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}
