// std::counting_semaphore as the standard library at hand implements it. Barging, no order.
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

  // libstdc++ 12 can leave a thread asleep beside a free permit: it reads the count 1, loses the race for it,
  // and then sleeps while the count is 1, which it is again once the winner has released. The next release
  // from 0 wakes everybody, so this shows only where no release follows: when a run ends. Taking a free permit
  // and giving it back is such a release; it admits nobody too many, and try_acquire does not sleep.
  void wakeForgotten() {
    if (semaphore_.try_acquire()) semaphore_.release();
  }

 private:
  std::counting_semaphore<> semaphore_;
};
