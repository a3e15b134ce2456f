// std::counting_semaphore of the standard library. It lets threads barge, and has no order.
#pragma once

#include <semaphore>

#include "semaphore.hpp"

class alignas(sectorSize) CountingSemaphore {
 public:
  static constexpr const char* name = "std::counting_semaphore";
  static constexpr bool spins = false;
  static constexpr bool hasThreshold = false;

  CountingSemaphore(unsigned permits, const Knobs&) : semaphore_(permits) {}

  void acquire() { semaphore_.acquire(); }
  void release() { semaphore_.release(); }

  // libstdc++ 12 can leave a thread asleep beside a free permit: the thread reads the count 1, loses the race for it,
  // and then sleeps while the count is 1, as it is again after the winner's release. The next release from 0 wakes all
  // sleepers, so the fault shows only if no release follows: when a run ends. To take a free permit and give it back is
  // such a release; it admits no thread too many, and try_acquire does not sleep.
  void wakeForgotten() {
    if (semaphore_.try_acquire()) semaphore_.release();
  }

 private:
  std::counting_semaphore<> semaphore_;
};
