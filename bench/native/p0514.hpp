// Counting semaphores from the text of P0514R1, whose signal unblocks all waiters (semaphore_notify_all) and whose wait
// tries to take one unit, blocks, and tries again. There is no order. The paper says that an object on which others wait
// needs a second atomic to manage contention, as in the older proposal `synchronic`, while a semaphore may fuse both into
// one:
//
//   p0514-one-word     a word holds twice the value, and in the lowest bit whether threads may be asleep
//   p0514-two-words    the value, and beside it a count of the threads that may be asleep
//
// No thread sleeps for ever. One word: a sleeper has set the bit while the value was 0, and the kernel compares both. A
// signal changes the word, and if it finds the bit it wakes all. Two words: a sleeper enters the count and then the
// kernel compares the value with 0; a signal adds to the value and then reads the count.
//
// With TAKETURNS_P0514_REFERENCE, which names the header `semaphore` of the paper's reference implementation, its two
// classes are rows as well (README.md).
#pragma once

#include "futex.hpp"

#ifdef TAKETURNS_FUTEX

#include "pause.hpp"
#include "semaphore.hpp"

class P0514OneWord {
 public:
  static constexpr const char* name = "p0514-one-word";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = false;
  static constexpr int defaultSpin = 1000;

  P0514OneWord(unsigned permits, const Knobs& knobs)
      : word_(permits * unit), spin_(knobs.spin.value_or(defaultSpin)) {}

  void acquire() {
    std::uint32_t seen = word_.load();
    if (!tryWait(seen)) [[unlikely]] wait();
  }

  void release() {
    if (word_.fetch_add(unit) & asleep) [[unlikely]] {
      word_.fetch_and(~asleep);
      futexWakeAll(&word_);
    }
  }

 private:
  static constexpr std::uint32_t asleep = 1;
  static constexpr std::uint32_t unit = 2;

  bool tryWait(std::uint32_t& seen) {
    while (seen >= unit) {
      if (word_.compare_exchange_weak(seen, seen - unit)) return true;
    }
    return false;
  }

  [[gnu::noinline]] void wait() {
    for (int polls = spin_;;) {
      std::uint32_t seen = word_.load();
      if (tryWait(seen)) return;
      if (polls > 0) {
        spend(polls);
        pauseBriefly();
      } else if (seen == asleep || word_.compare_exchange_strong(seen, asleep)) {
        futexWait(&word_, asleep);
      }
    }
  }

  alignas(sectorSize) std::atomic<std::uint32_t> word_;
  alignas(sectorSize) const int spin_;
};

class P0514TwoWords {
 public:
  static constexpr const char* name = "p0514-two-words";
  static constexpr bool spins = true;
  static constexpr bool hasThreshold = false;
  static constexpr int defaultSpin = 1000;

  P0514TwoWords(unsigned permits, const Knobs& knobs) : value_(permits), spin_(knobs.spin.value_or(defaultSpin)) {}

  void acquire() {
    if (!tryWait()) [[unlikely]] wait();
  }

  void release() {
    value_.fetch_add(1);
    if (waiters_.load() != 0) [[unlikely]] futexWakeAll(&value_);
  }

 private:
  bool tryWait() {
    std::uint32_t seen = value_.load();
    while (seen > 0) {
      if (value_.compare_exchange_weak(seen, seen - 1)) return true;
    }
    return false;
  }

  [[gnu::noinline]] void wait() {
    for (int polls = spin_; polls > 0; spend(polls)) {
      if (tryWait()) return;
      pauseBriefly();
    }
    waiters_.fetch_add(1);
    while (!tryWait()) futexWait(&value_, 0);
    waiters_.fetch_sub(1);
  }

  // Both words are in one cache line, since a release reads both.
  alignas(sectorSize) std::atomic<std::uint32_t> value_;
  std::atomic<std::uint32_t> waiters_{0};
  alignas(sectorSize) const int spin_;
};

#endif

#ifdef TAKETURNS_P0514_REFERENCE

#include <chrono>
#include <climits>
#include <thread>

#include TAKETURNS_P0514_REFERENCE

// A class of the reference implementation. It has the later names of the functions, and notifies all waiters. On Linux
// the constructor of counting_semaphore gives each permit twice: to its own count, and to the sem_t on which it waits. So
// the permits of that class are released one by one instead.
template <class Semaphore, class Which>
class alignas(sectorSize) P0514Reference {
 public:
  static constexpr const char* name = Which::name;
  static constexpr bool onlyOnePermit = Which::onlyOnePermit;
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;

  P0514Reference(unsigned permits, const Knobs&) : semaphore_(onlyOnePermit ? permits : 0) {
    for (unsigned permit = 0; permit < permits && !onlyOnePermit; permit++) semaphore_.release();
  }

  void acquire() { semaphore_.acquire(); }
  void release() { semaphore_.release(); }

 private:
  Semaphore semaphore_;
};

struct ReferenceBinary {
  static constexpr const char* name = "p0514-reference binary";
  static constexpr bool onlyOnePermit = true;
};
struct ReferenceCounting {
  static constexpr const char* name = "p0514-reference counting";
  static constexpr bool onlyOnePermit = false;
};

#endif
