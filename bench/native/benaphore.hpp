// The benaphore of BeOS: a count in front of a semaphore of the kernel, here sem_t. An uncontended acquire or release is
// one atomic instruction. The papers say that their semaphores have the same fast path. In contention the order is that
// of the inner semaphore.
#pragma once

#include "sem-t.hpp"

#ifdef TAKETURNS_SEM_T

#include <atomic>

class alignas(sectorSize) Benaphore {
 public:
  static constexpr const char* name = "benaphore";
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;

  Benaphore(unsigned permits, const Knobs& knobs) : free_(static_cast<int>(permits)), waiters_(0, knobs) {}

  void acquire() {
    if (free_.fetch_sub(1) <= 0) [[unlikely]] waiters_.acquire();
  }

  void release() {
    if (free_.fetch_add(1) < 0) [[unlikely]] waiters_.release();
  }

 private:
  std::atomic<int> free_;  // below 0: so many wait, or are about to
  SemT waiters_;
};

#endif
