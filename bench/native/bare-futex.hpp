// A lock for two threads that is only a futex wait and a wake: the least that a hand-over to a sleeping thread takes.
//
//   0  no thread holds the lock, or the thread that has waited holds it
//   1  the thread that came first holds the lock
//
// A thread that finds the word 1 sleeps until the word changes. Then it has the lock, although the word is 0. So a
// third thread would break the lock. Every unlock wakes. No wake-up is lost: the kernel compares the word and goes to
// sleep in one step, and the unlock changes the word before it wakes.
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
