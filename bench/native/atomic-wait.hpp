// A lock made of std::atomic's wait and notify_all, which C++20 adopted from P0514: the simple_lock of the paper. The
// paper takes the lock by a weak compare-and-swap. If that failed for no reason, the thread would wait although the lock
// is free, so this lock uses the strong one.
#pragma once

#include <atomic>

#include "semaphore.hpp"

class alignas(sectorSize) AtomicWait {
 public:
  static constexpr const char* name = "std::atomic::wait";
  static constexpr bool spins = false;

  explicit AtomicWait(const Knobs&) {}

  void lock() {
    for (int old = 0; !held_.compare_exchange_strong(old, 1); old = 0) held_.wait(old);
  }

  void unlock() {
    held_.store(0);
    held_.notify_all();
  }

 private:
  std::atomic<int> held_{0};
};
