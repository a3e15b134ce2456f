// The polite test-and-test-and-set lock, which is the inner lock of Dice, Capacitors. A waiter polls a bounded number
// of times and then parks on the word, as in TtsLock of the library.
//
//   0                 free
//   held              held
//   held | parked     held, and some threads may be parked on the word
//
// No thread sleeps for ever: the kernel compares the word, with its parked bit, and goes to sleep in one step. An
// unlock clears the parked bit before it wakes all sleepers, and a thread that parks again sets the bit anew. A thread
// that comes when the lock is free gets the lock, so nothing bounds how often a waiter is overtaken.
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "semaphore.hpp"

class alignas(sectorSize) TtsFutex {
 public:
  static constexpr const char* name = "tts-futex";
  static constexpr bool spins = true;
  static constexpr int defaultSpin = 1000;

  explicit TtsFutex(const Knobs& knobs) : spin_(knobs.spin.value_or(defaultSpin)) {}

  void lock() {
    std::uint32_t expected = 0;
    if (!word_.compare_exchange_strong(expected, held)) [[unlikely]] wait();
  }

  void unlock() {
    if (word_.exchange(0) & parked) [[unlikely]] futexWakeAll(&word_);
  }

 private:
  static constexpr std::uint32_t held = 1;
  static constexpr std::uint32_t parked = 2;

  void wait();

  std::atomic<std::uint32_t> word_{0};
  alignas(sectorSize) const int spin_;
};

#endif
