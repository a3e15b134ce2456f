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

  // libstdc++ 12 can leave a thread asleep beside a free permit. The thread reads the count 1, loses the race for the
  // permit, and then sleeps as long as the count is 1. After the winner's release the count is 1 again. The next
  // release that finds the count 0 wakes all sleepers, so the fault shows only if no such release follows: when a run
  // ends. This function takes a free permit and gives it back, which is such a release. It admits no thread too many,
  // and try_acquire does not sleep.
  void wakeForgotten() {
    if (semaphore_.try_acquire()) semaphore_.release();
  }

 private:
  std::counting_semaphore<> semaphore_;
};
