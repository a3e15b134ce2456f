// A lock for two threads that is only a futex wait and a wake: the least that a hand-over to a sleeping thread takes.
//
//   0  no thread holds it
//   1  the thread that came first holds it
//
// A thread that finds it held sleeps until the word changes. Then it has the lock, though the word says that it is
// free, so a third thread would break it. Every unlock wakes. No wake-up is lost: the kernel compares the word in one
// step with going to sleep, and the unlock changes the word before it wakes.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "semaphore.hpp"

class alignas(sectorSize) BareFutex {
 public:
  static constexpr const char* name = "bare-futex";
  static constexpr bool spins = false;

  explicit BareFutex(const Knobs&) {}

  void lock() {
    if (word_.exchange(held) != held) return;
    while (word_.load() == held) futexWait(&word_, held);
  }

  void unlock() {
    word_.store(free);
    futexWakeAll(&word_);
  }

 private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t held = 1;

  std::atomic<std::uint32_t> word_{free};
};

#endif
