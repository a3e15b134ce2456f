// The breather of a spin loop: tells the processor that nothing is to be gained by running ahead.
#pragma once

inline void pauseBriefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}
